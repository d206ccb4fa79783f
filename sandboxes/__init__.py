"""Where untrusted commands run: one table, name to a factory of a SandboxBackend."""

from collections.abc import Callable

from evalctl.types import SandboxBackend

__all__ = ["SANDBOXES"]


def _bwrap() -> SandboxBackend:
    # Looked up when asked for, so that reading the table stays light.
    from .bwrap import Bwrap

    return Bwrap()


SANDBOXES: dict[str, Callable[[], SandboxBackend]] = {"bwrap": _bwrap}
