"""What the store holds, as lists in the terminal: runs, checkpoints and where they came from."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from evalctl.store import RunRow, SavedCheckpoint
from evalctl.types import RunRecord
from reports.words import count, moment

from .present import console, safe

SHORT = 12
"""Characters of a digest that a list shows; commands take as few as 6."""


def runs_table(rows: Sequence[RunRow], partials: Sequence[str]) -> None:
    """A row a finished run, then the runs that were begun and are not finished."""
    out = console()
    table = _table("Run", "Suite", "Checkpoint", "Trials", "Roles", "Finished", "")
    for row in rows:
        marks = [mark for mark, is_so in (("imported", row.imported), ("not complete", not row.complete)) if is_so]
        marks += [f"replicate {row.replicate}"] if row.replicate else []
        cells = (row.key[:SHORT], row.suite, row.checkpoint, f"{row.n:,}", " ".join(row.roles), moment(row.finished))
        table.add_row(*(safe(cell) for cell in cells), safe(", ".join(marks), "dim"))
    if rows:
        out.print(table)
    else:
        out.print("no finished run; `evalctl run SUITE --checkpoint REF` makes one", soft_wrap=True)
    if partials:
        keys = ", ".join(key[:SHORT] for key in partials)
        out.print(safe(f"{count(len(partials), 'run')} not finished ({keys}): `evalctl run ... --resume` goes on"))


def record_lines(record: RunRecord, folder: Path) -> None:
    """Everything that could have changed the scores, a line a field."""
    expected = None if record.expected is None else count(len(record.expected), "trial")
    checkpoint = record.checkpoint
    fields = {
        "suite digest": record.suite.get("digest"),
        "roles": " ".join(record.suite.get("roles") or ()),
        "checkpoint": f"{checkpoint['name']}, weights {checkpoint['weights_digest']}",
        "reference": checkpoint.get("reference"),
        "prompt digest": record.prompt_digest,
        "sampling": record.sampling,
        "judge": record.judge,
        "limits": record.limits,
        "sandbox digest": record.sandbox_digest,
        "engine": record.engine,
        "seed": record.seed,
        "replicate": record.replicate,
        "expected": expected,
        "started": moment(record.started),
        "imported from": record.source,
        "folder": folder,
    }
    out = console()
    for name, value in fields.items():
        shown = "not recorded" if value is None else value if isinstance(value, str | Path) else json.dumps(value)
        out.print(safe(f"  {name + ':':<16}{shown}"), soft_wrap=True)


def checkpoints_table(saved: Sequence[SavedCheckpoint], rows: Sequence[RunRow]) -> None:
    """A row a checkpoint name."""
    out = console()
    table = _table("Checkpoint", "Weights", "Kind", "Runs", "Parent", "Reference")
    runs = Counter(row.weights_digest for row in rows)
    for one in saved:
        made = one.checkpoint
        weights = made.weights_digest[:SHORT] + ("" if made.verified else " (unverified)")
        cells = (made.name, weights, made.kind, runs[made.weights_digest], (made.parent or "")[:SHORT], made.reference)
        table.add_row(*(safe(cell) for cell in cells))
    if saved:
        out.print(table)
    else:
        out.print("no checkpoint yet; `evalctl run` and `evalctl import` save the ones they meet", soft_wrap=True)


def checkpoint_page(history: Sequence[SavedCheckpoint], rows: Sequence[RunRow]) -> None:
    """What a name means now, its runs, and what it meant before."""
    out = console()
    now, *before = history
    for line in _lines(now):
        out.print(safe(line), soft_wrap=True)
    for row in rows:
        out.print(safe(f"  run {row.key[:SHORT]}: {row.suite}, {count(row.n, 'trial')}, {moment(row.finished)}"))
    for one in before:
        out.print(safe(f"before {moment(now.saved)}: weights {one.checkpoint.weights_digest}", "dim"), soft_wrap=True)


def lineage_lines(line: Sequence[SavedCheckpoint]) -> None:
    """A checkpoint and its ancestors, each made from the next."""
    out = console()
    for one in line:
        for text in _lines(one):
            out.print(safe(text), soft_wrap=True)
    parent = line[-1].checkpoint.parent
    if parent:
        out.print(safe(f"its parent {parent} is not in this store", "dim"), soft_wrap=True)


def _lines(one: SavedCheckpoint) -> list[str]:
    made, lineage = one.checkpoint, one.lineage
    how = [f"campaign {lineage.campaign}"] if lineage.campaign else []
    how += [f"data {lineage.data_digest}"] if lineage.data_digest else []
    how += [
        f"{count(len(ids), 'trained cluster')} of {suite}" for suite, ids in sorted(lineage.trained_clusters.items())
    ]
    verified = "" if made.verified else " (unverified)"
    lines = [f"{made.name}: weights {made.weights_digest}{verified}, {made.kind}, {made.reference}"]
    lines += [f"  made by {', '.join(how)}"] if how else []
    return [*lines, f"  parent {made.parent}"] if made.parent else lines


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    for name in names:
        table.add_column(name, overflow="fold")
    return table
