"""What a page shows is chosen honestly: newest, complete, comparable, never sealed."""

import pytest

from evalctl.errors import EvidenceError
from evalctl.gate.verdict import Decision
from reports.cells import measure
from reports.figures import Side, overview
from reports.words import Unit
from tests.doubles import Synthetic

from .pages import page, verdict


def test_a_run_is_measured_with_its_unscored_trials_left_out_and_counted_as_failed() -> None:
    cell = measure(Synthetic(errors=8).run())
    assert cell.figure is not None
    assert cell.as_zero is not None
    assert (cell.figure.estimate.n, cell.as_zero.estimate.n) == (72, 80)
    assert cell.as_zero.estimate.value < cell.figure.estimate.value
    assert cell.counts == {"infra_error": 8, "ok": 72}
    assert cell.unscored == 8


def test_what_was_expected_and_is_not_there_is_counted_as_missing() -> None:
    run = Synthetic().run()
    cut = type(run)(run.record, run.trials.iloc[:-3])
    assert measure(cut).counts["missing"] == 3


@pytest.mark.parametrize("role", ["sealed", "dev"])
def test_sealed_and_dev_scores_are_never_shown(role: str) -> None:
    cell = measure(Synthetic(role=role).run())
    assert cell.figure is None
    assert cell.metrics == {}
    assert cell.withheld == 80


def test_a_run_where_nothing_was_scored_has_no_figure() -> None:
    assert measure(Synthetic(errors=80).run()).figure is None


def test_the_newest_complete_run_stands_in_the_matrix() -> None:
    partial = measure(Synthetic(rate=0.9, complete=False, started="2026-03-09T09:00:00+00:00").run())
    whole = measure(Synthetic(rate=0.2).run())
    shown = overview([partial, whole])
    assert shown.cells[(whole.place, "tooluse")] is whole
    assert overview([partial]).cells[(partial.place, "tooluse")] is partial


def test_two_checkpoints_of_one_name_are_told_apart() -> None:
    one, two = measure(Synthetic().run()), measure(Synthetic(rate=0.9).run())
    other = type(two)(
        type(two.record)(**{**vars(two.record), "checkpoint": {**two.record.checkpoint, "weights_digest": "f" * 32}}),
        *(two.figure, two.as_zero, two.counts, two.withheld, two.metrics),
    )
    shown = overview([one, other])
    assert len({shown.label(place) for place in shown.places}) == 2


def test_two_versions_of_a_suite_are_not_compared() -> None:
    shown = page(version="2")
    [row] = [d for d in shown.differences if d.suite == "tooluse"]
    assert row.difference is None
    assert "different versions" in row.note


def test_the_figures_of_a_judged_pair_are_the_gates_own_and_the_rest_is_said_to_be_ungated() -> None:
    shown = page(verdict(Decision.REGRESSED))
    judged, ungated = shown.differences
    assert judged.difference is not None
    assert judged.difference.high == -0.14
    assert judged.flips_up is not None
    assert (ungated.suite, ungated.finding) == ("arithmetic", None)


def test_a_verdict_on_another_pair_is_not_taken_for_this_one() -> None:
    other = verdict(Decision.PASS) | {"candidate_name": "someone-else"}
    assert page(other).verdict is None
    assert page(other, verdict(Decision.REGRESSED)).verdict is not None


def test_a_verdict_older_than_the_runs_beside_it_is_said_to_be_stale() -> None:
    assert page(verdict(Decision.PASS) | {"created": "2026-03-02T08:00:00+00:00"}).stale
    assert not page(verdict(Decision.PASS)).stale


def test_families_and_further_metrics_are_compared_too() -> None:
    shown = page()
    assert {d.label for d in shown.families if d.suite == "tooluse"} == {"refund", "search", "booking", "weather"}
    units = {d.label: d.unit for d in shown.metrics}
    assert units["tooluse · format"] is Unit.SHARE
    assert units["tooluse · output_tokens"] is Unit.NUMBER


def test_a_verdict_whose_runs_are_gone_still_stands() -> None:
    shown = overview([], [verdict(Decision.REGRESSED)], Side("base", {}), Side("tuned", {}))
    assert shown.verdict is not None
    assert [d.label for d in shown.differences] == ["tooluse"]


def test_a_stored_verdict_of_another_form_is_refused_with_the_mend() -> None:
    with pytest.raises(EvidenceError, match="store check"):
        overview([], [{"verdict": "GREAT"}])
