"""What the gate promises beyond the field's cases."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

from evalctl.errors import EvidenceError
from evalctl.gate import GateContext
from evalctl.gate.comparison import compare
from evalctl.gate.verdict import Decision
from evalctl.gate.verdict_json import from_json, to_json
from evalctl.plan import plan
from evalctl.policy import parse_policy
from evalctl.types import Run

PLAIN = "suites: {s: {}}"


def first(verdict):
    return verdict.findings[0]


def rules(finding):
    return {line.split(":")[0] for line in finding.reasons}


def mixed(right, n):
    return [1.0] * right + [0.0] * (n - right)


def test_the_bounds_that_are_printed_are_the_bounds_that_decided(run, gate):
    for candidate in (80, 74, 70, 60, 40):
        found = first(gate(PLAIN, run(mixed(80, 100)), run(mixed(candidate, 100), "new")))
        low, high = found.difference.low, found.difference.high
        assert low < found.difference.value < high
        assert (found.decision is Decision.PASS) == (low > -0.05)
        regressed = high < 0 and found.difference.value <= -0.05
        assert (found.decision is Decision.REGRESSED) == (regressed and not low > -0.05)


def test_a_fall_of_the_margin_exactly_counts_as_one(run, gate):
    found = first(gate("suites: {s: {max_drop: 0.05}}", run(mixed(400, 400)), run(mixed(380, 400), "new")))
    assert (found.difference.value, found.decision) == (pytest.approx(-0.05), Decision.REGRESSED)


def test_a_small_certain_fall_within_the_margin_is_slipping(run, gate):
    base, candidate = mixed(1000, 1000), mixed(970, 1000)
    passed = first(gate("suites: {s: {max_drop: 0.06}}", run(base), run(candidate, "new")))
    assert (passed.decision, "slipping" in rules(passed)) == (Decision.PASS, True)
    open_one = first(gate("suites: {s: {max_drop: 0.035}}", run(base), run(candidate, "new")))
    assert open_one.decision is Decision.INCONCLUSIVE
    assert "slipping" in rules(open_one)


def test_five_to_nineteen_clusters_can_regress_or_improve_and_never_pass(run, gate):
    assert first(gate(PLAIN, run([1.0] * 8), run([0.0] * 8, "new"))).decision is Decision.REGRESSED
    better = first(gate(PLAIN, run([0.0] * 8), run([1.0] * 8, "new")))
    assert (better.decision, better.improved) == (Decision.INCONCLUSIVE, True)
    assert better.difference.low > 0
    assert first(gate(PLAIN, run([1.0] * 4), run([0.0] * 4, "new"))).decision is Decision.INCONCLUSIVE


def test_a_gain_beside_a_pass_is_improved_with_the_bound_that_says_so(run, gate):
    verdict = gate(PLAIN, run(mixed(60, 100)), run(mixed(80, 100), "new"))
    found = first(verdict)
    assert (found.decision, found.improved, verdict.improved) == (Decision.PASS, True, True)
    assert 0 < found.difference.low < found.difference.value == pytest.approx(0.20)
    assert not first(gate(PLAIN, run(mixed(60, 100)), run(mixed(61, 100), "new"))).improved


def test_clusters_not_samples_are_the_evidence(run, gate):
    cluster = [f"c{i // 25}" for i in range(200)]
    scores = [0.0] * 25 + [1.0] * 175
    found = first(gate(PLAIN, run([1.0] * 200, cluster=cluster), run(scores, "new", cluster=cluster)))
    assert found.difference.clusters == 8
    assert found.decision is Decision.INCONCLUSIVE
    assert first(gate(PLAIN, run([1.0] * 200), run(scores, "new"))).decision is Decision.REGRESSED


def test_holm_makes_each_of_many_suites_harder_to_call(run, gate):
    base, candidate = mixed(60, 60), mixed(54, 60)
    alone = first(gate(PLAIN, run(base), run(candidate, "new")))
    names = ["s", *(f"t{i}" for i in range(9))]
    baseline = {name: run(base, suite=name) for name in names}
    other = {n: run(candidate if n == "s" else base, "new", suite=n) for n in names}
    many = gate("suites: {" + ", ".join(f"{n}: {{max_drop: 0.05}}" for n in names) + "}", baseline, other)
    together = next(f for f in many.findings if f.name == "s")
    assert alone.decision is Decision.REGRESSED
    assert together.decision is Decision.INCONCLUSIVE
    assert together.difference.high > 0 > alone.difference.high
    advisory = "suites: {s: {tier: advisory}, " + ", ".join(f"t{i}: {{}}" for i in range(9)) + "}"
    found = next(f for f in gate(advisory, baseline, other).findings if f.name == "s")
    assert found.decision is Decision.REGRESSED
    assert found.difference.high == alone.difference.high


def test_advisory_suites_are_shown_and_never_decide(run, gate):
    sides = [{n: run(mixed(r, 100), c, suite=n) for n, r in rates.items()}
             for c, rates in (("base", {"a": 90, "b": 90}), ("new", {"a": 90, "b": 10}))]  # fmt: skip
    verdict = gate("suites: {a: {}, b: {tier: advisory}}", *sides)
    assert [f.decision for f in verdict.findings] == [Decision.PASS, Decision.REGRESSED]
    assert (verdict.decision, verdict.exit) == (Decision.PASS, 0)
    both = gate("suites: {a: {}, b: {tier: supporting}}", *sides)
    assert (both.decision, both.exit) == (Decision.REGRESSED, 1)


def test_the_worst_case_of_what_is_unscored_holds_back_a_critical_pass_alone(run, gate):
    wide = "suites: {{s: {{max_drop: 0.05, max_error_rate: 0.02, {}}}}}"
    base, candidate = [*mixed(97, 98), None, None], [*mixed(97, 98), None, None]
    held = first(gate(wide.format("tier: critical"), run(base), run(candidate, "new")))
    assert (held.decision, "missingness" in rules(held)) == (Decision.INCONCLUSIVE, True)
    assert held.missing["worst"] == pytest.approx(-0.02)
    for waived in ("missing: lenient", "tier: supporting"):
        assert first(gate(wide.format(waived), run(base), run(candidate, "new"))).decision is Decision.PASS


def test_figures_that_would_decide_differently_are_invalid(run, gate):
    base, candidate = mixed(100, 100), [None] * 9 + [1.0] * 91
    policy = "suites: {s: {max_error_rate: 0.2, max_drop: 0.06, tier: supporting}}"
    found = first(gate(policy, run(base), run(candidate, "new")))
    assert found.decision is Decision.INVALID
    assert {"missingness"} <= rules(found)


def test_limit_and_model_error_count_as_their_score_or_zero(run, gate):
    status = ["ok"] * 60 + ["limit"] * 20 + ["model_error"] * 20
    candidate = [1.0] * 60 + [1.0] * 10 + [None] * 30
    found = first(gate(PLAIN, run([1.0] * 100), run(candidate, "new", status=status)))
    assert found.candidate.value == pytest.approx(0.70)
    assert found.errors["candidate"] == 0.0
    assert found.decision is Decision.REGRESSED


def test_what_was_expected_and_is_on_neither_side_is_missing(run, trials, gate):
    expected = tuple((t.content_key, "{}", 1) for t in trials([1.0] * 200))
    record = {"expected": expected}
    verdict = gate(PLAIN, run([1.0] * 150, record=record), run([1.0] * 150, "new", record=record))
    assert first(verdict).coverage == pytest.approx(0.75)
    assert rules(first(verdict)) >= {"coverage"}


def test_samples_outside_the_policys_roles_are_not_expected_and_not_read(run, trials, gate):
    roles = ["bench"] * 100 + ["dev"] * 50
    rows = trials([1.0] * 150, role=roles)
    record = {"expected": tuple((t.content_key, "{}", 1) for t in rows)}
    worse = trials([1.0] * 100 + [0.0] * 50, role=roles)
    verdict = gate(PLAIN, run(rows, record=record), run(worse, "new", record=record))
    assert (first(verdict).decision, first(verdict).difference.n, first(verdict).coverage) == (Decision.PASS, 100, 1.0)


def test_trained_pool_clusters_are_shown_and_never_decide(run, gate):
    role = ["pool"] * 50 + ["bench"] * 80
    base, candidate = mixed(130, 130), [0.0] * 50 + [1.0] * 80
    context = GateContext(trained={"s": frozenset(f"q{i}" for i in range(50))})
    verdict = gate(PLAIN, run(base, role=role), run(candidate, "new", role=role), context)
    whole, shown = verdict.findings
    assert (whole.decision, whole.difference.n) == (Decision.PASS, 80)
    assert (shown.slice, shown.tier, shown.difference.value, shown.difference.n) == ("trained", "advisory", -1.0, 50)
    assert verdict.decision is Decision.PASS
    assert gate(PLAIN, run(base, role=role), run(candidate, "new", role=role)).decision is Decision.REGRESSED


def test_incomplete_runs_and_too_few_epochs_are_invalid(run, gate):
    cut = run([1.0] * 60, "new", record={"complete": False})
    assert rules(first(gate(PLAIN, run([1.0] * 60), cut))) == {"complete"}
    found = first(gate("suites: {s: {epochs: 4}}", run([1.0] * 60), run([1.0] * 60, "new")))
    assert (found.decision, "epochs" in rules(found)) == (Decision.INVALID, True)


def test_recorded_on_one_side_is_invalid_and_on_neither_is_told(run, gate):
    none = {"judge": None}
    assert first(gate(PLAIN, run([1.0] * 60), run([1.0] * 60, "new", record=none))).decision is Decision.INVALID
    both = first(gate(PLAIN, run([1.0] * 60, record=none), run([1.0] * 60, "new", record=none)))
    assert (both.decision, both.not_recorded) == (Decision.PASS, ("judge",))
    named = "defaults: {require_same: [judge]}\nsuites: {s: {}}"
    assert (
        first(gate(named, run([1.0] * 60, record=none), run([1.0] * 60, "new", record=none))).decision
        is Decision.INVALID
    )


def test_a_bare_name_is_read_from_run_then_column_then_metadata(run, gate):
    policy = "suites: {s: {require_same: [few_shot, metadata.tool, engine]}}"

    def side(name, shots, tool):
        meta = [{"few_shot": s, "tool": tool} for s in shots]
        return run([1.0] * 60, name, record={"engine": {"name": "e"}}, metadata=meta)

    same = [5] * 60
    assert gate(policy, side("base", same, "x"), side("new", same, "x")).decision is Decision.PASS
    for shots, tool, said in (([0] * 60, "x", "few_shot differs"), (same, "y", "tool differs"),
                              ([5] * 59 + [0], "x", "several values within one run")):  # fmt: skip
        found = first(gate(policy, side("base", same, "x"), side("new", shots, tool)))
        assert found.decision is Decision.INVALID
        assert any(said in line for line in found.reasons), said


def test_a_metric_without_a_range_cannot_pass_and_can_regress(run, gate):
    rng = np.random.default_rng(0)
    base = [float(x) for x in rng.uniform(10, 20, 200)]
    args = {"metric": "tokens_saved", "direction": "higher"}
    policy = "suites: {s: {metric: tokens_saved, max_drop: 1}}"
    same = first(gate(policy, run(base, **args), run([x + 0.01 for x in base], "new", **args)))
    assert same.decision is Decision.INCONCLUSIVE
    assert "range" in rules(same)
    worse = first(gate(policy, run(base, **args), run([x - 2 for x in base], "new", **args)))
    assert worse.decision is Decision.REGRESSED
    json.dumps(to_json(gate(policy, run(base, **args), run(base, "new", **args))), allow_nan=False)


def test_further_metrics_and_columns_are_judged_under_their_own_names(run, gate):
    spec = [{"format": {"value": float(i % 50 > 0), "direction": "higher", "range": [0, 1]}} for i in range(100)]
    bad = [{"format": {"value": 0.0, "direction": "higher", "range": [0, 1]}} for _ in range(100)]
    policy = (
        "suites: {s: {metrics: [{name: correct}, {name: format},"
        " {name: seconds, direction: lower, range: [0, 60], max_drop: 5, tier: advisory}]}}"
    )
    base = run([1.0] * 100, metrics=spec, seconds=[1.0 + i / 100 for i in range(100)])
    new = run([1.0] * 100, "new", metrics=bad, seconds=[30.0 + i / 100 for i in range(100)])
    verdict = gate(policy, base, new)
    assert [(f.metric, f.decision) for f in verdict.findings] == [
        ("correct", Decision.PASS), ("format", Decision.REGRESSED), ("seconds", Decision.REGRESSED)
    ]  # fmt: skip
    assert verdict.findings[2].difference.value == pytest.approx(-29.0)


def test_must_pass_globs_exact_ids_and_what_is_absent(run, gate):
    ids = ["guard#1", "guard#2", "guard#*", *(f"q{i}" for i in range(97))]
    base = run([1.0] * 100, sample_id=ids)
    failing = run([1.0, 0.0] + [1.0] * 98, "new", sample_id=ids)
    exact = first(gate("suites: {s: {must_pass: ['guard#*']}}", base, failing))
    assert exact.decision is Decision.PASS
    globbed = first(gate("suites: {s: {must_pass: ['guard#?']}}", base, failing))
    assert (globbed.decision, globbed.reasons[0]) == (Decision.REGRESSED, "must_pass: not 1 in every epoch: 'guard#2'")
    nothing = first(gate("suites: {s: {must_pass: ['gurad*']}}", base, failing))
    assert (nothing.decision, rules(nothing)) == (Decision.INVALID, {"must_pass"})
    absent = run([1.0] * 99, "new", sample_id=ids[1:])
    assert first(gate("suites: {s: {must_pass: ['guard#?']}}", base, absent)).decision is Decision.INVALID
    unscored = run([None] + [1.0] * 99, "new", sample_id=ids)
    assert first(gate("suites: {s: {must_pass: ['guard#1']}}", base, unscored)).decision is Decision.INVALID


def test_sealed_samples_are_not_read_without_a_look(run, gate):
    side = {"role": "sealed"}
    verdict = gate(
        "suites: {s: {roles: [sealed]}}\nsealed: {looks: 3}", run([1.0] * 60, **side), run([1.0] * 60, "n", **side)
    )
    assert (verdict.exit, rules(first(verdict)), first(verdict).difference) == (4, {"ledger"}, None)
    assert rules(first(gate(PLAIN, run([1.0] * 60, **side), run([1.0] * 60, "n", **side)))) == {"empty"}


def test_the_order_of_rows_changes_no_digit(run, gate):
    rng = np.random.default_rng(5)
    cluster = [f"c{i // 3}" for i in range(150)]
    base, new = ([float(x) for x in rng.integers(0, 2, 150)] for _ in range(2))
    sides = [run(base, cluster=cluster), run(new, "new", cluster=cluster)]
    mixed_up = [
        Run(s.record, s.trials.sample(frac=1, random_state=k).reset_index(drop=True)) for k, s in enumerate(sides)
    ]
    assert gate(PLAIN, *sides).findings == gate(PLAIN, *mixed_up).findings


def test_frames_with_plain_dtypes_are_read_the_same(run, gate):
    base, new = run(mixed(80, 100)), run(mixed(78, 100), "new")
    plain = [
        Run(s.record, pd.DataFrame([dict(row) for _, row in s.trials.astype(object).iterrows()])) for s in (base, new)
    ]
    assert gate(PLAIN, base, new).findings == gate(PLAIN, *plain).findings


def test_flipping_a_fifth_of_the_scores_changes_the_verdict(run, gate):
    base = mixed(150, 200)
    flipped = [1.0 - s if i % 5 == 0 else s for i, s in enumerate(base)]
    assert gate(PLAIN, run(base), run(base, "new")).decision is Decision.PASS
    assert gate(PLAIN, run(base), run(flipped, "new")).decision is Decision.REGRESSED


def test_a_verdict_comes_back_from_its_json_as_it_was(run, gate):
    when = "2026-01-01T00:00:00+00:00"
    for candidate in ([*mixed(78, 99), None], [0.0] * 100, [1.0] * 20):
        made = gate(PLAIN, run(mixed(80, 100)), run(candidate, "new"))
        written = json.loads(json.dumps(to_json(made, when)))
        assert from_json(written) == dataclasses.replace(made, created=when)
        assert to_json(from_json(written)) == written
    with pytest.raises(EvidenceError, match="not the form"):
        from_json({"verdict": "FINE", "exit": 0, "suites": []})


def test_json_says_what_the_contract_says(run, gate):
    made = to_json(
        gate(PLAIN, run(mixed(80, 100)), run([*mixed(78, 99), None], "new")), created="2026-01-01T00:00:00+00:00"
    )
    json.dumps(made, allow_nan=False)
    assert {
        "schema",
        "verdict",
        "exit",
        "suites",
        "ledger",
        "baseline_name",
        "candidate_name",
        "policy_digest",
        "created",
    } <= set(made)
    assert set(made["suites"][0]) >= {
        "name", "slice", "metric", "tier", "verdict", "improved", "difference", "baseline", "candidate", "coverage",
        "errors", "against", "missing", "not_recorded", "needed", "reasons",
    }  # fmt: skip
    assert set(made["suites"][0]["missing"]) >= {"left_out", "zero", "worst"}
    names = {line.split(":")[0] for line in made["suites"][0]["reasons"]}
    assert all(name.isidentifier() for name in names)


def test_compare_pairs_by_content_and_never_gives_a_point(run):
    found = compare(run(mixed(80, 100)), run(mixed(80, 100), "new"))
    assert (found.flips_up, found.flips_down, found.unscored, found.difference.value) == (0, 0, 0, 0.0)
    assert found.difference.low < 0 < found.difference.high
    with pytest.raises(EvidenceError, match="no sample is scored on both sides"):
        compare(run([1.0] * 5), run([1.0] * 5, "new", sample_id=[f"z{i}" for i in range(5)]))
    with pytest.raises(EvidenceError, match="no metric 'nope'"):
        compare(run([1.0]), run([1.0]), metric="nope")


def test_plan_reads_size_and_noise_from_the_baseline(run):
    policy = parse_policy("suites: {s: {max_drop: 0.05}}")
    small, large = plan(policy, {"s": run(mixed(50, 100))}), plan(policy, {"s": run(mixed(1000, 2000))})
    assert (small.exit, large.exit, large.problems) == (3, 0, ())
    assert small.problems[0].startswith("s (correct, rolling): a margin of 0.05 cannot be resolved with 100 samples")
    assert large.rows[0].power > 0.8 > small.rows[0].power
    assert 0.05 < large.rows[0].visible < small.rows[0].visible
    epochs = {"sample_id": [f"q{i}" for i in range(200) for _ in range(4)], "epoch": [1, 2, 3, 4] * 200}
    rng = np.random.default_rng(2)
    scores = [float(x) for p in rng.random(200) for x in rng.random(4) < p]
    measured = plan(policy, {"s": run(scores, **epochs)}).rows[0]
    assert measured.deviation == pytest.approx((1 / 12) ** 0.5, abs=0.03)
    assert plan(policy).rows[0].samples is None
    assert plan(parse_policy("suites: {s: {metric: odd, direction: higher}}")).exit == 3
    nothing = plan(policy, {"s": dataclasses.replace(run([None] * 50))})
    assert nothing.exit == 3
