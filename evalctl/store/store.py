"""The store: run folders, checkpoints, baselines and verdicts under one home; files are the truth."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path

from evalctl.digests import digest, file_sha256
from evalctl.errors import StoreError, UsageError
from evalctl.types import Json, Run, RunRecord

from .baselines import Baselines
from .checkpoints import Checkpoints
from .files import locked, make_folder, read_json, write_json
from .importing import Importing
from .index import Index
from .records import RunRow, Stored, read_run, write_run
from .writer import RunWriter, rename_finished

DATABASE = "evalctl.db"


class Store:
    """Everything kept under `home`. Making one creates nothing; the first write does."""

    def __init__(self, home: Path) -> None:
        self.home = home

    @classmethod
    def open(cls, home: Path | None = None) -> "Store":
        """The store at `home`, or at $EVALCTL_HOME, or at `.evalctl`. Raises UsageError for what is no folder."""
        home = home or Path(os.environ.get("EVALCTL_HOME") or ".evalctl")
        there = home
        while not there.exists() and there != there.parent:
            there = there.parent
        if not there.is_dir():
            raise UsageError(f"{home}: {there} is no folder; EVALCTL_HOME names the folder of the records")
        return cls(home)

    @property
    def runs(self) -> Path:
        """The folder of run folders."""
        return self.home / "runs"

    @cached_property
    def checkpoints(self) -> Checkpoints:
        """The checkpoints this store knows."""
        return Checkpoints(self.home / "checkpoints", self.writing)

    @cached_property
    def baselines(self) -> Baselines:
        """Names that pin run keys."""
        return Baselines(self.home / "baselines", self.writing)

    @cached_property
    def index(self) -> Index:
        """The index of runs."""
        return Index(self.home / DATABASE, self.runs)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the store for one short write; other processes wait up to a minute for it."""
        make_folder(self.home)
        with locked(self.home / "lock", f"the store {self.home}", wait=60):
            yield

    def begin(self, record: RunRecord) -> RunWriter:
        """A writer for a run that is not there yet; use it with `with`.

        Entering raises UsageError where another process writes the same run.
        """
        if self.has(record.key):
            raise UsageError(f"run {record.key[:12]} is finished, and a finished run is never written again")
        return RunWriter(self.runs / f".{record.key}.partial", record, self._publish)

    def importing(self) -> Importing:
        """A writer for trials from another tool, of several suites at once; use it with `with`."""
        return Importing(self.runs, self.has, self._publish, self.writing)

    def has(self, key: str) -> bool:
        """Whether a finished run of this key is there."""
        return (self.runs / key / "run.json").is_file()

    def folder(self, key: str) -> Path:
        """The folder of a finished run."""
        return self.runs / key

    def stored(self, key: str) -> Stored:
        """The sealed record of a finished run. Raises UsageError, StoreError."""
        if not key or "/" in key or key.startswith(".") or not (self.runs / key).is_dir():
            raise UsageError(f"no run {key!r} in {self.home}; `evalctl runs list` lists them")
        stored = read_run(self.runs / key / "run.json")
        if stored.record.key != key:
            raise StoreError(f"{self.runs / key}: holds run {stored.record.key}; a run folder is named by its key")
        return stored

    def trials_file(self, key: str) -> Path:
        """`trials.parquet` of a finished run, its digest compared. Raises StoreError where it was changed."""
        stored = self.stored(key)
        path = self.runs / key / "trials.parquet"
        if not path.is_file():
            raise StoreError(f"{path}: not there; `evalctl store check` lists what else is wrong")
        if file_sha256(path) != stored.sha256:
            raise StoreError(f"{path}: changed after the run was finished (its digest does not match run.json)")
        return path

    def load(self, key: str) -> Run:
        """A finished run, compared with the digests it was sealed with. Raises UsageError, StoreError."""
        import pyarrow.parquet as pq  # type: ignore[import-untyped]

        from .frames import table_to_frame

        path = self.trials_file(key)
        return Run(self.stored(key).record, table_to_frame(pq.read_table(path)))

    def rows(self) -> tuple[list[RunRow], list[str]]:
        """Every finished run, newest first, and a line for each run folder that cannot be read."""
        return self.index.rows()

    def find(
        self, suite: str | None = None, weights_digest: str | None = None, checkpoint: str | None = None
    ) -> list[RunRow]:
        """Finished runs, newest first. Raises StoreError where a folder cannot be read: it might be the newest."""
        rows, problems = self.rows()
        if problems:
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            raise StoreError(f"{problems[0]}{more}; `evalctl store check` lists all; move such folders away")
        return [
            row
            for row in rows
            if suite in (None, row.suite)
            and weights_digest in (None, row.weights_digest)
            and checkpoint in (None, row.checkpoint)
        ]

    def partials(self) -> list[str]:
        """Keys of runs that were begun and are not finished."""
        return sorted(path.name[1:].removesuffix(".partial") for path in self.runs.glob(".*.partial"))

    def save_verdict(self, verdict: Json) -> Path:
        """Keep a verdict; returns its file."""
        folder = make_folder(self.home / "verdicts")
        when = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        return write_json(folder / f"{when}-{digest(verdict)[:12]}.json", verdict)

    def verdicts(self) -> list[dict[str, Json]]:
        """Every verdict kept, newest first. Raises StoreError for one that cannot be read."""
        return [read_json(path) for path in sorted((self.home / "verdicts").glob("*.json"), reverse=True)]

    def check(self) -> list[str]:
        """Everything that is not as it was written, a line each; empty where all is well."""
        from .check import problems

        return problems(self)

    def rebuild(self) -> int:
        """Make the index anew from the files; how many runs it holds."""
        if not self.home.is_dir():
            return 0
        make_folder(self.runs)
        with self.writing():
            return self.index.rebuild()[0]

    def _publish(self, folder: Path, stored: Stored) -> bool:
        """Seal `folder` as a finished run and rename it to its key; False where that run is there already."""
        with self.writing():
            target = self.runs / stored.record.key
            if target.exists():
                return False
            write_run(folder / "run.json", replace(stored, finished=self._later()))
            rename_finished(folder, target)
            self.index.rows()
        return True

    def _later(self) -> str:
        """Now, but later than every finished run even where the clock was set back."""
        now = datetime.now(UTC)
        rows, _ = self.index.rows()
        if rows:
            now = max(now, datetime.fromisoformat(rows[0].finished) + timedelta(microseconds=1))
        return now.isoformat(timespec="microseconds")
