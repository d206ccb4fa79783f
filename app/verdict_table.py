"""A verdict in the terminal: one table, then the reasons, every text shown as itself."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from reports.verdicts import FindingView, VerdictView
from reports.words import MEANING, change, change_span, value

from .present import console, safe
from .tables import STYLES, decision

COLUMNS = ("Suite", "Tier", "Verdict", "Baseline", "Candidate", "Difference", "Bounds", "Margin", "Samples", "Clusters")


def show_verdict(verdict: VerdictView, to: Console | None = None) -> None:
    """Print the verdict's word, a row a finding, and every finding's reasons."""
    out = to or console()
    word = decision(verdict.decision, verdict.improved)
    out.print(word, safe(f"({MEANING[verdict.decision]}), exit status {verdict.exit}"), soft_wrap=True)
    out.print(safe(f"{verdict.candidate} against {verdict.baseline}"), soft_wrap=True)
    out.print()
    out.print(_table(verdict))
    for finding in verdict.findings:
        for line in finding.reasons:
            out.print(safe(f"{finding.label}: ", "bold"), safe(line), sep="", soft_wrap=True)
        if finding.not_recorded:
            names = ", ".join(finding.not_recorded)
            out.print(safe(f"{finding.label}: ", "bold"), safe(f"not recorded on either side: {names}", "dim"), sep="")
    for look in verdict.ledger.get("looks", ()):
        told = f"sealed look {look['number']} of {look['budget']} at {look['suite']}"
        out.print(safe(f"{told}{' (refused)' if look['refused'] else ''}"), soft_wrap=True)


def _table(verdict: VerdictView) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in COLUMNS:
        table.add_column(name, overflow="fold")
    for finding in verdict.findings:
        table.add_row(*_row(finding))
    return table


def _row(finding: FindingView) -> list[Text | str]:
    unit = finding.unit
    levels = [value(e.value, unit) if e else "" for e in (finding.baseline, finding.candidate)]
    found = finding.difference
    margin = "" if finding.max_drop is None else change(-finding.max_drop, unit)
    mark = safe(f"{finding.decision}{' IMPROVED' if finding.improved else ''}", STYLES[finding.decision])
    row: list[Text | str] = [safe(finding.label), finding.tier, mark, *levels]
    if found is None:
        return [*row, "", "", margin, "", ""]
    return [*row, change(found.value, unit), change_span(found, unit), margin, f"{found.n:,}", f"{found.clusters:,}"]
