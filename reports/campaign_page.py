"""A campaign as a section of the page: what happened, the gains, the conditions, what moved elsewhere, the data."""

from . import charts
from .campaign import HELD, TONES, CampaignView, Moved, State, counts, headline, plain_figures, remarks
from .figures import Difference
from .markup import Markup, el, join
from .parts import number, section
from .words import change, change_span, moment, value

HELD_TONE = {True: "pass", False: "regressed", None: "none"}
BOUNDS = (
    "In points, better right. One-sided bounds, those that decide: a gain counts when its lower bound is above 0. "
    "A fold is measured by a model that has not seen it; sealed samples by the checkpoint itself."
)
ELSEWHERE = (
    "Every family that was measured, trained or not; two-sided 95% intervals by cluster. "
    "Small groups, many looks: places to look, not findings."
)


def campaign(view: CampaignView, ident: str = "campaign") -> Markup:
    """The whole section; `ident` keeps the names of its plots apart from those of another one."""
    return section(
        "Training on failures",
        "",
        card(view),
        _gains(view, ident),
        _conditions(view),
        _moved(view),
        _data(view),
        _stages(view),
        _made(view),
    )


def card(view: CampaignView) -> Markup:
    """How the campaign stands, in one sentence with its figures."""
    return el(
        "div",
        el("span", view.word, class_="word"),
        el("p", headline(view), class_="say"),
        bar(view),
        *(el("p", line, class_="more warn" if line.startswith("△") else "more") for line in remarks(view)),
        el("p", _when(view), class_="more"),
        class_=f"verdict v-{TONES[view.state]}",
    )


def _when(view: CampaignView) -> str:
    told = "Ended" if view.exit is not None else "Begun"
    status = f", exit status {view.exit}" if view.exit is not None else ""
    seen = f", last seen {moment(view.doing.updated)}" if view.doing and view.doing.updated else ""
    return f"Campaign {view.id}. {told} {moment(view.created)}{status}{seen}."


def bar(view: CampaignView) -> Markup | None:
    """How far the stage or run is that goes on now; None where none does."""
    doing = view.doing
    if doing is None or view.state is not State.RUNNING or doing.total <= 0:
        return None
    share = min(max(doing.done / doing.total, 0.0), 1.0)
    return el(
        "div",
        el("span", style=f"width:{share * 100:.1f}%"),
        class_="going",
        role="progressbar",
        aria_valuenow=doing.done,
        aria_valuemin=0,
        aria_valuemax=doing.total,
    )


def _gains(view: CampaignView, ident: str) -> Markup | None:
    if not view.gains:
        return None
    drawn = [row for row in view.gains if row.difference is not None]
    plots = el(
        "div",
        el("div", charts.forest(drawn, f"{ident}-w", 1040), class_="wide"),
        el("div", charts.forest(drawn, f"{ident}-n", 360), class_="narrow"),
    )
    head = ("Measured on", "Baseline", "Candidate", "Gain", "Bounds", "Samples / clusters")
    rows = [el("tr", el("th", row.label, scope="row"), *_figures(row)) for row in view.gains]
    return join(
        el("h3", "Gain on held-out evidence"),
        el("p", BOUNDS, class_="note"),
        plots if drawn else None,
        _table(head, rows, range(1, 6)),
    )


def _figures(row: Difference) -> list[Markup]:
    if row.difference is None:
        return [el("td", row.note or "no figure", colspan=5)]
    found = row.difference
    return [
        number(value(row.baseline.value, row.unit) if row.baseline else "–"),
        number(value(row.candidate.value, row.unit) if row.candidate else "–"),
        number(el("strong", change(found.value, row.unit))),
        number(change_span(found, row.unit)),
        number(f"{found.n:,} / {found.clusters:,}"),
    ]


def _conditions(view: CampaignView) -> Markup | None:
    if not view.conditions:
        return None
    rows = [
        el(
            "tr",
            el("th", one.name, scope="row"),
            el("td", el("span", HELD[one.held], class_="word"), class_=f"v-{HELD_TONE[one.held]}"),
            el("td", one.text),
        )
        for one in view.conditions
    ]
    note = "In the order in which they are judged; all must hold. The first that does not is the reason."
    return join(
        el("h3", "Conditions of promotion"),
        el("p", note, class_="note"),
        _table(("Condition", "", "Figure"), rows),
    )


def _moved(view: CampaignView) -> Markup | None:
    if not view.moved:
        return None
    head = ("Family", "Role", "Trained", "Baseline", "Candidate", "Difference", "Interval", "Samples / clusters")
    return join(
        el("h3", "What moved elsewhere"),
        el("p", ELSEWHERE, class_="note"),
        _table(head, [_moved_row(one) for one in view.moved], range(3, 8)),
    )


def _moved_row(one: Moved) -> Markup:
    name = el("th", one.row.label, scope="row")
    return el("tr", name, el("td", one.role), el("td", "trained" if one.trained else "–"), *_figures(one.row))


def _data(view: CampaignView) -> Markup | None:
    if not view.screened and not view.data:
        return None
    rows = [
        el(
            "tr",
            el("th", suite, scope="row"),
            number(f"{passed:,}"),
            el("td", failed or "none"),
            el("td", left or "none"),
        )
        for suite, passed, failed, left in view.screened
    ]
    pairs = [join(el("dt", name), el("dd", told)) for name, told in view.data]
    return join(
        el("h3", "Data"),
        _table(("Pool of", "Passed", "Failed, by kind", "Left out, not the model's fault"), rows, range(1, 2)),
        el("dl", *pairs) if pairs else None,
    )


def _stages(view: CampaignView) -> Markup | None:
    if not view.stages:
        return None
    rows = [
        el(
            "tr",
            el("th", one.name, scope="row"),
            number(f"{one.steps:,}"),
            number(f"{one.rows:,}"),
            number(f"{one.tokens:,}"),
            el("td", counts(one.left_out) or "none"),
            el("td", plain_figures(one.figures) or "–"),
        )
        for one in view.stages
    ]
    head = ("Stage", "Steps", "Rows", "Trained tokens", "Left out", "Figures")
    return join(el("h3", "Stages"), _table(head, rows, range(1, 4)))


def _made(view: CampaignView) -> Markup:
    pairs = [join(el("dt", name), el("dd", el("code", told))) for name, told in view.made]
    return join(el("h3", "What the campaign was made from"), el("dl", *pairs))


def _table(head: tuple[str, ...], rows: list[Markup], right: range = range(0)) -> Markup | None:
    """A table whose columns in `right` are set to the right; None without rows."""
    if not rows:
        return None
    titles = [el("th", text, scope="col", class_="n" if i in right else None) for i, text in enumerate(head)]
    return el("div", el("table", el("thead", el("tr", *titles)), el("tbody", *rows)), class_="scroll")
