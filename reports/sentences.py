"""What the evidence says, in one sentence, and never more than it says."""

from evalctl.gate.verdict import Decision

from .figures import Difference, Overview
from .verdicts import FindingView, VerdictView
from .words import change, change_span, count, points, value


def headline(page: Overview) -> str:
    """The outcome for the pair in one sentence with its figure and interval."""
    if page.verdict is not None:
        return judged(page.verdict)
    if page.baseline is None or page.candidate is None:
        return "One checkpoint so far: there is nothing to compare it with yet."
    return _ungated(page)


def judged(verdict: VerdictView) -> str:
    """One sentence on a verdict; the finding named is the one that decided, or came closest to its margin."""
    deciding = [f for f in verdict.findings if f.decides]
    told = [f for f in deciding if f.decision is verdict.decision]
    if verdict.decision is Decision.INVALID:
        return _invalid(verdict, told)
    worst = _lowest(told)
    if worst is None:
        return f"{verdict.decision} for {verdict.candidate} against {verdict.baseline}{_because(verdict.reasons)}."
    if verdict.decision is Decision.REGRESSED:
        return _regressed(verdict, worst, len(told))
    if verdict.decision is Decision.INCONCLUSIVE:
        return _inconclusive(verdict, worst, len(told))
    return _passed(verdict, worst, deciding)


def finding(found: FindingView) -> str:
    """One line on one finding: figure, interval, margin, and what would decide it."""
    parts = [_figure(found) if found.difference else "no figure"]
    if found.decision is Decision.INCONCLUSIVE:
        parts.append(needs(found))
    parts += found.news
    return f"{found.label}: {'; '.join(parts)}."


def needs(found: FindingView) -> str:
    """What would decide an INCONCLUSIVE."""
    if found.needed is not None:
        return f"about {count(found.needed, 'further sample')} (independent clusters) would decide it"
    if found.news:
        return "more samples alone may not decide it"
    return "more samples or epochs would decide it"


def _figure(found: FindingView) -> str:
    assert found.difference is not None
    margin = "" if found.max_drop is None else f"; a fall of {_margin(found)} is allowed"
    return f"{points(found.difference.value, found.unit)} ({change_span(found.difference, found.unit)}{margin})"


def _margin(found: FindingView) -> str:
    text = change(found.max_drop or 0.0, found.unit).lstrip("+")
    return f"{text} points" if points(1, found.unit).endswith("points") else text


def _lowest(findings: list[FindingView]) -> FindingView | None:
    figured = [f for f in findings if f.difference is not None]
    return min(figured, key=lambda f: f.difference.low if f.difference else 0.0, default=None)


def _regressed(verdict: VerdictView, worst: FindingView, number: int) -> str:
    levels = ""
    if worst.baseline and worst.candidate:
        before, after = (value(e.value, worst.unit) for e in (worst.baseline, worst.candidate))
        levels = f", from {before} to {after}"
    others = f"; {count(number - 1, 'further finding')} regressed too" if number > 1 else ""
    fall = f"{worst.label} changed by {_figure(worst)}{levels}{others}"
    return f"{verdict.candidate} is worse than {verdict.baseline}: {fall}."


def _inconclusive(verdict: VerdictView, worst: FindingView, number: int) -> str:
    others = f" {number} findings are open; this one reaches lowest." if number > 1 else ""
    spans = " That interval spans the margin" if _spans(worst) else " The evidence does not carry a decision"
    return (
        f"Whether {verdict.candidate} is worse than {verdict.baseline} cannot be told yet: "
        f"{worst.label} changed by {_figure(worst)}.{spans}; {needs(worst)}.{others}"
    )


def _spans(found: FindingView) -> bool:
    if found.difference is None or found.max_drop is None:
        return False
    return found.difference.low <= -found.max_drop <= found.difference.high


def _passed(verdict: VerdictView, worst: FindingView, deciding: list[FindingView]) -> str:
    better = [f for f in deciding if f.improved]
    gain = ""
    if better and better[0].difference is not None:
        gain = f" It is better on {better[0].label}: {_figure(better[0])}."
    return (
        f"{verdict.candidate} is not worse than {verdict.baseline} by the allowed margin in any of "
        f"{count(len(deciding), 'deciding finding')}; lowest reaches {worst.label}: {_figure(worst)}.{gain}"
    )


def _invalid(verdict: VerdictView, told: list[FindingView]) -> str:
    reasons = [f"{f.label}: {f.reasons[0] if f.reasons else 'no reason given'}" for f in told] or list(verdict.reasons)
    first = f": {reasons[0]}" if reasons else ""
    others = f" ({len(reasons) - 1} more below)" if len(reasons) > 1 else ""
    return f"This comparison says nothing about {verdict.candidate} against {verdict.baseline}{first}{others}."


def _because(reasons: tuple[str, ...]) -> str:
    return f": {reasons[0]}" if reasons else ""


def _ungated(page: Overview) -> str:
    figured = [d for d in page.differences if d.difference is not None]
    if not figured:
        return f"{page.candidate} and {page.baseline} have no figure in common: {_notes(page)}."
    lowest = min(figured, key=lambda d: d.difference.low if d.difference else 0.0)
    others = f"; of {len(figured)} suites it reaches lowest" if len(figured) > 1 else ""
    return f"No gate has judged {page.candidate} against {page.baseline}. {_plain(lowest)}{others}."


def _plain(row: Difference) -> str:
    assert row.difference is not None
    figure = f"{points(row.difference.value, row.unit)} ({change_span(row.difference, row.unit)}, two-sided 95%)"
    return f"On {row.label} the candidate changed by {figure}"


def _notes(page: Overview) -> str:
    return "; ".join(f"{d.label}: {d.note}" for d in page.differences if d.note) or "no suite was run on both"
