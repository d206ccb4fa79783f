"""`baselines/<name>.json`: a name that pins the run keys a reference meant when it was set."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from evalctl.errors import StoreError, UsageError
from evalctl.names import fit_name
from evalctl.types import Json

from .files import folder_name, make_folder, read_json, write_json


@dataclass(frozen=True)
class Baseline:
    """A pinned baseline."""

    name: str
    reference: str
    """What was given when it was set."""
    runs: Mapping[str, str]
    """Suite to run key."""
    set: str
    """ISO 8601, UTC."""


class Baselines:
    """The baselines of a store, by name."""

    def __init__(self, folder: Path, writing: Callable[[], AbstractContextManager[None]]) -> None:
        self._folder = folder
        self._writing = writing

    def set(self, name: str, reference: str, runs: Mapping[str, str]) -> None:
        """Pin `runs` under `name`; what it pinned before stays in the file under `earlier`. Raises UsageError."""
        fit_name(name, "baseline")
        if not runs:
            raise UsageError(f"baseline {name!r}: {reference!r} has no finished run to pin; run its suites first")
        path = self._path(name)
        with self._writing():
            earlier: list[Json] = []
            if path.exists():
                before = read_json(path)
                earlier = [*before.pop("earlier", []), before]
            make_folder(self._folder)
            now = datetime.now(UTC).isoformat(timespec="microseconds")
            data = {"schema": 1, "name": name, "reference": reference, "runs": dict(runs), "set": now}
            write_json(path, {**data, "earlier": earlier})

    def get(self, name: str) -> Baseline | None:
        """The baseline called `name`; None where nothing is called that."""
        path = self._path(name)
        return _read(path) if path.is_file() else None

    def all(self) -> list[Baseline]:
        """Every baseline, by name."""
        return sorted((_read(path) for path in self._files()), key=lambda baseline: baseline.name)

    def problems(self, known: Callable[[str], bool]) -> list[str]:
        """Files that cannot be read and pins whose run is not there, a line each."""
        lines = []
        for path in self._files():
            try:
                baseline = _read(path)
            except StoreError as error:
                lines.append(str(error))
                continue
            lines += [
                f"{path}: pins run {key} of suite {suite}, which is not there"
                for suite, key in baseline.runs.items()
                if not known(key)
            ]
        return lines

    def _path(self, name: str) -> Path:
        return self._folder / f"{folder_name(name, 'baseline')}.json"

    def _files(self) -> list[Path]:
        return [path for path in sorted(self._folder.glob("*.json")) if not path.name.startswith(".")]


def _read(path: Path) -> Baseline:
    data = read_json(path)
    try:
        return Baseline(data["name"], data["reference"], dict(data["runs"]), data["set"])
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"{path}: not a baseline ({type(error).__name__}: {error})") from None
