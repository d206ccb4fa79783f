"""The identity of what judges and of where commands run: part of every run key."""

import ast
import importlib.util
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from .digests import digest, digest_bytes
from .lookup import find
from .types import ScorerSpec

SIBLING = re.compile(r"[a-z_]+\.py")
"""A file that a module reads by its name, to run it elsewhere."""


def scorer_digest(spec: ScorerSpec) -> str:
    """Digest of a scorer's name, options and source: its module and, of its package and the parsers, what that imports.

    Whatever of that changes can change a score, so another text there is another judge.
    """
    module = type(find("scorers", spec.name)(**spec.options)).__module__
    sources = {name: digest_bytes(path.read_bytes()) for name, path in sorted(_closure(module).items())}
    return digest([asdict(spec), sources])


def sandbox_digest(name: str | None) -> str | None:
    """Digest of a sandbox backend's name, what it states of itself and whether it works here; None where none is used.

    Where it does not work every trial is an infrastructure error; once it is mended, that is another run.
    """
    if name is None:
        return None
    backend = find("sandboxes", name)()
    return digest([name, backend.digest(), backend.unavailable() is None])


def agent_digest(name: str) -> str:
    """Digest of an agent's name and source: how a model is driven can change a score as its prompt can."""
    factory = find("agents", name)
    sources = {name: digest_bytes(path.read_bytes()) for name, path in sorted(_closure(factory.__module__).items())}
    return digest([name, sources])


def _closure(module: str) -> dict[str, Path]:
    """Module name to file: `module` and all it imports, at any depth, from its own package or `evalctl.parse`."""
    own = module.partition(".")[0]
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        file = _file(name)
        if name in found or file is None:
            continue
        found[name] = file
        waiting += [other for other in _imports(name, file) if _counts(other, own)]
    return found


def _counts(name: str, own: str) -> bool:
    inside = name == own or name.startswith(f"{own}.")
    return (inside and own != "evalctl") or name.startswith("evalctl.parse")


def _imports(name: str, file: Path) -> Iterator[str]:
    """Absolute names of what `file` imports, or imports a name from, and of the `x.py` beside it that it names."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and SIBLING.fullmatch(node.value):
            yield f"{package}.{node.value.removesuffix('.py')}"


def _file(name: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # `name` is something in a module, not a module
        return None
    return Path(spec.origin) if spec is not None and spec.origin and spec.has_location else None
