"""One self-contained HTML file: no script, no link, nothing loaded; a strict content policy says so."""

from evalctl.types import Estimate

from . import charts, style
from .figures import Cell, Difference, Overview, Place
from .markup import Markup, el, join
from .provenance import rows as provenance_rows
from .sentences import finding, headline
from .verdicts import VerdictView
from .words import MARKS, MEANING, Unit, change, change_span, count, moment, points, span, value

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
ROWS = 40
"""Checkpoints in the matrix; older ones are counted, not drawn."""


STALE = "△ Runs shown below are newer than this verdict; gate again for one on them."


def page(overview: Overview, created: str) -> str:
    """The whole report; `created` is ISO 8601 and stands in the foot."""
    title = "evalctl report" if overview.candidate is None else f"{overview.candidate} against {overview.baseline}"
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=Markup(POLICY)),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="referrer", content="no-referrer"),
        el("title", title),
        el("style", Markup(style.PALETTE + style.CHARTS + style.PAGE)),
    )
    body = el(
        "main",
        el("header", el("h1", title)),
        verdict_card(overview),
        matrix(overview),
        forest(overview),
        _metrics(overview),
        _families(overview),
        timelines(overview),
        _unscored(overview),
        _history(overview),
        _made(overview),
        el("footer", f"Written by evalctl, {moment(created)}. Figures are recomputed from the trials of each run."),
    )
    return "<!doctype html>\n" + el("html", head, el("body", body), lang="en") + "\n"


def word(verdict: VerdictView) -> Markup:
    """The verdict's word with its shape."""
    better = " ▲ IMPROVED" if verdict.improved else ""
    return el("span", f"{MARKS[verdict.decision]} {verdict.decision}{better}", class_="word")


def _section(heading: str, note: str, *body: object) -> Markup:
    return el("section", el("h2", heading), el("p", note, class_="note") if note else None, *body)


def verdict_card(overview: Overview) -> Markup:
    """The verdict on this pair, or that there is none, in one sentence with its figures."""
    verdict = overview.verdict
    if verdict is None:
        return el("div", el("p", headline(overview), class_="say"), class_="verdict v-none")
    decided = [f for f in verdict.findings if f.decides and f.decision is verdict.decision]
    lines = [el("li", finding(f)) for f in decided] if len(decided) > 1 else []
    advisory = [
        el("li", f"advisory, does not decide: {f.decision} {finding(f)}") for f in verdict.findings if not f.decides
    ]
    reasons = [el("li", reason) for reason in verdict.reasons]
    listed = [*lines, *reasons, *advisory]
    return el(
        "div",
        word(verdict),
        el("p", headline(overview), class_="say"),
        el("ul", *listed) if listed else None,
        el("p", f"{verdict.decision}: {MEANING[verdict.decision]}. {_judged_when(verdict)}", class_="more"),
        el("p", STALE, class_="more warn") if overview.stale else None,
        class_=f"verdict v-{verdict.decision.lower()}",
    )


def _judged_when(verdict: VerdictView) -> str:
    when = f"Judged {moment(verdict.created)}, " if verdict.created else ""
    policy = f"policy {verdict.policy_digest[:12]}, " if verdict.policy_digest else ""
    return f"{when}{policy}exit status {verdict.exit}."


def matrix(overview: Overview) -> Markup:
    """Checkpoints by suites, newest first."""
    shown = overview.places[:ROWS]
    older = len(overview.places) - len(shown)
    head = el("tr", el("th", "Checkpoint", scope="col"), *(el("th", name, scope="col") for name in overview.suites))
    rows = [
        el(
            "tr",
            _place(overview, place),
            *(_cell(overview, place, s, f"m{i}-{j}") for j, s in enumerate(overview.suites)),
        )
        for i, place in enumerate(shown)
    ]
    table = el("table", el("thead", head), el("tbody", *rows), class_="matrix")
    left = f" {count(older, 'older checkpoint')} left out." if older else ""
    note = f"Each cell is the newest run, newest checkpoint first; two-sided 95% intervals by cluster.{left}"
    return _section("Checkpoints and suites", note, el("div", table, class_="scroll"))


def _place(overview: Overview, place: Place) -> Markup:
    tag = overview.tag(place)
    return el(
        "th",
        overview.label(place),
        join(" ", el("span", tag, class_="tag")) if tag else None,
        el("small", el("code", place[1][:12])),
        scope="row",
    )


def _cell(overview: Overview, place: Place, suite: str, ident: str) -> Markup:
    cell = overview.cells.get((place, suite))
    if cell is None:
        return el("td", el("small", "not run"))
    if cell.figure is None:
        return el("td", "nothing scored", el("small", f"of {count(sum(cell.counts.values()), 'trial')}"))
    figure, unit = cell.figure.estimate, cell.figure.unit
    newest = overview.line(suite)[-1]
    return el(
        "td",
        el("b", value(figure.value, unit)),
        charts.strip(figure, unit, ident) if unit is Unit.SHARE else None,
        el("small", span(figure, unit)),
        el("small", sizes(figure)),
        *(el("small", text, class_="warn") for text in _warnings(cell, newest)),
    )


def _warnings(cell: Cell, newest: Cell) -> list[str]:
    found = []
    if not cell.record.complete:
        found.append("△ not complete")
    if cell.unscored:
        found.append(f"△ {cell.unscored:,} unscored")
    if cell.record.suite.get("digest") != newest.record.suite.get("digest"):
        found.append("△ another suite version")
    return found


def sizes(estimate: Estimate) -> str:
    """`320 samples, 160 clusters`."""
    return f"{count(estimate.n, 'sample')}, {count(estimate.clusters, 'cluster')}"


def forest(overview: Overview) -> Markup | None:
    """The pair's differences as a plot and as a table; None where there is no pair."""
    rows = [d for d in overview.differences if d.unit is Unit.SHARE]
    others = [d for d in overview.differences if d.unit is not Unit.SHARE]
    if not rows and not others:
        return None
    gated = overview.verdict is not None
    bounds = (
        "Intervals are the gate's one-sided bounds, which decided; the shaded side lies beyond the allowed fall."
        if gated
        else "Two-sided 95% intervals of paired differences; no gate has judged this pair, so no margin is drawn."
    )
    plots = el(
        "div",
        el("div", charts.forest(rows, "forest-w", 1040), class_="wide"),
        el("div", charts.forest(rows, "forest-n", 360), class_="narrow"),
    )
    return _section(
        f"{overview.candidate} minus {overview.baseline}",
        f"In points of the metric, better to the right. {bounds}",
        plots if rows else None,
        difference_table((*rows, *others), "Suite"),
    )


def difference_table(rows: tuple[Difference, ...], first: str) -> Markup:
    """Baseline, candidate, difference and interval, a row each."""
    head = [first, "Baseline", "Candidate", "Difference", "Interval", "Samples / clusters", "Up / down"]
    titles = [el("th", text, scope="col", class_=None if i == 0 else "n") for i, text in enumerate(head)]
    body = [_difference_row(row) for row in rows]
    return el("div", el("table", el("thead", el("tr", *titles)), el("tbody", *body), class_="even"), class_="scroll")


def _difference_row(row: Difference) -> Markup:
    decision = row.finding.decision if row.finding else None
    better = " ▲" if row.finding and row.finding.improved else ""
    chip = (
        el("small", el("span", f"{MARKS[decision]} {decision}{better}", class_="word"), class_=f"v-{decision.lower()}")
        if decision
        else None
    )
    name = el("th", row.label, chip, scope="row")
    if row.difference is None:
        return el("tr", name, el("td", row.note or "no figure", colspan=6))
    estimate = row.difference
    flips = "" if row.flips_up is None else f"{row.flips_up:,} / {row.flips_down:,}"
    return el(
        "tr",
        name,
        _n(value(row.baseline.value, row.unit) if row.baseline else "–"),
        _n(value(row.candidate.value, row.unit) if row.candidate else "–"),
        _n(el("strong", change(estimate.value, row.unit))),
        _n(change_span(estimate, row.unit)),
        _n(f"{estimate.n:,} / {estimate.clusters:,}"),
        _n(flips),
    )


def _n(content: object) -> Markup:
    return el("td", content, class_="n")


def _metrics(overview: Overview) -> Markup | None:
    if not overview.metrics:
        return None
    note = "Every further figure. Two-sided 95% intervals; the sign is turned so that up is better."
    return _section("Further metrics", note, difference_table(overview.metrics, "Metric"))


def _families(overview: Overview) -> Markup | None:
    if not overview.families:
        return None
    suites = sorted({row.suite for row in overview.families})
    tables = [
        join(el("h3", name), difference_table(tuple(r for r in overview.families if r.suite == name), "Family"))
        for name in suites
    ]
    note = "One family is one skill. Small groups, many looks: read these as places to look, not as findings."
    return _section("By family", note, *tables)


def timelines(overview: Overview) -> Markup | None:
    """A panel a suite that has more than one checkpoint; None where none has."""
    panels = []
    for i, suite in enumerate(overview.suites):
        line = [(overview.label(cell.place), cell) for cell in overview.line(suite)]
        if len(line) > 1:
            panels.append(el("div", el("h3", suite), charts.timeline(suite, line, f"time-{i}")))
    if not panels:
        return None
    note = "Oldest left, evenly spaced; 95% intervals. A line breaks where the suite changed; hollow is incomplete."
    return _section("Over time", note, el("div", *panels, class_="panels"))


def _unscored(overview: Overview) -> Markup | None:
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
    return _section("What was not scored", note, table, worst)


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
        _n(points(found.missing[key], found.unit) if key in found.missing else "–")
        for key in ("left_out", "zero", "worst")
    ]
    errors = " / ".join(value(found.errors.get(side, 0.0), Unit.SHARE) for side in ("baseline", "candidate"))
    coverage = "–" if found.coverage is None else value(found.coverage, Unit.SHARE)
    return el("tr", el("th", row.label, scope="row"), *figures, _n(coverage), _n(errors if found.errors else "–"))


def _history(overview: Overview) -> Markup | None:
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
    return _section("Verdicts", "", el("div", el("table", el("thead", head), el("tbody", *rows)), class_="scroll"))


def _made(overview: Overview) -> Markup:
    blocks = []
    for cell in _pair_or_all(overview):
        pairs = [join(el("dt", key), el("dd", el("code", text))) for key, text in provenance_rows(cell.record)]
        blocks.append(join(el("h3", f"{cell.suite} on {overview.label(cell.place)}"), el("dl", *pairs)))
    note = "Runs with one key are one run: the key is the digest of everything here that could change a score."
    return _section("How it was made", note, *blocks)
