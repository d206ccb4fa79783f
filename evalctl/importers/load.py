"""A file of another tool into the store: all of it, or nothing."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path

from evalctl.digests import digest, file_sha256
from evalctl.errors import DataError, UsageError
from evalctl.keys import import_key
from evalctl.names import fit_name
from evalctl.store import Store
from evalctl.store.columns import clean
from evalctl.types import Checkpoint, Json, RunRecord, Trial

from .notes import Notes, Reader


@dataclass(frozen=True)
class ImportedRun:
    """One suite of an imported file."""

    suite: str
    key: str
    n: int
    """Trials."""
    new: bool
    """False where these bytes were imported before: nothing was changed."""
    owner: str
    """The checkpoint's name the run was first made under."""


@dataclass(frozen=True)
class Imported:
    """What an import did."""

    checkpoint: Checkpoint
    runs: tuple[ImportedRun, ...]
    notes: tuple[str, ...]
    """What a person should know, a line each."""


@dataclass
class _Tally:
    """What is counted of one suite while its trials stream by."""

    n: int = 0
    samples: set[int] = field(default_factory=set)
    roles: set[str] = field(default_factory=set)
    digests: set[str | None] = field(default_factory=set)

    def add(self, trial: Trial) -> None:
        self.n += 1
        self.samples.add(hash(trial.sample_id))
        self.roles.add(trial.role)
        self.digests.add(trial.suite_digest)

    def suite(self, name: str) -> dict[str, Json]:
        """The run's suite field; a digest only where every row states the same."""
        stated = next(iter(self.digests)) if len(self.digests) == 1 else None
        return {"name": name, "version": None, "digest": stated, "n": len(self.samples), "roles": sorted(self.roles)}


def import_file(store: Store, path: Path, reader: tuple[str, Reader], suite: str | None, reference: str) -> Imported:
    """Read `path` with `reader` (format and its function) into runs of the checkpoint that `reference` means.

    `suite` is that of rows which name none; a reference that means nothing here is a new checkpoint of kind
    "imported". Raises DataError with file and line, UsageError; then nothing is left behind.
    """
    checkpoint, said = checkpoint_of(store, reference)
    before = _state(path)
    source = {"format": reader[0], "file": path.name, "digest": file_sha256(path)}
    notes, tallies = Notes(), dict[str, _Tally]()
    with store.importing() as batch:
        for trial in reader[1](path, suite, notes):
            batch.add(trial)
            tallies.setdefault(trial.suite, _Tally()).add(trial)
        if _state(path) != before:
            raise DataError(f"{path}: changed while it was read; import it again once it is whole")
        records = list(_records(tallies, checkpoint, source))
        new = batch.commit(records)
    said += [line for line in [store.checkpoints.save(checkpoint)] if line]
    return Imported(checkpoint, tuple(_imported(store, r, tallies, new) for r in records), (*said, *notes.lines()))


def _imported(store: Store, record: RunRecord, tallies: dict[str, _Tally], new: dict[str, bool]) -> ImportedRun:
    name, fresh = record.suite["name"], new[record.key]
    owner = record if fresh else store.stored(record.key).record
    return ImportedRun(name, record.key, tallies[name].n, fresh, owner.checkpoint["name"])


def checkpoint_of(store: Store, reference: str) -> tuple[Checkpoint, list[str]]:
    """The checkpoint an import belongs to, and lines to show. Raises UsageError for what cannot be one."""
    for checkpoint in store.checkpoints.all():
        if checkpoint.name == reference:
            return checkpoint, []
    if Path(reference).is_dir() or reference.startswith("double:"):
        from evalctl.models import checkpoint_for

        found = checkpoint_for(reference)
        fit_name(found.name, "checkpoint", slashes=True)
        return found, []
    if reference != clean(reference):
        raise UsageError("--checkpoint: a name that is not UTF-8")
    if reference.startswith(("/", "./", "../", "~")):
        raise UsageError(f"--checkpoint {reference}: no such folder")
    if reference.startswith("baseline:") or store.has(reference):
        raise UsageError(f"--checkpoint {reference}: an import belongs to a checkpoint, not to a baseline or a run")
    fit_name(reference, "checkpoint", slashes=True)
    names = [checkpoint.name for checkpoint in store.checkpoints.all()]
    near = get_close_matches(reference, names, n=1, cutoff=0.8)
    guess = f"; if you meant {near[0]!r}, import again under that name" if near else ""
    said = f"{reference!r} is a new checkpoint, known by this import only{guess}"
    made = Checkpoint(reference, digest(["imported", reference]), "imported", reference, verified=False)
    return made, [said]


def _records(tallies: dict[str, _Tally], checkpoint: Checkpoint, source: dict[str, Json]) -> Iterator[RunRecord]:
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    for name, tally in tallies.items():
        record = RunRecord(
            key="",
            suite=tally.suite(name),
            checkpoint=asdict(checkpoint),
            complete=True,
            started=now,
            source=source,
        )
        yield RunRecord(**{**vars(record), "key": import_key(record)})


def _state(path: Path) -> tuple[int, int]:
    if not path.is_file():
        raise DataError(f"{path}: {'a folder' if path.is_dir() else 'no such file'}; a file is wanted")
    found = path.stat()
    return found.st_size, found.st_mtime_ns
