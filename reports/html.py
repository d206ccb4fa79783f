"""One self-contained HTML file: no script, no link, nothing loaded; a strict content policy says so."""

from evalctl.gate.verdict import Decision
from evalctl.types import Estimate

from . import campaign_page, charts, evidence, style
from .cells import Cell, Place
from .figures import Difference, Overview
from .markup import Markup, el, join
from .parts import ROWS, number, section, word
from .sentences import finding, headline
from .verdicts import FindingView, VerdictView
from .words import MARKS, MEANING, Unit, change, change_span, count, moment, span, value

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
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
        campaign_page.campaign(overview.campaign) if overview.campaign else None,
        _metrics(overview),
        _families(overview),
        timelines(overview),
        evidence.unscored(overview),
        evidence.history(overview),
        evidence.made(overview),
        el("footer", f"Written by evalctl, {moment(created)}. Figures are recomputed from the trials of each run."),
    )
    return "<!doctype html>\n" + el("html", head, el("body", body), lang="en") + "\n"


def verdict_card(overview: Overview) -> Markup:
    """The verdict on this pair, or that there is none, in one sentence with its figures."""
    verdict = overview.verdict
    if verdict is None:
        return el("div", el("p", headline(overview), class_="say"), class_="verdict v-none")
    listed = [*(el("li", _line(f)) for f in _worth_a_line(verdict)), *(el("li", r) for r in verdict.news)]
    return el(
        "div",
        word(verdict),
        el("p", headline(overview), class_="say"),
        el("ul", *listed) if listed else None,
        el("p", f"{verdict.decision}: {MEANING[verdict.decision]}. {_judged_when(verdict)}", class_="more"),
        *(el("p", text, class_="more") for text in _not_recorded(verdict)),
        el("p", STALE, class_="more warn") if overview.stale else None,
        class_=f"verdict v-{verdict.decision.lower()}",
    )


def _worth_a_line(verdict: VerdictView) -> list[FindingView]:
    """Every finding that is no plain pass; none where the sentence has said it all."""
    told = [f for f in verdict.findings if f.news or f.decision is not Decision.PASS]
    return told if len(told) > 1 or any(f.news for f in told) else []


def _line(found: FindingView) -> str:
    place = "" if found.decides else " (advisory, does not decide)"
    return f"{MARKS[found.decision]} {found.decision}{place} {finding(found)}"


def _not_recorded(verdict: VerdictView) -> list[str]:
    """What neither side recorded, so that nobody could compare it, and the suites that it holds for."""
    suites: dict[tuple[str, ...], list[str]] = {}
    for found in verdict.findings:
        if found.not_recorded:
            suites.setdefault(found.not_recorded, []).append(found.label)
    return [f"Not recorded on either side: {', '.join(what)} ({', '.join(where)})." for what, where in suites.items()]


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
    return section("Checkpoints and suites", note, el("div", table, class_="scroll"))


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
    return section(
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
        number(value(row.baseline.value, row.unit) if row.baseline else "–"),
        number(value(row.candidate.value, row.unit) if row.candidate else "–"),
        number(el("strong", change(estimate.value, row.unit))),
        number(change_span(estimate, row.unit)),
        number(f"{estimate.n:,} / {estimate.clusters:,}"),
        number(flips),
    )


def _metrics(overview: Overview) -> Markup | None:
    if not overview.metrics:
        return None
    note = "Every further figure. Two-sided 95% intervals; the sign is turned so that up is better."
    return section("Further metrics", note, difference_table(overview.metrics, "Metric"))


def _families(overview: Overview) -> Markup | None:
    if not overview.families:
        return None
    suites = sorted({row.suite for row in overview.families})
    tables = [
        join(el("h3", name), difference_table(tuple(r for r in overview.families if r.suite == name), "Family"))
        for name in suites
    ]
    note = "One family is one skill. Small groups, many looks: read these as places to look, not as findings."
    return section("By family", note, *tables)


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
    return section("Over time", note, el("div", *panels, class_="panels"))
