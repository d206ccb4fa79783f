"""A campaign as Markdown: the same figures as the section of the page."""

from .campaign import HELD, CampaignView, counts, headline, plain_figures, remarks
from .figures import Difference
from .marked import safe, table
from .words import change, change_span, moment, value


def campaign(view: CampaignView) -> str:
    """The whole section."""
    parts = [
        "## Training on failures",
        f"**{view.word}.** {safe(headline(view))}",
        _lines(view),
        _gains(view),
        _conditions(view),
        _moved(view),
        _data(view),
    ]
    return "\n\n".join(part for part in parts if part)


def _lines(view: CampaignView) -> str:
    status = f", exit status {view.exit}" if view.exit is not None else ""
    found = [*remarks(view), f"Campaign {view.id}, {moment(view.created)}{status}"]
    return "\n".join(f"- {safe(line)}" for line in found)


def _gains(view: CampaignView) -> str:
    if not view.gains:
        return ""
    head = ("Measured on", "Baseline", "Candidate", "Gain", "One-sided bounds", "n", "Clusters")
    rows = [(row.label, *difference(row)) for row in view.gains]
    return "### Gain on held-out evidence\n\n" + table(head, "|---|--:|--:|--:|--:|--:|--:|", rows)


def difference(row: Difference) -> tuple[str, ...]:
    """Baseline, candidate, difference, interval, samples, clusters."""
    if row.difference is None:
        return ("", "", row.note or "no figure", "", "", "")
    found = row.difference
    return (
        value(row.baseline.value, row.unit) if row.baseline else "–",
        value(row.candidate.value, row.unit) if row.candidate else "–",
        change(found.value, row.unit),
        change_span(found, row.unit),
        f"{found.n:,}",
        f"{found.clusters:,}",
    )


def _conditions(view: CampaignView) -> str:
    if not view.conditions:
        return ""
    rows = [(one.name, HELD[one.held], one.text) for one in view.conditions]
    return "### Conditions of promotion\n\n" + table(("Condition", "", "Figure"), "|---|---|---|", rows)


def _moved(view: CampaignView) -> str:
    if not view.moved:
        return ""
    head = ("Family", "Role", "Trained", "Baseline", "Candidate", "Difference", "Interval", "n", "Clusters")
    rows = [(one.row.label, one.role, "trained" if one.trained else "–", *difference(one.row)) for one in view.moved]
    rule = "|---|---|---|--:|--:|--:|--:|--:|--:|"
    note = "Two-sided 95% intervals. Small groups, many looks: places to look, not findings."
    return f"### What moved elsewhere\n\n{note}\n\n{table(head, rule, rows)}"


def _data(view: CampaignView) -> str:
    if not view.screened and not view.data and not view.stages:
        return ""
    lines = [
        f"Pool of {suite}: {passed:,} passed; failed: {failed or 'none'}; left out: {left or 'none'}"
        for suite, passed, failed, left in view.screened
    ]
    lines += [f"{name}: {told}" for name, told in view.data]
    lines += [
        f"{one.name}: {one.steps:,} steps, {one.rows:,} rows, {one.tokens:,} trained tokens; "
        f"left out: {counts(one.left_out) or 'none'}; {plain_figures(one.figures) or 'no further figure'}"
        for one in view.stages
    ]
    lines += [f"{name}: {told}" for name, told in view.made]
    return "### Data and stages\n\n" + "\n".join(f"- {safe(line)}" for line in lines)
