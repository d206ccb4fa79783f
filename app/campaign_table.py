"""A campaign in the terminal: what happened, the gains, what moved elsewhere, the conditions, the verdict."""

from collections.abc import Iterable, Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evalctl.types import Json
from reports.campaign import HELD, CampaignView, State, headline, remarks
from reports.campaign_markdown import difference
from reports.campaign_record import read

from .present import console, safe

STYLES = {
    State.PROMOTED: "bold green",
    State.REFUSED: "bold red",
    State.STOPPED: "bold magenta",
    State.RUNNING: "bold blue",
    State.INTERRUPTED: "bold yellow",
}
HELD_STYLES = {True: "green", False: "red", None: "dim"}
FIGURES = ("Baseline", "Candidate", "Difference", "Interval", "Samples", "Clusters")


def show_campaign(record: Mapping[str, Json], to: Console | None = None) -> None:
    """Print a campaign's record; raises EvidenceError where it is none."""
    view, out = read(record), to or console()
    out.print(Text(view.word, style=STYLES[view.state]), safe(headline(view)), soft_wrap=True)
    for line in _lines(view):
        out.print(safe(line), soft_wrap=True)
    if view.gains:
        _say(out, "Gain on held-out evidence (one-sided bounds, those that decide)")
        out.print(_table(("Measured on", *FIGURES), ((row.label, *difference(row)) for row in view.gains)))
    if view.moved:
        _say(out, "What moved elsewhere (two-sided 95% intervals; places to look, not findings)")
        rows = ((m.row.label, m.role, "trained" if m.trained else "", *difference(m.row)) for m in view.moved)
        out.print(_table(("Family", "Role", "", *FIGURES), rows))
    if view.conditions:
        _say(out, "Conditions of promotion, in order")
        out.print(_conditions(view))


def _say(out: Console, text: str) -> None:
    out.print()
    out.print(safe(text, "bold"), soft_wrap=True)


def _lines(view: CampaignView) -> list[str]:
    found = []
    for suite, passed, failed, left in view.screened:
        lost = f"; left out: {left}" if left else ""
        found.append(f"screened {suite}: {passed:,} passed; failed: {failed or 'none'}{lost}")
    found += ["; ".join(f"{name}: {told}" for name, told in view.data)] if view.data else []
    status = f", exit status {view.exit}" if view.exit is not None else ""
    return [*remarks(view), *found, f"campaign {view.id}{status}"]


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in head:
        table.add_column(name, overflow="fold")
    for cells in rows:
        table.add_row(*(safe(cell) for cell in cells))
    return table


def _conditions(view: CampaignView) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    for one in view.conditions:
        table.add_row(safe(HELD[one.held], HELD_STYLES[one.held]), safe(one.name), safe(one.text))
    return table
