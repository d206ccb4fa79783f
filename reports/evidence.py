"""The page's lower half: what was not scored, earlier verdicts, and how the runs were made."""

from .cells import Cell
from .figures import Difference, Overview
from .markup import Markup, el, join
from .parts import ROWS, number, section, word
from .provenance import rows as provenance_rows
from .words import Unit, moment, points, value


def unscored(overview: Overview) -> Markup:
    """Trials by status, and the figures with what was not scored left out, counted as 0, and in the worst case."""
    rows = [_missing_row(d) for d in overview.differences if d.finding and d.finding.missing]
    counts = [_counts_row(overview, cell) for cell in _pair_or_all(overview)]
    head = el("tr", *(el("th", t, scope="col") for t in ("Run", "Trials", "Not scored", "Left out", "Counted as 0")))
    table = el("div", el("table", el("thead", head), el("tbody", *counts)), class_="scroll")
    note = (
        "A trial that failed for reasons that are not the model's is never a 0 in the figures above. "
        "Here is what it could hide: left out, counted as 0, and in the worst case."
    )
    worst = None
    if rows:
        titles = ("Difference", "Left out", "Counted as 0", "Worst case", "Coverage", "Errors, baseline / candidate")
        line = el("tr", *(el("th", t, scope="col", class_="n" if i else None) for i, t in enumerate(titles)))
        worst = el("div", el("table", el("thead", line), el("tbody", *rows)), class_="scroll")
    return section("What was not scored", note, table, worst)


def _pair_or_all(overview: Overview) -> tuple[Cell, ...]:
    return overview.pair or tuple(overview.cells[key] for key in sorted(overview.cells))


def _counts_row(overview: Overview, cell: Cell) -> Markup:
    counts = ", ".join(f"{number:,} {status.replace('_', ' ')}" for status, number in cell.counts.items())
    plain, zero = cell.figure, cell.as_zero or cell.figure
    hidden = f"{cell.withheld:,} of sealed or dev roles not shown" if cell.withheld else None
    return el(
        "tr",
        el("th", cell.suite, el("small", overview.label(cell.place)), scope="row"),
        el("td", counts or "none", el("small", hidden) if hidden else None),
        el("td", f"{cell.unscored:,}"),
        el("td", value(plain.estimate.value, plain.unit) if plain else "–"),
        el("td", value(zero.estimate.value, zero.unit) if zero else "–"),
    )


def _missing_row(row: Difference) -> Markup:
    assert row.finding is not None
    found = row.finding
    figures = [
        number(points(found.missing[key], found.unit) if key in found.missing else "–")
        for key in ("left_out", "zero", "worst")
    ]
    errors = " / ".join(value(found.errors.get(side, 0.0), Unit.SHARE) for side in ("baseline", "candidate"))
    coverage = "–" if found.coverage is None else value(found.coverage, Unit.SHARE)
    return el(
        "tr", el("th", row.label, scope="row"), *figures, number(coverage), number(errors if found.errors else "–")
    )


def history(overview: Overview) -> Markup | None:
    """Every verdict, newest first; None where there is only the one above."""
    if len(overview.history) < 2:
        return None
    rows = [
        el(
            "tr",
            el("td", moment(v.created), class_="n"),
            el("td", word(v), class_=f"v-{v.decision.lower()}"),
            el("th", v.candidate, scope="row"),
            el("td", v.baseline),
        )
        for v in overview.history[:ROWS]
    ]
    head = el(
        "tr",
        *(
            el("th", t, scope="col", class_="n" if t == "Judged" else None)
            for t in ("Judged", "Verdict", "Candidate", "Baseline")
        ),
    )
    return section("Verdicts", "", el("div", el("table", el("thead", head), el("tbody", *rows)), class_="scroll"))


def made(overview: Overview) -> Markup:
    """Keys, digests, engine and sampling of the runs compared."""
    blocks = []
    for cell in _pair_or_all(overview):
        pairs = [join(el("dt", key), el("dd", el("code", text))) for key, text in provenance_rows(cell.record)]
        blocks.append(join(el("h3", f"{cell.suite} on {overview.label(cell.place)}"), el("dl", *pairs)))
    note = "Runs with one key are one run: the key is the digest of everything here that could change a score."
    return section("How it was made", note, *blocks)
