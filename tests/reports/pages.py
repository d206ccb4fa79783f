"""Overviews for the tests of pages: two checkpoints, two suites, and a verdict of any kind."""

import re
import xml.etree.ElementTree as ET

from evalctl.gate.verdict import Decision, Finding, Verdict
from evalctl.gate.verdict_json import to_json
from evalctl.types import Estimate
from reports import html, markdown
from reports.cells import measure
from reports.figures import Overview, Side, overview
from tests.doubles import Synthetic

EXIT = {Decision.PASS: 0, Decision.REGRESSED: 1, Decision.INCONCLUSIVE: 3, Decision.INVALID: 4}
FIGURES = {
    Decision.PASS: Estimate(0.01, -0.02, 0.04, 80, 40),
    Decision.REGRESSED: Estimate(-0.22, -0.28, -0.14, 80, 40),
    Decision.INCONCLUSIVE: Estimate(-0.02, -0.09, 0.05, 80, 40),
}


def finding(decision: Decision, suite: str = "tooluse", **fields: object) -> Finding:
    difference = FIGURES.get(decision)
    made = {
        "max_drop": 0.05,
        "difference": difference,
        "baseline": Estimate(0.5, 0.4, 0.6, 80, 40) if difference else None,
        "candidate": Estimate(0.5 + difference.value, 0.2, 0.5, 80, 40) if difference else None,
        "coverage": 1.0,
        "errors": {"baseline": 0.0, "candidate": 0.0125},
        "missing": {"left_out": difference.value, "zero": -0.23, "worst": -0.24} if difference else {},
    }
    return Finding(suite, decision, **(made | fields))  # type: ignore[arg-type]


def verdict(decision: Decision, *findings: Finding, improved: bool = False) -> dict[str, object]:
    made = Verdict(
        decision,
        EXIT[decision],
        findings or (finding(decision),),
        baseline="base",
        candidate="tuned",
        policy_digest="0123456789abcdef",
        improved=improved,
    )
    return to_json(made, created="2026-03-03T09:00:00+00:00")


def bare(judged: dict[str, object]) -> Overview:
    """A verdict alone, its runs not there."""
    return overview([], [judged], Side("base", {}), Side("tuned", {}))


def page(*verdicts: dict[str, object], **changes: object) -> Overview:
    """`base` and then `tuned` on tooluse and arithmetic; `changes` go to tuned's tooluse."""
    early, late = "2026-03-01T09:00:00+00:00", "2026-03-02T09:00:00+00:00"
    base = [Synthetic(suite=s, started=early).run() for s in ("tooluse", "arithmetic")]
    tuned = [
        Synthetic(**({"suite": "tooluse", "checkpoint": "tuned", "rate": 0.7, "started": late} | changes)).run(),  # type: ignore[arg-type]
        Synthetic(suite="arithmetic", checkpoint="tuned", rate=0.4, started=late).run(),
    ]
    sides = [Side(name, {r.record.suite["name"]: r for r in runs}) for name, runs in (("base", base), ("tuned", tuned))]
    return overview([measure(run) for run in (*tuned, *base)], verdicts, *sides)


NOW = "2026-03-04T10:00:00+00:00"
HOSTILE = "</script><img src=x onerror=alert(1)>\x1b[2J\u202e"
SVG = re.compile(r"<svg .*?</svg>", re.DOTALL)


def assert_harmless(shown: Overview) -> None:
    """A page that holds HOSTILE shows it as text: no element, no control character, every plot whole."""
    text = html.page(shown, NOW)
    assert "<img" not in text
    assert "onerror=alert" in text
    assert not set(text) & {"\x1b", "\u202e"}
    for plot in SVG.findall(text):
        ET.fromstring(plot)
    marked = markdown.page(shown, NOW)
    assert not re.search(r"(?<!\\)<", marked)
    assert not set(marked) & {"\x1b", "\u202e"}
