"""A run while it is written: one fsynced line a trial, and a finish that is all or nothing.

`runs/.<key>.partial/` holds `record.json`, `trials.jsonl`, `spent.json`, `logs/` and a lock. `finish` turns the
lines into `trials.parquet`, writes `run.json`, drops the working files and renames the folder to its key. A kill
at any byte leaves the partial, from which `begin` goes on, or the whole.
"""

import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from evalctl.digests import canonical, file_sha256
from evalctl.errors import StoreError, UsageError
from evalctl.types import Run, RunRecord, Trial

from .columns import read_trials, write_trials
from .files import locked, make_folder, read_json, sync_file, sync_folder, write_json, write_whole
from .frames import to_frame, trial_from_json, trial_to_json
from .records import Stored, record_to_json

RECORD, TRIALS, SPENT, LOCK = "record.json", "trials.jsonl", "spent.json", "lock"


class RunWriter:
    """One run being written; a context manager. Leaving it without `finish` keeps the partial."""

    def __init__(self, folder: Path, record: RunRecord, publish: Callable[[Path, Stored], bool]) -> None:
        self.folder = folder
        """Where the run is while it is written; `logs/` is there."""
        self.record = record
        self._publish = publish
        self._trials: dict[tuple[str, str, str, int], Trial] = {}
        self._handle: int | None = None
        self._lock: AbstractContextManager[None] | None = None
        self._spent = 0.0
        self._guard = threading.Lock()

    def __enter__(self) -> "RunWriter":
        make_folder(self.folder)
        lock = locked(self.folder / LOCK, f"run {self.record.key[:12]}")
        lock.__enter__()
        self._lock = lock
        try:
            if self.folder.with_name(self.record.key).exists():
                shutil.rmtree(self.folder)
                raise UsageError(f"run {self.record.key[:12]} was finished by another process just now")
            self._open()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._close()

    @property
    def trials(self) -> list[Trial]:
        """What is recorded, the last record of a (sample, variant, epoch) only, in the order first seen."""
        return list(self._trials.values())

    @property
    def spent(self) -> float:
        """Seconds noted so far, over all lives of this run."""
        return self._spent

    def append(self, *trials: Trial) -> None:
        """Record trials, durable when this returns. Raises OSError (no free disk) and then records none of them."""
        data = b"".join(json.dumps(trial_to_json(trial)).encode() + b"\n" for trial in trials)
        with self._guard:
            if self._handle is None:
                raise StoreError(f"run {self.record.key[:12]} is closed; nothing can be added")
            _write(self._handle, data, self.folder / TRIALS)
            for trial in trials:
                self._trials[_place(trial)] = trial

    def note_time(self, seconds: float) -> None:
        """Add `seconds` to what was spent; a later life goes on from there."""
        with self._guard:
            self._spent += seconds
            write_json(self.folder / SPENT, {"seconds": self._spent})

    def finish(self, complete: bool, seconds: float, cost: float | None = None) -> Run:
        """Make the run whole and return it. `seconds` and `cost` are cumulative: all lives together.

        Raises StoreError where `complete` is said and an expected trial has no record.
        """
        trials = self._ordered()
        if complete:
            self._nothing_lacks(trials)
        record = replace(self.record, complete=complete, seconds=seconds, cost=cost)
        parquet = self.folder / "trials.parquet"
        rows = write_trials(parquet, trials)
        sync_file(parquet)
        for log in (self.folder / "logs").rglob("*"):
            if log.is_file() and not log.is_symlink():
                sync_file(log)
        if not self._publish(self.folder, Stored(record, "", rows, file_sha256(parquet))):
            raise StoreError(f"run {record.key[:12]} is there already; a finished run is never written again")
        self._close()
        return Run(record, to_frame(trials))

    def _open(self) -> None:
        """Read what earlier lives left, and be ready to append."""
        make_folder(self.folder / "logs")
        path = self.folder / RECORD
        if path.exists():
            self.record = replace(self.record, started=read_json(path)["record"]["started"] or self.record.started)
        else:
            write_json(path, {"record": {**record_to_json(self.record), "expected": None}})
        lines = self.folder / TRIALS
        if not lines.exists() and (self.folder / "run.json").exists():
            _reopen(self.folder)
        if (self.folder / SPENT).exists():
            self._spent = float(read_json(self.folder / SPENT)["seconds"])
        (self.folder / "run.json").unlink(missing_ok=True)
        self._handle = os.open(lines, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        for trial in _recorded(lines, self._handle):
            self._trials[_place(trial)] = trial
        sync_folder(self.folder)

    def _close(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.__exit__(None, None, None)

    def _ordered(self) -> list[Trial]:
        """Trials in the order of the expected list, so that when each finished leaves no trace."""
        place = {key: at for at, key in enumerate(self.record.expected or ())}
        return sorted(self.trials, key=lambda trial: place.get(_pairing(trial), len(place)))

    def _nothing_lacks(self, trials: Sequence[Trial]) -> None:
        lacking = set(self.record.expected or ()) - {_pairing(trial) for trial in trials}
        if lacking:
            raise StoreError(
                f"run {self.record.key[:12]} is not complete: {len(lacking)} of {len(self.record.expected or ())} "
                f"expected trials have no record (one is {min(lacking)}); run with --resume"
            )


def rename_finished(folder: Path, target: Path) -> None:
    """Drop what only a partial needs, now that the run's own files are durable, and give it its name."""
    for name in (TRIALS, SPENT, RECORD):
        (folder / name).unlink(missing_ok=True)
    sync_folder(folder)
    folder.rename(target)
    sync_folder(target.parent)
    # Last: until the rename, the lock keeps every other process out of the partial.
    (target / LOCK).unlink(missing_ok=True)


def _reopen(folder: Path) -> None:
    """Undo a finish that was killed just before its rename: the lines again, from the whole Parquet file."""
    lines = (json.dumps(trial_to_json(trial)) + "\n" for trial in read_trials(folder / "trials.parquet"))
    write_json(folder / SPENT, {"seconds": float(read_json(folder / "run.json")["seconds"])})
    write_whole(folder / TRIALS, "".join(lines).encode())


def _place(trial: Trial) -> tuple[str, str, str, int]:
    return (trial.sample_id, *_pairing(trial))


def _pairing(trial: Trial) -> tuple[str, str, int]:
    return (trial.content_key, canonical(trial.variant), trial.epoch)


def _write(handle: int, data: bytes, path: Path) -> None:
    """Append all of `data` and make it durable, or take back what was written of it."""
    before = os.fstat(handle).st_size
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(handle, left) :]
        os.fsync(handle)
    except OSError as error:
        os.ftruncate(handle, before)
        error.filename = str(path)
        raise


def _recorded(path: Path, handle: int) -> Iterator[Trial]:
    """The trials in `path`; a torn last line is cut off. Raises StoreError for a broken line before it."""
    good = 0
    with path.open("rb") as file:
        broken: str | None = None
        for number, line in enumerate(file, 1):
            if broken:
                raise StoreError(f"{broken}; move {path.parent} away to start this run again")
            try:
                if not line.endswith(b"\n"):
                    break
                trial = trial_from_json(json.loads(line))
            except (ValueError, TypeError, AttributeError, StoreError) as error:
                broken = f"{path}:{number}: not a trial ({error})"
                continue
            good += len(line)
            yield trial
    os.ftruncate(handle, good)
