"""A suite's generator: loaded from its folder, and what it must be able to do."""

import importlib
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Protocol, cast

from evalctl.digests import digest_bytes
from evalctl.errors import SuiteError
from evalctl.types import Sample

FUNCTIONS = ("generate", "siblings", "reference", "wrong")


class Generator(Protocol):
    """`generate.py` of a suite folder. Everything is deterministic in its arguments."""

    def generate(self, seed: int, n: int) -> Iterator[Sample]:
        """`n` samples. A larger `n` begins with the smaller one's samples; clusters do not depend on `seed`.

        A sample in role `pool` is to be drawn (pool, dev or sealed, by its cluster); `bench` and `replay`
        are declared here.
        """
        ...

    def siblings(self, sample: Sample, seed: int, n: int) -> Sequence[Sample]:
        """`n` samples of the same skill in other scenarios, which `generate` never gives: what training may see."""
        ...

    def reference(self, sample: Sample) -> str:
        """The completion that solves the sample, a sibling included."""
        ...

    def wrong(self, sample: Sample) -> Sequence[str]:
        """At least three completions that must score 0."""
        ...


def load_generator(file: Path) -> Generator:
    """The generator in `file`: **this runs the file's code**, which only a `suite.yaml` beside it can ask for.

    Modules of the same folder can be imported relatively (`from .words import NOUNS`). A file that is part
    of an importable package is imported under its own name, any other under one made from its path.
    Raises SuiteError when it is not there, does not import, or lacks one of the four functions.
    """
    if not file.is_file():
        raise SuiteError(f"{file}: no such generator; suite.yaml names it")
    try:
        module = _module(file.resolve())
    except Exception as error:
        raise SuiteError(f"{file}: does not import: {type(error).__name__}: {error}") from error
    missing = [name for name in FUNCTIONS if not callable(getattr(module, name, None))]
    if missing:
        raise SuiteError(f"{file}: a generator needs {', '.join(FUNCTIONS)}; missing: {', '.join(missing)}")
    return cast(Generator, module)


def _module(file: Path) -> ModuleType:
    name = _own_name(file)
    if name is None:
        package = f"_evalctl_suite_{digest_bytes(str(file.parent).encode())[:12]}"
        if package not in sys.modules:
            parent = ModuleType(package)
            parent.__path__ = [str(file.parent)]
            sys.modules[package] = parent
        name = f"{package}.{file.stem}"
    return importlib.import_module(name)


def _own_name(file: Path) -> str | None:
    """The dotted name under which `import` finds this very file, if it does."""
    parts, folder = [file.stem], file.parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    if len(parts) == 1:
        return None
    try:
        spec = importlib.util.find_spec(".".join(parts))
    except (ImportError, ValueError):
        return None
    return ".".join(parts) if spec and spec.origin and Path(spec.origin).resolve() == file else None
