"""Loading models without their bars, notes and network look-ups; what was set before is set again after."""

import contextlib
import os
import warnings
from collections.abc import Iterator
from typing import Any


def patient() -> None:
    """Let threads that wait for each other sleep; call this before torch is first imported.

    By default they spin, and on shared cores a spinning thread keeps the one it waits for from running: beside
    other work, a batch then takes ten times as long.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Transformers says only errors inside the block, and shows no progress bar."""
    from transformers.utils import logging as talk

    logging: Any = talk  # half typed
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
