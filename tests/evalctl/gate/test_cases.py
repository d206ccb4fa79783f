"""The field's cases of the gate, each with the right outcome."""

from itertools import pairwise

import numpy as np
import pytest

from evalctl.errors import PolicyError
from evalctl.gate import GateContext
from evalctl.gate.verdict import Decision
from evalctl.policy import load_policy, parse_policy

PLAIN = "suites: {s: {}}"
rng = np.random.default_rng(7)


def rules(verdict):
    return {line.split(":")[0] for finding in verdict.findings for line in finding.reasons}


def only(verdict):
    assert len(verdict.findings) == 1
    return verdict.findings[0]


def test_1_a_fifth_of_the_samples_is_coverage_not_a_go(run, gate):
    verdict = gate(PLAIN, run([1.0] * 100), run([1.0] * 20, "new"))
    assert verdict.decision is Decision.INVALID
    assert verdict.exit == 4
    assert only(verdict).coverage == pytest.approx(0.20)
    assert any(line.startswith("coverage: candidate covers 0.2 ") for line in only(verdict).reasons)


def test_2_a_policy_without_suites_is_usage_and_empty_runs_are_invalid(run, gate):
    with pytest.raises(PolicyError, match="names no suite") as caught:
        parse_policy("version: 1\nsuites: {}")
    assert caught.value.exit_status == 2
    for baseline, candidate in (({}, {}), ({"s": run([])}, {"s": run([], "new")}), ({"s": run([1.0] * 30)}, {})):
        verdict = gate(PLAIN, baseline, candidate)
        assert (verdict.decision, verdict.exit) == (Decision.INVALID, 4)
        assert rules(verdict) & {"presence", "empty"}


def test_3_ten_identical_pairs_are_inconclusive_with_an_exact_bound_of_26_percent(run, gate):
    found = only(gate(PLAIN, run([1.0] * 10), run([1.0] * 10, "new")))
    assert found.decision is Decision.INCONCLUSIVE
    assert found.difference.low == pytest.approx(-0.259, abs=0.001)
    assert found.difference.high > 0.2


@pytest.mark.parametrize(("margin", "clusters"), [(0.02, 149), (0.05, 59), (0.10, 29)])
def test_identical_data_pass_from_the_exact_floor_on(run, gate, margin, clusters):
    policy = f"suites: {{s: {{max_drop: {margin}}}}}"
    assert gate(policy, run([1.0] * clusters), run([1.0] * clusters, "new")).decision is Decision.PASS
    less = gate(policy, run([1.0] * (clusters - 1)), run([1.0] * (clusters - 1), "new"))
    assert less.decision is Decision.INCONCLUSIVE
    assert only(less).needed == 1


def test_4_pairing_is_by_content_never_by_position(run, gate):
    ids = [f"q{i}" for i in range(100)]
    other = [f"digest{i}" for i in range(100)]
    baseline = run([1.0] * 100, sample_id=ids)
    assert gate(PLAIN, baseline, run([1.0] * 100, "new", sample_id=ids, content_key=other)).decision is Decision.INVALID
    order = list(rng.permutation(100))
    scores = [float(i % 3 > 0) for i in range(100)]
    shuffled = run([scores[i] for i in order], "new", sample_id=[ids[i] for i in order])
    found = only(gate(PLAIN, run(scores, sample_id=ids), shuffled))
    assert (found.difference.value, found.difference.n, found.decision) == (0.0, 100, Decision.PASS)


def test_5_duplicates_are_named(run, gate):
    ids = [f"q{i}" for i in range(60)] + ["q7"]
    candidate = run([1.0] * 7 + [0.0] + [1.0] * 53, "new", sample_id=ids)
    verdict = gate(PLAIN, run([1.0] * 60), candidate)
    assert verdict.decision is Decision.INVALID
    assert only(verdict).reasons == ("duplicates: candidate has 1 samples more than once in one epoch: 'q7'",)


def test_6_another_sampling_or_prompt_is_invalid(run, gate):
    other = run([1.0] * 100, "new", record={"sampling": {"temperature": 1.0}, "prompt_digest": "five-shot"})
    verdict = gate(PLAIN, run([1.0] * 100), other)
    assert verdict.decision is Decision.INVALID
    lines = only(verdict).reasons
    assert any(line.startswith("comparability: sampling differs") for line in lines)
    assert any(line.startswith("comparability: prompt_digest differs") for line in lines)


def test_7_two_clusters_are_too_few_whatever_the_samples(run, gate):
    kind = ["easy", "hard"] * 100
    found = only(gate(PLAIN, run([1.0] * 200, cluster=kind), run([1.0] * 200, "new", cluster=kind)))
    assert found.decision is Decision.INCONCLUSIVE
    assert found.difference.clusters == 2
    assert any(line.startswith("clusters: 2 clusters") for line in found.reasons)


def test_8_one_unscored_of_200_is_told_in_all_three_figures_and_does_not_decide(run, gate):
    baseline = [float(i % 10 > 0) for i in range(200)]
    verdict = gate("suites: {s: {max_drop: 0.05}}", run(baseline), run([*baseline[:-1], None], "new"))
    found = only(verdict)
    assert (verdict.decision, verdict.exit) == (Decision.PASS, 0)
    assert found.missing["left_out"] == 0.0
    assert found.missing["zero"] == pytest.approx(-0.005)
    assert found.missing["worst"] == pytest.approx(-0.005)
    assert found.errors == {"baseline": 0.0, "candidate": pytest.approx(0.005)}


def test_9_a_missing_policy_file_is_usage(tmp_path):
    with pytest.raises(PolicyError, match="no such policy file") as caught:
        load_policy(tmp_path / "none.yaml")
    assert caught.value.exit_status == 2


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 1.7, -0.1])
def test_10_a_score_that_is_not_finite_or_out_of_range_is_named(run, gate, bad):
    verdict = gate(PLAIN, run([1.0] * 100), run([1.0] * 42 + [bad] + [1.0] * 57, "new", status=["ok"] * 100))
    assert verdict.decision is Decision.INVALID
    assert any(
        line.startswith("out_of_range: candidate has 1 values") and "'q42'" in line for line in only(verdict).reasons
    )


def test_12_ten_errors_of_a_hundred_show_both_means_and_break_the_budget(run, gate):
    scores = [1.0] * 80 + [0.0] * 10 + [None] * 10
    found = only(gate(PLAIN, run([1.0] * 80 + [0.0] * 20), run(scores, "new")))
    assert found.decision is Decision.INVALID
    assert any(line.startswith("errors: candidate has 10 of 100") for line in found.reasons)
    assert (found.missing["candidate_zero"], found.missing["candidate_left_out"]) == (0.8, pytest.approx(80 / 90))
    assert "unscored: candidate 0.8889 with 10 left out, 0.8 with them counted as 0" in found.reasons


def test_13_two_right_two_errored_of_eight_show_25_and_33_percent(run, gate):
    scores = [1.0] * 2 + [0.0] * 4 + [None] * 2
    found = only(gate(PLAIN, run(scores), run(scores, "new")))
    assert found.missing["candidate_zero"] == 0.25
    assert found.missing["candidate_left_out"] == pytest.approx(1 / 3)
    assert found.candidate.value == pytest.approx(1 / 3)


def test_11_19_all_errored_or_half_errored_is_invalid(run, gate):
    for candidate in ([None] * 100, [1.0] * 50 + [None] * 50):
        assert gate(PLAIN, run([1.0] * 100), run(candidate, "new")).decision is Decision.INVALID


def test_16_one_trial_gives_no_certainty(run, gate):
    found = only(gate(PLAIN, run([1.0]), run([1.0], "new")))
    assert found.decision is Decision.INCONCLUSIVE
    assert (found.difference.low, found.difference.n) == (-1.0, 1)
    assert found.candidate.low == pytest.approx(0.025)


def test_17_a_metric_of_unknown_direction_is_an_error_and_lower_is_turned(run, gate):
    base = list(rng.uniform(1.0, 2.0, 200))
    worse = [value * 1.37 for value in base]
    args = {"metric": "mean_rmsd", "direction": None, "range": (0.0, 10.0)}
    unknown = gate("suites: {s: {metric: mean_rmsd}}", run(base, **args), run(worse, "new", **args))
    assert unknown.decision is Decision.INVALID
    assert "direction" in rules(unknown)
    told = "suites: {s: {metric: mean_rmsd, direction: lower, max_drop: 0.2}}"
    found = only(gate(told, run(base, **args), run(worse, "new", **args)))
    assert found.decision is Decision.REGRESSED
    assert found.difference.value < -0.4
    contrary = {**args, "direction": "higher"}
    assert gate(told, run(base, **contrary), run(worse, "new", **contrary)).decision is Decision.INVALID


def test_18_a_protected_sample_that_fails_is_regressed_whatever_the_mean(run, gate):
    ids = [f"q{i}" for i in range(100) for _ in range(10)]
    epochs = list(range(1, 11)) * 100
    base = [float(i % 2) for i in range(100) for _ in range(10)]
    better = [1.0] * 1000
    better[70:80] = [0.0] * 10
    fields = {"sample_id": ids, "epoch": epochs}
    policy = "suites: {s: {must_pass: ['q7']}}"
    verdict = gate(policy, run(base, **fields), run(better, "new", **fields))
    assert (verdict.decision, verdict.exit) == (Decision.REGRESSED, 1)
    assert only(verdict).difference.value > 0.4
    assert only(verdict).reasons[0] == "must_pass: not 1 in every epoch: 'q7'"
    assert gate(PLAIN, run(base, **fields), run(better, "new", **fields)).decision is Decision.PASS


def test_30_ten_small_falls_trip_the_anchor(run, gate):
    n, policy = 2000, "suites: {s: {max_drop: 0.02}}\nanchor: {baseline: v1, max_total_drop: 0.05}"
    line = [run([1.0] * (n - 20 * step) + [0.0] * (20 * step), f"v{step}") for step in range(11)]
    decisions = []
    for before, after in pairwise(line):
        verdict = gate(policy, before, after, GateContext(anchor={"s": line[0]}))
        rolling, anchor = verdict.findings
        assert (rolling.against, anchor.against) == ("rolling", "anchor")
        assert rolling.decision is Decision.PASS
        decisions.append(verdict.decision)
    assert decisions[0] is Decision.PASS
    assert decisions[-1] is Decision.REGRESSED


def test_31_a_stale_low_baseline_hides_nothing_from_the_anchor(run, gate):
    anchor, stale = [1.0] * 900 + [0.0] * 100, [1.0] * 850 + [0.0] * 150
    candidate = [1.0] * 865 + [0.0] * 135
    policy = "suites: {s: {max_drop: 0.02}}\nanchor: {baseline: v1, max_total_drop: 0.03}"
    verdict = gate(policy, run(stale), run(candidate, "new"), GateContext(anchor={"s": run(anchor, "v1")}))
    assert [finding.decision for finding in verdict.findings] == [Decision.PASS, Decision.REGRESSED]
    assert verdict.decision is Decision.REGRESSED
    without = gate(policy, run(stale), run(candidate, "new"))
    assert without.decision is Decision.INVALID


def test_34_crashing_on_the_hard_half_is_invalid_even_within_a_wide_budget(run, gate):
    base = [float(i % 2) for i in range(100)]
    candidate = [1.0 if value else None for value in base]
    policy = "suites: {s: {max_error_rate: 0.6, missing: lenient}}"
    found = only(gate(policy, run(base), run(candidate, "new")))
    assert found.decision is Decision.INVALID
    assert {"errors", "missingness"} <= {line.split(":")[0] for line in found.reasons}
    assert found.missing["left_out"] == 0.0


def test_a_run_compared_with_itself_says_nothing(run, gate):
    same = run([1.0] * 400)
    verdict = gate(PLAIN, same, same)
    assert (verdict.decision, verdict.exit) == (Decision.INVALID, 4)
    assert rules(verdict) == {"same_run"}
