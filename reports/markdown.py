"""The same page as Markdown, for a pull request or a terminal."""

from . import campaign_markdown, sentences
from .cells import Cell
from .figures import Difference, Overview
from .marked import row as _row
from .marked import safe
from .provenance import rows as provenance_rows
from .words import MARKS, change, change_span, count, moment, points, span, value


def page(overview: Overview, created: str) -> str:
    """The whole report."""
    title = "evalctl report" if overview.candidate is None else f"{overview.candidate} against {overview.baseline}"
    parts = [
        f"# {safe(title)}",
        _verdict(overview),
        _matrix(overview),
        _table("Candidate minus baseline", _bounds(overview), overview.differences),
        campaign_markdown.campaign(overview.campaign) if overview.campaign else "",
        _table("Further metrics", "Two-sided 95% intervals.", overview.metrics),
        _table("By family", "Small groups, many looks: places to look, not findings.", overview.families, suite=True),
        _unscored(overview),
        _made(overview),
        f"Written by evalctl, {moment(created)}.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _verdict(overview: Overview) -> str:
    sentence = safe(sentences.headline(overview))
    verdict = overview.verdict
    if verdict is None:
        return sentence
    better = " ▲ IMPROVED" if verdict.improved else ""
    lines = [f"- {safe(f'{f.decision} {sentences.finding(f)}')}" for f in verdict.findings]
    return "\n".join([f"**{MARKS[verdict.decision]} {verdict.decision}{better}.** {sentence}", "", *lines])


def _matrix(overview: Overview) -> str:
    head = _row(["Checkpoint", *overview.suites])
    rule = "|---" * (len(overview.suites) + 1) + "|"
    body = [
        _row([overview.label(place), *(_cell(overview.cells.get((place, s))) for s in overview.suites)])
        for place in overview.places
    ]
    note = "Two-sided 95% intervals by cluster; newest run of each."
    return "\n".join(["## Checkpoints and suites", "", note, "", head, rule, *body])


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return "not run"
    if cell.figure is None:
        return "nothing scored"
    figure, unit = cell.figure.estimate, cell.figure.unit
    marks = "" if cell.record.complete else ", not complete"
    marks += f", {cell.unscored} unscored" if cell.unscored else ""
    return f"{value(figure.value, unit)} ({span(figure, unit)}; n {figure.n}, {figure.clusters} clusters{marks})"


def _bounds(overview: Overview) -> str:
    return "The gate's one-sided bounds." if overview.verdict else "Two-sided 95% intervals; not gated."


def _table(heading: str, note: str, rows: tuple[Difference, ...], suite: bool = False) -> str:
    if not rows:
        return ""
    head = _row(["", "Baseline", "Candidate", "Difference", "Interval", "n", "Clusters", "Verdict"])
    body = [_difference(row, f"{row.suite} · {row.label}" if suite else row.label) for row in rows]
    return "\n".join([f"## {heading}", "", note, "", head, "|---|--:|--:|--:|--:|--:|--:|---|", *body])


def _difference(row: Difference, label: str) -> str:
    decision = f"{MARKS[row.finding.decision]} {row.finding.decision}" if row.finding else ""
    if row.difference is None:
        return _row([label, "", "", row.note or "no figure", "", "", "", decision])
    return _row(
        [
            label,
            value(row.baseline.value, row.unit) if row.baseline else "–",
            value(row.candidate.value, row.unit) if row.candidate else "–",
            change(row.difference.value, row.unit),
            change_span(row.difference, row.unit),
            f"{row.difference.n:,}",
            f"{row.difference.clusters:,}",
            decision,
        ]
    )


def _unscored(overview: Overview) -> str:
    lines = [
        f"- {safe(f'{cell.suite} on {overview.label(cell.place)}')}: {count(cell.unscored, 'trial')} not scored; "
        f"left out {_level(cell, zero=False)}, counted as 0 {_level(cell, zero=True)}"
        for cell in overview.cells.values()
        if cell.unscored
    ]
    for row in overview.differences:
        if row.finding and row.finding.missing:
            figures = ", ".join(f"{k.replace('_', ' ')} {points(v, row.unit)}" for k, v in row.finding.missing.items())
            lines.append(f"- {safe(row.label)}: {figures}")
    return "\n".join(["## What was not scored", "", *(lines or ["Every trial was scored."])])


def _level(cell: Cell, zero: bool) -> str:
    figure = (cell.as_zero or cell.figure) if zero else cell.figure
    return value(figure.estimate.value, figure.unit) if figure else "–"


def _made(overview: Overview) -> str:
    cells = overview.pair or tuple(overview.cells.values())
    lines = []
    for cell in cells:
        told = "; ".join(f"{key} {text}" for key, text in provenance_rows(cell.record))
        lines.append(f"- **{safe(f'{cell.suite} on {overview.label(cell.place)}')}**: {safe(told)}")
    return "\n".join(["## How it was made", "", *lines])
