"""Trials that another tool made, on their way in, several suites at once: an error in any leaves nothing of all.

Only a kill or a full disk between two renames can leave some suites and not others; each is whole, and the same
import again adds the rest.
"""

import shutil
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from secrets import token_hex
from types import TracebackType

from evalctl.digests import file_sha256
from evalctl.errors import DataError, UsageError
from evalctl.types import RunRecord, Trial

from .columns import TrialsFile
from .files import locked, make_folder, sync_file
from .records import Stored
from .writer import LOCK

MOST_SUITES = 200
"""Each is an open file until the end."""


class Importing:
    """A context manager. Leaving it without `commit` leaves nothing behind."""

    def __init__(
        self,
        runs: Path,
        has: Callable[[str], bool],
        publish: Callable[[Path, Stored], bool],
        writing: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._writing = writing
        self._runs = runs
        self._fresh = not runs.parent.exists()
        self._has = has
        self._publish = publish
        self._folder = runs / f".import-{token_hex(8)}"
        self._files: dict[str, TrialsFile] = {}
        self._lock: AbstractContextManager[None] | None = None

    def __enter__(self) -> "Importing":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for file in self._files.values():
            # On a full disk closing fails too, and the folder goes away whatever state it is in.
            with suppress(OSError):
                file.abandon()
        if self._lock is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._lock.__exit__(None, None, None)
            if kind is not None and self._fresh:
                self._leave_nothing()

    def add(self, trial: Trial) -> None:
        """One more trial of its suite. Raises DataError for more suites than a file may hold."""
        if trial.suite not in self._files:
            self._begin(trial.suite)
        self._files[trial.suite].add(trial)

    def commit(self, records: Sequence[RunRecord]) -> dict[str, bool]:
        """Make a run of each suite's trials; by key, whether it is new. A record a suite, and no other."""
        names = [record.suite["name"] for record in records]
        if sorted(names) != sorted(self._files):
            raise UsageError(f"records of {sorted(names)} for trials of {sorted(self._files)}; an empty run is no run")
        ready = []
        for record in records:
            if not self._has(record.key):
                file = self._files[record.suite["name"]]
                file.close()
                sync_file(file.path)
                make_folder(file.path.parent / "logs")
                ready.append((file.path.parent, Stored(record, "", file.rows, file_sha256(file.path))))
        new = {stored.record.key for folder, stored in ready if self._publish(folder, stored)}
        return {record.key: record.key in new for record in records}

    def _begin(self, suite: str) -> None:
        if len(self._files) >= MOST_SUITES:
            raise DataError(f"more than {MOST_SUITES} suites in one file; is the suite column what it should be?")
        if not self._files:
            self._claim()
        folder = make_folder(self._folder / str(len(self._files)))
        self._files[suite] = TrialsFile(folder / "trials.parquet")

    def _leave_nothing(self) -> None:
        """Take back a home that only this import has made."""
        home = self._runs.parent
        with self._writing():
            with suppress(OSError):
                self._runs.rmdir()
            if all(path.name == "lock" for path in home.iterdir()):
                (home / "lock").unlink()
        with suppress(OSError):
            home.rmdir()

    def _claim(self) -> None:
        """Make the working folder, and clear those of imports that were killed."""
        with self._writing():
            make_folder(self._folder)
            lock = locked(self._folder / LOCK, "this import")
            lock.__enter__()
            self._lock = lock
            for left in self._runs.glob(".import-*"):
                if left != self._folder:
                    _clear(left)


def _clear(folder: Path) -> None:
    """Remove the folder of an import whose process is dead."""
    try:
        with locked(folder / LOCK, "another import"):
            shutil.rmtree(folder, ignore_errors=True)
    except (UsageError, FileNotFoundError):
        return
