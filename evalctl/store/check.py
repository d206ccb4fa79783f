"""`store check`: every record compared with what was written; all that is wrong, at once."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from evalctl.digests import file_sha256
from evalctl.errors import StoreError
from evalctl.ledger import Ledger

from .files import read_json
from .records import Stored, read_run

if TYPE_CHECKING:
    from .store import Store


def problems(store: "Store") -> list[str]:
    """A line for everything that is wrong, in the order runs, index, checkpoints, baselines, verdicts, ledger."""
    lines = [line for folder in _folders(store.runs) for line in _run(folder)]
    lines += store.index.disagreements()
    lines += store.checkpoints.problems()
    lines += store.baselines.problems(store.has)
    for path in sorted((store.home / "verdicts").glob("*.json")):
        try:
            read_json(path)
        except StoreError as error:
            lines.append(str(error))
    try:
        Ledger(store.home).entries()
    except StoreError as error:
        lines.append(str(error))
    return lines


def _folders(runs: Path) -> list[Path]:
    return [path for path in sorted(runs.iterdir()) if not path.name.startswith(".")] if runs.is_dir() else []


def _run(folder: Path) -> Iterator[str]:
    """What is wrong with one run folder."""
    try:
        stored = read_run(folder / "run.json")
    except StoreError as error:
        yield str(error)
        return
    if stored.record.key != folder.name:
        yield f"{folder}: holds run {stored.record.key}; a run folder is named by its key"
    if stored.key_now != stored.record.key:
        yield f"{folder}: its record gives the key {stored.key_now}, not the one it has"
    if not 0 <= stored.record.replicate < 2**31:
        yield f"{folder}: replicate {str(stored.record.replicate)[:40]} is past what `evalctl run --replicate` takes"
    yield from _trials(folder / "trials.parquet", stored)


def _trials(path: Path, stored: Stored) -> Iterator[str]:
    from pyarrow import ArrowException  # type: ignore[import-untyped]

    from .columns import read_trials

    if not path.is_file():
        yield f"{path}: not there"
        return
    if file_sha256(path) != stored.sha256:
        yield f"{path}: changed after the run was finished (its digest does not match run.json)"
    try:
        rows = sum(1 for _ in read_trials(path))
    except (ArrowException, OSError, KeyError, ValueError, TypeError) as error:
        yield f"{path}: cannot be read ({type(error).__name__}: {str(error).splitlines()[0][:200]})"
        return
    if rows != stored.rows:
        yield f"{path}: {rows} rows, and run.json says {stored.rows}"
