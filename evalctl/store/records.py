"""`run.json`: a RunRecord with what the store adds when the run is finished, under a seal."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from evalctl.digests import digest
from evalctl.errors import StoreError
from evalctl.keys import import_key, run_key
from evalctl.types import Json, RunRecord

from .files import read_json, write_json

SCHEMA = 1
NAMES = frozenset(field.name for field in fields(RunRecord))


@dataclass(frozen=True)
class RunRow:
    """What the index knows of a finished run."""

    key: str
    suite: str
    suite_digest: str | None
    checkpoint: str
    weights_digest: str
    started: str
    finished: str
    """ISO 8601, UTC; strictly later than that of every run the store held then."""
    complete: bool
    n: int
    """Trials recorded."""
    roles: tuple[str, ...]
    replicate: int
    imported: bool


@dataclass(frozen=True)
class Stored:
    """A finished run's record as it stands in its folder."""

    record: RunRecord
    finished: str
    rows: int
    sha256: str
    """Of `trials.parquet`."""

    @property
    def row(self) -> RunRow:
        """The index row."""
        record = self.record
        return RunRow(
            key=record.key,
            suite=record.suite["name"],
            suite_digest=record.suite.get("digest"),
            checkpoint=record.checkpoint["name"],
            weights_digest=record.checkpoint["weights_digest"],
            started=record.started,
            finished=self.finished,
            complete=record.complete,
            n=self.rows,
            roles=tuple(record.suite.get("roles") or ()),
            replicate=record.replicate,
            imported=record.source is not None,
        )

    @property
    def key_now(self) -> str:
        """The key recomputed from the record."""
        return run_key(self.record) if self.record.source is None else import_key(self.record)


def record_to_json(record: RunRecord) -> dict[str, Json]:
    """All fields; `expected` as a list of lists."""
    data = asdict(record)
    data["expected"] = None if record.expected is None else [list(item) for item in record.expected]
    return data


def record_from_json(data: Mapping[str, Json]) -> RunRecord:
    """The record of `record_to_json`. Raises StoreError for another schema or form."""
    if data.get("schema") != SCHEMA:
        raise StoreError(f"schema {data.get('schema')!r}, and this evalctl reads {SCHEMA}")
    try:
        known = {name: value for name, value in data.items() if name in NAMES}
        expected = known.get("expected")
        known["expected"] = None if expected is None else tuple((str(k), str(v), int(e)) for k, v, e in expected)
        record = RunRecord(**known)
        _typed(record)
    except (TypeError, ValueError, KeyError) as error:
        raise StoreError(f"not a run record ({type(error).__name__}: {error})") from None
    return record


def _typed(record: RunRecord) -> None:
    """Raises TypeError or KeyError for what an index or a table could not hold."""
    suite, checkpoint = record.suite, record.checkpoint
    texts = [record.key, record.started, suite["name"], checkpoint["name"], checkpoint["weights_digest"]]
    texts += [suite.get("digest") or "", *(suite.get("roles") or ())]
    if not all(isinstance(text, str) for text in texts) or not suite["name"]:
        raise TypeError("key, started, names, digests and roles are text")
    if isinstance(record.replicate, bool) or not isinstance(record.replicate, int):
        raise TypeError("replicate is a whole number")


def write_run(path: Path, stored: Stored) -> None:
    """Write `run.json` whole; the seal is a digest of all the rest, so that a changed field is seen."""
    data = record_to_json(stored.record)
    data |= {"finished": stored.finished, "trials": {"rows": stored.rows, "sha256": stored.sha256}}
    write_json(path, {**data, "seal": digest(data)})


def read_run(path: Path) -> Stored:
    """The sealed record in `path`. Raises StoreError where it is not what was written."""
    data = read_json(path)
    seal = data.pop("seal", None)
    try:
        if seal != digest(data):
            raise StoreError("changed after it was written (its seal does not match)")
        record = record_from_json(data)
        return Stored(record, str(data["finished"]), int(data["trials"]["rows"]), str(data["trials"]["sha256"]))
    except StoreError as error:
        raise StoreError(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"{path}: not a run record ({type(error).__name__}: {error})") from None
