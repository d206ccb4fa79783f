"""Screening: a failure is the model's own, and everything else is left out and said."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from evalctl.digests import canonical
from evalctl.models import checkpoint_for, load_model
from evalctl.runner import plan_run, run_suite
from evalctl.store import Store
from evalctl.store.frames import to_frame
from evalctl.types import Run, RunRecord, Trial
from tests.doubles import Synthetic
from tests.evalctl.test_runner import Silent
from tests.training import sums
from training.failures import Screened, screen

RIGHT = {"value": 1.0, "direction": "higher", "range": [0, 1]}


def trial(name: str, score: float | None, epoch: int = 1, **more: object) -> Trial:
    return Trial("sums", "d", name, f"key {name}", epoch=epoch, score=score, range=(0.0, 1.0), **more)  # type: ignore[arg-type]


def screened(trials: Sequence[Trial], expected: Sequence[tuple[str, int]] | None = None) -> Screened:
    """What `screen` makes of trials; `expected` as (sample id, epoch), by default what is there."""
    pairs = [(t.sample_id, t.epoch) for t in trials] if expected is None else expected
    wanted = tuple((f"key {name}", canonical({}), epoch) for name, epoch in pairs)
    return screen(Run(RunRecord("k", {"name": "sums"}, {}, expected=wanted), to_frame(trials)))


def test_the_kind_is_the_scorers_own_word_then_the_status_then_the_format() -> None:
    found = screened(
        [
            trial("named", 0.0, failure="wrong_tool", status="limit"),
            trial("slow", None, status="limit"),
            trial("broken", 0.0, status="model_error"),
            trial("unread", 0.0, metrics={"format": RIGHT | {"value": 0.0}}),
            trial("read", 0.0, metrics={"format": RIGHT}),
            trial("half", 0.5),
        ]
    )
    assert dict(found.failed) == {
        "named": "wrong_tool",
        "slow": "limit",
        "broken": "model_error",
        "unread": "format",
        "read": "wrong",
        "half": "wrong",
    }
    assert found.counts() == {"wrong": 2, "format": 1, "limit": 1, "model_error": 1, "wrong_tool": 1}
    assert found.passed == ()


def test_a_dead_sandbox_a_broken_judge_and_a_missing_trial_are_nobodys_failure() -> None:
    found = screened(
        [
            trial("dead", None, status="infra_error"),
            trial("unjudged", None, status="verifier_error"),
            trial("unscored", None),
            trial("nan", float("nan")),
            trial("half there", 1.0),
        ],
        [*((name, 1) for name in ("dead", "unjudged", "unscored", "nan", "half there", "gone")), ("half there", 2)],
    )
    assert dict(found.failed) == {}
    assert found.passed == ()
    assert dict(found.left_out) == {
        "dead": "infra_error",
        "unjudged": "verifier_error",
        "unscored": "unscored",
        "nan": "unscored",
        "half there": "missing",
        "key gone": "missing",
    }


def test_a_sample_passes_only_with_the_best_value_in_every_epoch() -> None:
    found = screened([trial("a", 1.0), trial("b", 1.0), trial("a", 1.0, 2), trial("b", 0.0, 2)])
    assert found.passed == ("a",)
    assert dict(found.failed) == {"b": "wrong"}


def test_a_failure_stands_although_another_epoch_says_nothing() -> None:
    found = screened([trial("a", 0.0), trial("a", None, 2, status="infra_error")])
    assert dict(found.failed) == {"a": "wrong"}
    assert dict(found.left_out) == {}


def test_the_most_frequent_kind_of_several_epochs_is_the_samples_kind() -> None:
    kinds = ["empty", "value", "value"]
    found = screened([trial("a", 0.0, epoch, failure=kind) for epoch, kind in enumerate(kinds, 1)])
    assert dict(found.failed) == {"a": "value"}


def test_where_lower_is_better_the_low_end_passes() -> None:
    found = screened([trial("a", 0.0, direction="lower"), trial("b", 1.0, direction="lower")])
    assert found.passed == ("a",)
    assert dict(found.failed) == {"b": "wrong"}


def test_the_order_in_which_trials_finished_changes_nothing() -> None:
    trials = [trial(f"s{i}", float(i % 3 == 0)) for i in range(9)]
    expected = [(one.sample_id, 1) for one in trials]
    forward, backward = screened(trials, expected), screened(trials[::-1], expected)
    assert list(forward.failed.items()) == list(backward.failed.items())
    assert forward.passed == backward.passed == ("s0", "s3", "s6")


def test_all_failures_infrastructure_leave_nothing_to_learn() -> None:
    found = screen(Synthetic(errors=80, rate=0.2).run())
    assert (dict(found.failed), found.passed, len(found.left_out)) == ({}, (), 80)


@pytest.mark.parametrize("lost", ["first", "last"])
def test_an_imported_run_is_screened_by_what_it_holds(lost: str) -> None:
    whole = Synthetic(rate=0.5).run()
    frame = whole.trials.iloc[1:] if lost == "first" else whole.trials.iloc[:-1]
    found = screen(Run(replace(whole.record, expected=None), frame))
    assert len(found.failed) + len(found.passed) == len(frame)
    assert dict(found.left_out) == {}


def test_a_finished_run_is_sorted_as_its_own_trials_say(tmp_path: Path) -> None:
    suite, checkpoint = sums.suite(40), checkpoint_for("double:noisy?accuracy=0.5&seed=3")
    plan = plan_run(suite, checkpoint, load_model(checkpoint, suite))
    run = run_suite(plan, Store.open(tmp_path), Silent())
    found = screen(run)
    right = set(run.trials.loc[run.trials["score"] == 1, "sample_id"])
    assert set(found.passed) == right
    assert set(found.failed) == {sample.id for sample in suite.samples} - right
    assert 0 < len(right) < 40
