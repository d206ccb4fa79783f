"""Figures as tables in the terminal; the same Overview that the page and the dashboard show."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evalctl.gate.verdict import Decision
from evalctl.types import Run
from reports.cells import Cell, measure
from reports.figures import Difference, Overview
from reports.sentences import headline
from reports.words import MARKS, change, change_span, count, seconds, span, value

from .present import console, safe

STYLES = {
    Decision.PASS: "green",
    Decision.REGRESSED: "red",
    Decision.INCONCLUSIVE: "yellow",
    Decision.INVALID: "magenta",
}


def run_summary(run: Run, to: Console | None = None) -> None:
    """Print what came of one run: score, interval, sizes, what was not scored, further metrics."""
    out = to or console()
    cell = measure(run)
    name = f"{cell.suite} on {cell.place[0]}"
    out.print(safe(name, "bold"), safe(level(cell)), soft_wrap=True)
    for metric, figure in cell.metrics.items():
        told = f"  {metric}: {value(figure.estimate.value, figure.unit)} ({span(figure.estimate, figure.unit)})"
        out.print(safe(told, "dim"), soft_wrap=True)
    if cell.withheld:
        out.print(
            safe(f"  {count(cell.withheld, 'trial')} of sealed or dev roles: run, not shown", "dim"), soft_wrap=True
        )
    spent = f"  {seconds(run.record.seconds)}, run {run.record.key}"
    out.print(safe(spent if run.record.complete else f"{spent}, not complete", "dim"), soft_wrap=True)


def level(cell: Cell) -> str:
    """`41.3% (36.1 to 46.5), 320 samples, 160 clusters, 3 unscored`."""
    if cell.figure is None:
        return f"nothing scored of {count(sum(cell.counts.values()), 'trial')}"
    estimate, unit = cell.figure.estimate, cell.figure.unit
    parts = [
        f"{value(estimate.value, unit)} ({span(estimate, unit)})",
        count(estimate.n, "sample"),
        count(estimate.clusters, "cluster"),
    ]
    if cell.unscored and cell.as_zero:
        parts.append(f"{cell.unscored:,} unscored ({value(cell.as_zero.estimate.value, unit)} if they count as 0)")
    elif cell.unscored:
        parts.append(f"{cell.unscored:,} unscored")
    return ", ".join(parts)


def show(overview: Overview, to: Console | None = None) -> None:
    """Print the outcome, the matrix and the differences."""
    out = to or console()
    verdict = overview.verdict
    if verdict is not None:
        out.print(decision(verdict.decision, verdict.improved))
    out.print(safe(headline(overview)), soft_wrap=True)
    out.print()
    out.print(matrix(overview))
    if overview.differences:
        out.print()
        out.print(differences(overview.differences))


def decision(found: Decision, improved: bool = False) -> Text:
    """The verdict's word with its shape and colour."""
    return Text(f"{MARKS[found]} {found}{' ▲ IMPROVED' if improved else ''}", style=f"bold {STYLES[found]}")


def matrix(overview: Overview) -> Table:
    """Checkpoints by suites, newest checkpoint first."""
    table = _table("Checkpoint", *overview.suites)
    for place in overview.places:
        cells = [overview.cells.get((place, suite)) for suite in overview.suites]
        table.add_row(safe(overview.label(place)), *(_cell(cell) for cell in cells))
    return table


def differences(rows: tuple[Difference, ...]) -> Table:
    """Candidate minus baseline, a row each."""
    table = _table("Suite", "Baseline", "Candidate", "Difference", "Interval", "Samples / clusters", "Verdict")
    for row in rows:
        mark = decision(row.finding.decision, row.finding.improved) if row.finding else Text("not gated", style="dim")
        if row.difference is None:
            table.add_row(safe(row.label), "", "", safe(row.note or "no figure"), "", "", mark)
            continue
        table.add_row(
            safe(row.label),
            value(row.baseline.value, row.unit) if row.baseline else "",
            value(row.candidate.value, row.unit) if row.candidate else "",
            change(row.difference.value, row.unit),
            change_span(row.difference, row.unit),
            f"{row.difference.n:,} / {row.difference.clusters:,}",
            mark,
        )
    return table


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(safe(name), overflow="fold")
    return table


def _cell(cell: Cell | None) -> Text:
    if cell is None:
        return Text("not run", style="dim")
    if cell.figure is None:
        return Text("nothing scored", style="yellow")
    estimate, unit = cell.figure.estimate, cell.figure.unit
    text = Text(value(estimate.value, unit), style="bold")
    text.append(f"  {span(estimate, unit)}", style="not bold dim")
    if cell.unscored:
        text.append(f"  △ {cell.unscored:,} unscored", style="not bold yellow")
    if not cell.record.complete:
        text.append("  △ not complete", style="not bold yellow")
    return text
