"""One sentence says what the evidence says, with its figure, and never more."""

import math

import pytest

from evalctl.gate.verdict import Decision
from evalctl.types import Estimate
from reports.sentences import headline

from .pages import bare, finding, page, verdict


def said(*findings: object, decision: Decision, improved: bool = False) -> str:
    return headline(bare(verdict(decision, *findings, improved=improved)))  # type: ignore[arg-type]


def test_a_regression_names_suite_fall_interval_margin_and_levels() -> None:
    assert said(decision=Decision.REGRESSED) == (
        "tuned is worse than base: tooluse changed by −22.0 points (−28.0 to −14.0; a fall of 5.0 points is allowed), "
        "from 50.0% to 28.0%."
    )


def test_a_pass_says_not_worse_by_the_margin_and_never_equal_or_better() -> None:
    text = said(decision=Decision.PASS)
    assert text.startswith("tuned is not worse than base by the allowed margin")
    assert "better" not in text


def test_an_improvement_is_said_with_its_figure() -> None:
    better = finding(Decision.PASS, improved=True, difference=Estimate(0.08, 0.03, 0.12, 80, 40))
    assert "It is better on tooluse: +8.0 points (+3.0 to +12.0" in said(better, decision=Decision.PASS, improved=True)


def test_inconclusive_says_what_would_decide_it() -> None:
    text = said(finding(Decision.INCONCLUSIVE, needed=240), decision=Decision.INCONCLUSIVE)
    assert "cannot be told yet" in text
    assert "spans the margin; about 240 further samples (independent clusters) would decide it" in text


def test_inconclusive_for_another_reason_does_not_promise_that_more_samples_help() -> None:
    open_ = finding(
        Decision.INCONCLUSIVE,
        difference=Estimate(-0.01, -0.02, 0.01, 80, 40),
        reasons=("missingness: the worst case does not pass",),
    )
    text = said(open_, decision=Decision.INCONCLUSIVE)
    assert "spans" not in text
    assert "more samples alone may not decide it" in text


def test_an_unlimited_bound_is_said_as_one() -> None:
    open_ = finding(Decision.INCONCLUSIVE, difference=Estimate(0.0, -math.inf, math.inf, 2, 2))
    assert "(−∞ to +∞" in said(open_, decision=Decision.INCONCLUSIVE)


def test_invalid_says_that_nothing_follows_and_why() -> None:
    bad = finding(Decision.INVALID, reasons=("coverage: 0.20, at least 0.98 is needed",))
    assert said(bad, finding(Decision.PASS, "arithmetic"), decision=Decision.INVALID) == (
        "This comparison says nothing about tuned against base: tooluse: coverage: 0.20, at least 0.98 is needed."
    )


def test_an_advisory_fall_is_not_the_headline() -> None:
    text = said(
        finding(Decision.REGRESSED, "arithmetic", tier="advisory"), finding(Decision.PASS), decision=Decision.PASS
    )
    assert "arithmetic" not in text


def test_a_pair_that_no_gate_judged_is_said_to_be_that() -> None:
    assert headline(page()).startswith("No gate has judged tuned against base.")


@pytest.mark.parametrize("decision", list(Decision))
def test_every_outcome_has_a_sentence_even_without_a_figure(decision: Decision) -> None:
    unfigured = finding(decision, difference=None, baseline=None, candidate=None, missing={})
    assert "tuned" in said(unfigured, decision=decision)
