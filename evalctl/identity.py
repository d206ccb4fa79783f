"""The identity of what judges and of where commands run: part of every run key."""

import importlib
import inspect
from dataclasses import asdict
from pathlib import Path

from .digests import digest, digest_bytes
from .lookup import find
from .types import ScorerSpec


def scorer_digest(spec: ScorerSpec) -> str:
    """Digest of a scorer's name, options, its own module's source and the parsers' (any of them can change a score)."""
    factory = find("scorers", spec.name)
    own = inspect.getmodule(factory)
    parsers = importlib.import_module("evalctl.parse")
    sources = [Path(own.__file__)] if own and own.__file__ else []
    sources += sorted(Path(str(parsers.__file__)).parent.glob("*.py"))
    return digest([asdict(spec), [digest_bytes(path.read_bytes()) for path in sources]])


def sandbox_digest(name: str | None) -> str | None:
    """Digest that a sandbox backend states of itself (image, version); None where nothing runs in one."""
    if name is None:
        return None
    stated: str = find("sandboxes", name)().digest()
    return stated
