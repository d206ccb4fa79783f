"""The demo on the tiny model: what it prints is what its trials say."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evalctl.gate import judge
from evalctl.policy import load_policy
from evalctl.store import Store
from evalctl.types import Run

pytestmark = [pytest.mark.slow, pytest.mark.model]


@pytest.fixture(scope="module")
def home(trained_tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("demo")
    shutil.copytree(trained_tiny, home / "models" / "tiny-0.9m")  # the demo would train the very same
    code = "import sys; from app.cli import main; sys.exit(main())"
    environment = {**os.environ, "EVALCTL_HOME": str(home), "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-c", code, "demo", "--quick"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, check=False)
    assert result.returncode == 0, result.stderr
    (home / "stdout.txt").write_text(result.stdout)
    return home


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
    verdicts = store.verdicts()
    assert len(verdicts) == 2
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
