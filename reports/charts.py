"""Plots as inline SVG: no script, no fonts, no links; read in light and dark, and by a screen reader.

Colours are CSS variables (`style.PALETTE`), so a chart takes those of the page it stands in. Every
chart carries a title and a description that say in words what it shows, and every mark a `<title>`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from evalctl.gate.verdict import Decision
from evalctl.types import Estimate

from .cells import Cell
from .figures import Difference
from .markup import Markup, el, join
from .words import Unit, change, change_span, count, points, short, span, value

GLYPH = 6.7
"""Width of an average character of the 12 px system font, in px: text is cut to fit, never squeezed."""


@dataclass(frozen=True)
class Scale:
    """Data to px on one axis."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, number: float) -> float:
        """The place of `number`; what lies outside is drawn at the edge."""
        inside = min(max(number, self.low), self.high)
        return self.start + (inside - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, wanted: int = 5) -> list[float]:
        """Round numbers in the range, at most about `wanted`."""
        rough = (self.high - self.low) / wanted
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(i * step, 12) for i in range(first, last + 1)]


def strip(estimate: Estimate, unit: Unit, ident: str) -> Markup:
    """One level and its interval on 0 to 100%, small: what stands in a cell of the matrix."""
    scale = Scale(0.0, 1.0, 3, 117)
    low, high, mid = scale(estimate.low), scale(estimate.high), scale(estimate.value)
    return _svg(
        (120, 12),
        ident,
        f"{value(estimate.value, unit)}",
        f"interval {span(estimate, unit)} on an axis from 0 to 100%",
        el("line", class_="axis", x1=3, x2=117, y1=6.0, y2=6.0),
        el("rect", class_="band", x=low, y=3.5, width=max(high - low, 1.0), height=5, rx=2.5),
        el("circle", class_="dot", cx=mid, cy=6, r=3),
        class_="strip",
    )


def forest(rows: Sequence[Difference], ident: str, width: int = 720) -> Markup:
    """Candidate minus baseline with its interval, a row each, the allowed fall shaded.

    Below 560 px the label stands over its interval instead of beside it. Rows without a figure say why.
    """
    narrow = width < 560
    left, right = (18, width - 18) if narrow else (round(width * 0.30), round(width * 0.70))
    height = 58 if narrow else 40
    scale = _around_zero(rows, left, right)
    unit = rows[0].unit if rows else Unit.SHARE
    top = 30
    foot = top + height * len(rows)
    body = [_forest_axis(scale, top, foot, unit)]
    for i, row in enumerate(rows):
        middle = top + height * i + (height - 16 if narrow else height // 2)
        body.append(_forest_row(row, scale, middle, (width, narrow, height)))
    told = "; ".join(f"{row.label}: {_told(row)}" for row in rows)
    return _svg(
        (width, foot + 26),
        ident,
        "Candidate minus baseline",
        f"Each interval against zero and against the fall that is allowed. {told}.",
        *body,
    )


def _told(row: Difference) -> str:
    if row.difference is None:
        return row.note or "no figure"
    decision = f", {row.finding.decision}" if row.finding else ""
    return f"{points(row.difference.value, row.unit)} ({change_span(row.difference, row.unit)}){decision}"


def _around_zero(rows: Sequence[Difference], left: float, right: float) -> Scale:
    edges = [0.0]
    for row in rows:
        if row.difference is not None:
            edges += [row.difference.low, row.difference.high]
        if row.finding and row.finding.max_drop is not None:
            edges.append(-row.finding.max_drop)
    finite = [edge for edge in edges if math.isfinite(edge)]
    low, high = min(finite), max(finite)
    room = max((high - low) * 0.08, 0.005)
    return Scale(low - room, high + room, left, right)


def _forest_axis(scale: Scale, top: int, foot: int, unit: Unit) -> Markup:
    ticks = scale.ticks(5)
    lines = [
        join(
            el("line", class_="zero" if tick == 0 else "grid", x1=scale(tick), x2=scale(tick), y1=top, y2=foot),
            _text(scale(tick), foot + 17, change(tick, unit), "tick", "middle"),
        )
        for tick in ticks
    ]
    zero = scale(0.0)
    sides = [
        _text(zero - 8, 16, "← worse", "tick", "end") if zero - scale.start > 60 else None,
        _text(zero + 8, 16, "better →", "tick", "start") if scale.end - zero > 60 else None,
    ]
    return join(*lines, *sides)


def _forest_row(row: Difference, scale: Scale, middle: float, shape: tuple[int, bool, int]) -> Markup:
    width, narrow, height = shape
    decision = row.finding.decision if row.finding else None
    margin = row.finding.max_drop if row.finding else None
    label_y = middle - 22 if narrow else middle + 4
    room = int((width * 0.52 if narrow else scale.start - 20) / GLYPH)
    said = _said(row)
    return el(
        "g",
        el("title", f"{row.label}: {_told(row)}"),
        _margin(scale, margin, middle, 22 if narrow else height - 4),
        _text(8, label_y, short(row.label, room), "label", "start"),
        None if row.difference is None else _interval(row.difference, scale, middle, decision, row),
        _text(width - 8, label_y, said, "figure" if row.difference else "tick", "end"),
    )


def _said(row: Difference) -> str:
    if row.difference is None:
        return "no figure"
    return f"{change(row.difference.value, row.unit)}  [{change_span(row.difference, row.unit)}]"


def _margin(scale: Scale, margin: float | None, middle: float, height: float) -> Markup | None:
    if margin is None:
        return None
    edge = scale(-margin)
    return join(
        el("rect", class_="beyond", x=scale.start, y=middle - height / 2, width=edge - scale.start, height=height),
        el("line", class_="margin", x1=edge, x2=edge, y1=middle - height / 2, y2=middle + height / 2),
    )


def _interval(estimate: Estimate, scale: Scale, y: float, decision: Decision | None, row: Difference) -> Markup:
    low, high = scale(estimate.low), scale(estimate.high)
    tone = decision.lower() if decision else "none"
    improved = bool(row.finding and row.finding.improved)
    return el(
        "g",
        el("line", class_="whisker", x1=low, x2=high, y1=y, y2=y),
        el("line", class_="whisker", x1=low, x2=low, y1=y - 4, y2=y + 4),
        el("line", class_="whisker", x1=high, x2=high, y1=y - 4, y2=y + 4),
        _mark(scale(estimate.value), y, decision, improved),
        class_=f"v-{tone}",
    )


def _mark(x: float, y: float, decision: Decision | None, improved: bool) -> Markup:
    """A shape of its own for every outcome, so that colour only repeats what the shape says."""
    if improved:
        return _polygon("mark", [(x, y - 6), (x + 6, y + 4.5), (x - 6, y + 4.5)])
    if decision is Decision.REGRESSED:
        return _polygon("mark", [(x, y + 6), (x + 6, y - 4.5), (x - 6, y - 4.5)])
    if decision is Decision.INCONCLUSIVE:
        return _polygon("mark hollow", [(x, y - 6), (x + 6, y), (x, y + 6), (x - 6, y)])
    if decision is Decision.INVALID:
        path = f"M{x - 5:.1f} {y - 5:.1f}l10 10m0 -10l-10 10"
        return el("path", class_="cross", d=path)
    return el("circle", class_="mark", cx=x, cy=y, r=5)


def _polygon(kind: str, corners: Sequence[tuple[float, float]]) -> Markup:
    return el("polygon", class_=kind, points=" ".join(f"{x:.1f},{y:.1f}" for x, y in corners))


def timeline(suite: str, line: Sequence[tuple[str, Cell]], ident: str, width: int = 340) -> Markup:
    """One suite over its checkpoints, oldest left; `line` is (label, cell) in that order.

    Even steps, not calendar time. The line breaks where the suite's version changes, because figures on
    two sides of such a change do not compare; a hollow point is a run that is not complete.
    """
    drawn = [(label, cell) for label, cell in line if cell.figure is not None]
    figures = [cell.figure for _, cell in drawn if cell.figure is not None]
    unit = figures[0].unit if figures else Unit.SHARE
    across = Scale(0, max(len(drawn) - 1, 1), 52, width - 18)
    up = _levels([figure.estimate for figure in figures], unit)
    grid = [
        join(
            el("line", class_="grid", x1=44, x2=width - 8, y1=up(tick), y2=up(tick)),
            _text(38, up(tick) + 4, value(tick, unit), "tick", "end"),
        )
        for tick in up.ticks(4)
    ]
    placed = [
        (across(i) if len(drawn) > 1 else (across.start + across.end) / 2, label, cell)
        for i, (label, cell) in enumerate(drawn)
    ]
    marks = [_moment(x, up, label, cell) for x, label, cell in placed]
    told = "; ".join(
        f"{label} {value(cell.figure.estimate.value, unit)} ({span(cell.figure.estimate, unit)})"
        for label, cell in drawn
        if cell.figure
    )
    return _svg(
        (width, 190),
        ident,
        f"{suite} over {count(len(drawn), 'checkpoint')}",
        f"Oldest first: {told or 'nothing scored'}.",
        *grid,
        *_joined(placed, up),
        *marks,
        *_ends(placed, width),
    )


def _levels(estimates: Sequence[Estimate], unit: Unit) -> Scale:
    edges = [edge for e in estimates for edge in (e.low, e.value, e.high) if math.isfinite(edge)] or [0.0, 1.0]
    low, high = min(edges), max(edges)
    room = max((high - low) * 0.1, 0.01)
    low, high = low - room, high + room
    if unit is Unit.SHARE:
        low, high = max(low, 0.0), min(high, 1.0)
    return Scale(low, high, 148, 14)


def _joined(placed: Sequence[tuple[float, str, Cell]], up: Scale) -> list[Markup]:
    lines = []
    for (x1, _, one), (x2, _, two) in pairwise(placed):
        same = one.record.suite.get("digest") == two.record.suite.get("digest")
        if same and one.figure and two.figure:
            y1, y2 = up(one.figure.estimate.value), up(two.figure.estimate.value)
            lines.append(el("line", class_="run", x1=x1, x2=x2, y1=y1, y2=y2))
    return lines


def _moment(x: float, up: Scale, label: str, cell: Cell) -> Markup | None:
    if cell.figure is None:
        return None
    estimate, unit = cell.figure.estimate, cell.figure.unit
    partial = "" if cell.record.complete else ", not complete"
    return el(
        "g",
        el("title", f"{label}: {value(estimate.value, unit)} ({span(estimate, unit)}){partial}"),
        el("line", class_="whisker", x1=x, x2=x, y1=up(estimate.low), y2=up(estimate.high)),
        el("circle", class_="mark" if cell.record.complete else "mark hollow", cx=x, cy=up(estimate.value), r=4.5),
        class_="v-none",
    )


def _ends(placed: Sequence[tuple[float, str, Cell]], width: int) -> list[Markup]:
    """Names of the first and the last checkpoint; those between show theirs on hovering, and in the matrix."""
    if not placed:
        return [_text(width / 2, 90, "nothing scored", "tick", "middle")]
    if len(placed) == 1:
        return [_text(width / 2, 172, short(placed[0][1], 40), "tick", "middle")]
    room = int((width / 2 - 16) / GLYPH)
    first, last = placed[0][1], placed[-1][1]
    return [
        _text(44, 172, short(first, room), "tick", "start"),
        _text(width - 8, 172, short(last, room), "tick", "end"),
    ]


def _text(x: float, y: float, text: str, kind: str, anchor: str) -> Markup:
    return el("text", text, class_=kind, x=float(x), y=float(y), text_anchor=anchor)


def _svg(
    size: tuple[int, int], ident: str, title: str, description: str, *body: object, class_: str = "chart"
) -> Markup:
    width, height = size
    return el(
        "svg",
        el("title", title, id=f"{ident}-t"),
        el("desc", description, id=f"{ident}-d"),
        *body,
        xmlns="http://www.w3.org/2000/svg",
        class_=class_,
        role="img",
        aria_labelledby=f"{ident}-t {ident}-d",
        viewbox=f"0 0 {width} {height}",
        width=width,
        height=height,
    )
