"""What several tests need and is dear to make: once a session."""

import fcntl
import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def trained_tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The trained tiny model: some minutes of one core, once for all workers of a session."""
    pytest.importorskip("torch", reason="needs the extra `local`")
    from training.tiny import tiny_model

    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    with (shared / "trained.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return tiny_model(shared / "trained" / "tiny")
