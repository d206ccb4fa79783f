"""Comparisons from the store: candidates against one baseline, in the terminal and as JSON."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evalctl.errors import EvalctlError, EvidenceError
from evalctl.gate.comparison import Comparison, compare
from evalctl.gate.from_store import look
from evalctl.gate.verdict_json import estimate_json
from evalctl.measures import CORRECT_LIKE
from evalctl.store import Store
from evalctl.store.resolve import Side, resolve
from evalctl.types import PLAIN_ROLES, Json, Role, Run
from reports.words import Unit, change, change_span, span, value

from .present import console, safe

COLUMNS = ("Suite", "Metric", "Candidate", "Level", "Baseline", "Difference", "Interval", "Better", "Worse", "Unscored")
SHOWN = 10
"""Changed samples listed for a suite."""


@dataclass(frozen=True)
class Compared:
    """One candidate on one suite: a comparison, or why there is none."""

    suite: str
    candidate: str
    found: Comparison | None
    problem: str = ""


@dataclass(frozen=True)
class Asked:
    """What to compare on."""

    metric: str | None = None
    """None: the one that the runs score by."""
    suites: tuple[str, ...] = ()
    """None named: every suite that the baseline and a candidate share."""
    roles: frozenset[str] = PLAIN_ROLES


def compare_all(store: Store, baseline: str, candidates: Sequence[str], asked: Asked) -> list[Compared]:
    """Every candidate on every suite it shares with the baseline; simultaneous 95% intervals, a suite at a time.

    Reading sealed samples is a look, counted before. Raises UsageError for an unknown reference, EvidenceError where
    nothing is shared.
    """
    first, *others = (resolve(store, reference, asked.roles) for reference in (baseline, *candidates))
    found = []
    for suite in asked.suites or sorted(first.runs):
        sharing = [other for other in others if suite in first.runs and suite in other.runs]
        if not sharing and asked.suites:
            found += [Compared(suite, other.name, None, "not run on both sides") for other in others]
        base = store.load(first.runs[suite]) if sharing else None
        for other in sharing:
            assert base is not None
            found.append(_one(store, base, other, suite, (asked, 0.05 / len(sharing))))
    if not found:
        names = ", ".join(other.name for other in others)
        raise EvidenceError(f"{first.name} and {names} share no suite; `evalctl run` makes runs")
    return found


def _one(store: Store, base: Run, other: Side, suite: str, how: tuple[Asked, float]) -> Compared:
    asked, alpha = how
    run = store.load(other.runs[suite])
    if Role.SEALED in asked.roles:
        look(store, suite, base, run)
    metric = asked.metric or (str(run.trials["metric"].iloc[0]) if len(run.trials) else "correct")
    try:
        return Compared(suite, other.name, compare(base, run, metric, alpha, asked.roles))
    except EvalctlError as error:
        return Compared(suite, other.name, None, str(error))


def show_compared(rows: Sequence[Compared], flips: bool, to: Console | None = None) -> None:
    """Print a row a comparison; with `flips` the samples that changed, the worst first."""
    out = to or console()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in COLUMNS:
        table.add_column(name, overflow="fold")
    for row in rows:
        if row.found is not None:
            table.add_row(*_cells(row.candidate, row.found))
    out.print(table)
    for row in rows:
        if row.found is None:
            out.print(safe(f"{row.suite}, {row.candidate}: {row.problem}", "yellow"), soft_wrap=True)
        elif row.found.left_out_roles:
            names = ", ".join(row.found.left_out_roles)
            out.print(safe(f"{row.suite}, {row.candidate}: samples of roles {names} not read", "dim"), soft_wrap=True)
        for flip in row.found.flips[:SHOWN] if flips and row.found else ():
            change_ = f"{flip.baseline:g} to {flip.candidate:g}"
            out.print(safe(f"  {row.suite} {flip.sample_id} {flip.variant}: {change_}"), soft_wrap=True)


def compared_to_json(rows: Sequence[Compared]) -> dict[str, Json]:
    """Every comparison with its flips."""
    return {"schema": 1, "comparisons": [_json(row) for row in rows]}


def _json(row: Compared) -> dict[str, Json]:
    found = row.found
    if found is None:
        return {"suite": row.suite, "candidate_name": row.candidate, "problem": row.problem}
    return {
        "suite": row.suite,
        "candidate_name": row.candidate,
        "metric": found.metric,
        "baseline": estimate_json(found.baseline),
        "candidate": estimate_json(found.candidate),
        "difference": estimate_json(found.difference),
        "flips_up": found.flips_up,
        "flips_down": found.flips_down,
        "unscored": found.unscored,
        "left_out_roles": list(found.left_out_roles),
        "flips": [{**flip._asdict(), "transcripts": list(flip.transcripts)} for flip in found.flips],
    }


def _cells(name: str, found: Comparison) -> list[Text | str]:
    unit = Unit.SHARE if found.metric in CORRECT_LIKE else Unit.NUMBER
    return [
        safe(found.suite),
        safe(found.metric),
        safe(name),
        f"{value(found.candidate.value, unit)} ({span(found.candidate, unit)})",
        value(found.baseline.value, unit),
        change(found.difference.value, unit),
        change_span(found.difference, unit),
        str(found.flips_up),
        str(found.flips_down),
        str(found.unscored),
    ]
