"""The demo on the tiny model: what it prints is what its trials say."""

import signal
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evalctl.gate import judge
from evalctl.policy import load_policy
from evalctl.store import Store
from evalctl.types import Json, Run
from tests.app.demos import demo, with_model
from tests.training.records import records
from training.replay import recompute

pytestmark = [pytest.mark.slow, pytest.mark.model]


@pytest.fixture(scope="module")
def home(trained_tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = with_model(trained_tiny, tmp_path_factory.mktemp("demo"))
    process = demo(home)
    said, errors = process.communicate(timeout=900)
    assert process.returncode == 0, errors
    (home / "stdout.txt").write_text(said)
    return home


def record(home: Path) -> dict[str, Json]:
    """What the demo's own campaign says, apart from times."""
    found = [one for one in records(home) if one["sabotage"] is None]
    return {key: value for key, value in found[0].items() if key not in ("created", "seconds")}


def sides(store: Store, verdict: dict[str, object]) -> tuple[Run, Run]:
    """Copies of the two runs a verdict was made of."""
    pinned = store.baselines.get("demo")
    assert pinned is not None
    [candidate] = store.find(suite="arithmetic", checkpoint=str(verdict["candidate_name"]))
    both = store.load(pinned.runs["arithmetic"]), store.load(candidate.key)
    return replace(both[0], trials=both[0].trials.copy()), replace(both[1], trials=both[1].trials.copy())


def flipped(run: Run, share: float) -> Run:
    """The run with that share of its right answers made wrong."""
    trials = run.trials.copy()
    right = trials.index[trials["score"] == 1.0]
    chosen = np.random.default_rng(3).choice(right, int(share * len(trials)), replace=False)
    trials.loc[chosen, "score"] = 0.0
    return replace(run, trials=trials)


def test_the_verdicts_are_recomputed_from_copied_trials_and_change_when_a_fifth_of_the_scores_does(home: Path) -> None:
    store = Store.open(home)
    policy = load_policy(home / "reports" / "demo-policy.yaml")
    verdicts = [told for told in store.verdicts() if told["baseline_name"] == "baseline:demo"]
    assert len(verdicts) == 3
    for told in verdicts:
        baseline, candidate = sides(store, told)
        again = judge(policy, {"arithmetic": baseline}, {"arithmetic": candidate})
        assert str(again.decision) == told["verdict"]
        found = again.findings[0].difference
        assert found is not None
        assert told["suites"][0]["difference"] == pytest.approx(
            {"value": found.value, "low": found.low, "high": found.high, "n": found.n, "clusters": found.clusters}
        )
        worse = judge(policy, {"arithmetic": baseline}, {"arithmetic": flipped(candidate, 0.2)})
        assert worse.findings[0].difference != found
        assert (str(worse.decision), worse.exit) == ("REGRESSED", 1)


def test_the_identical_copy_was_run_afresh_and_answered_the_same(home: Path) -> None:
    store = Store.open(home)
    [copied] = [told for told in store.verdicts() if str(told["candidate_name"]).endswith("-copy")]
    baseline, candidate = sides(store, copied)
    assert baseline.record.key != candidate.record.key
    assert baseline.record.checkpoint["weights_digest"] == candidate.record.checkpoint["weights_digest"]
    assert list(baseline.trials["answer"]) == list(candidate.trials["answer"])
    assert copied["verdict"] == "PASS"


def test_what_is_printed_and_written_is_what_was_decided(home: Path) -> None:
    printed = (home / "stdout.txt").read_text()
    page = (home / "reports" / "demo.html").read_text()
    for told in Store.open(home).verdicts():
        assert f"{told['candidate_name']} against baseline:demo" in printed
        assert str(told["verdict"]) in printed
    assert "tiny-0.9m" in page
    assert "evalctl compare baseline:demo" in printed


def test_the_campaigns_table_is_recomputed_from_trials(home: Path) -> None:
    told = record(home)
    again = recompute(Store(home), home / "campaigns" / told["id"], told)
    assert [(one.name, one.held, one.text) for one in again] == [
        (one["name"], one["held"], one["text"]) for one in told["conditions"]
    ]
    said = (home / "stdout.txt").read_text()
    for name in ("Base score", "all folds, cross-fitted", "sealed arithmetic", "What moved elsewhere"):
        assert name in said


@pytest.mark.kill
def test_a_demo_killed_inside_a_training_stage_ends_with_the_same_record(
    home: Path, trained_tiny: Path, tmp_path: Path
) -> None:
    with_model(trained_tiny, tmp_path)
    process = demo(tmp_path)
    end = time.monotonic() + 600
    while process.poll() is None and time.monotonic() < end:
        if any(path.read_text().find('"sft fold-1"') >= 0 for path in tmp_path.glob("campaigns/*/progress.json")):
            break
        time.sleep(0.2)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    resumed = demo(tmp_path)
    _, errors = resumed.communicate(timeout=900)
    assert resumed.returncode == 0, errors
    assert record(tmp_path) == record(home)
