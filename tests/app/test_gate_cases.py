"""The field's cases through the front door: JSON lines in, exit status and verdict out."""

import json
from pathlib import Path

import pytest

from app.cli.root import dispatch
from evalctl.store import Lineage, Store

POLICY = "suites: {s: {}}"


class Bench:
    """A store, files and commands."""

    def __init__(self, folder, capsys):
        self.folder, self.capsys, self.files = folder, capsys, 0

    def bring(self, name, rows, suite="s"):
        self.files += 1
        path = self.folder / f"{self.files}.jsonl"
        path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
        status = dispatch(["import", str(path), "--format", "jsonl", "--suite", suite, "--checkpoint", name])
        self.capsys.readouterr()
        return status

    def gate(self, policy=POLICY, baseline="base", candidate="new"):
        path = self.folder / "policy.yaml"
        path.write_text(policy)
        status = dispatch(
            ["gate", "--policy", str(path), "--baseline", baseline, "--candidate", candidate, "--json", "-"]
        )
        out = self.capsys.readouterr().out
        return status, json.loads(out) if out else None


@pytest.fixture
def bench(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EVALCTL_HOME", str(tmp_path / "home"))
    return Bench(tmp_path, capsys)


def rows(scores, **fields):
    return [{"sample_id": f"q{i}", "score": score, **fields} for i, score in enumerate(scores)]


def rules(verdict):
    return {line.split(":")[0] for suite in verdict["suites"] for line in suite["reasons"]}


def test_an_unchanged_candidate_passes_and_a_fallen_one_regresses_and_both_are_kept(bench):
    right = [1.0] * 80 + [0.0] * 20
    bench.bring("base", rows(right))
    bench.bring("new", [*rows(right), ""])
    bench.bring("bad", rows([1.0] * 50 + [0.0] * 50))
    status, verdict = bench.gate()
    assert (status, verdict["verdict"], verdict["exit"]) == (0, "PASS", 0)
    assert (verdict["baseline_name"], verdict["candidate_name"], verdict["schema"]) == ("base", "new", 1)
    suite = verdict["suites"][0]
    assert suite["difference"] == {"value": 0.0, "low": pytest.approx(-0.03, abs=0.01), "n": 100, "clusters": 100} | {
        "high": suite["difference"]["high"]
    }
    assert set(suite["not_recorded"]) >= {"sampling", "prompt_digest", "judge"}
    assert bench.gate(candidate="bad")[0] == 1
    kept = sorted((bench.folder / "home" / "verdicts").glob("*.json"))
    assert [json.loads(path.read_text())["verdict"] for path in kept] == ["PASS", "REGRESSED"]


@pytest.mark.parametrize(
    ("baseline", "candidate", "policy", "status", "rule"),
    [
        pytest.param(rows([1.0] * 100), rows([1.0] * 20), POLICY, 4, "coverage", id="1 a fifth of the samples"),
        pytest.param(rows([1.0] * 10), rows([1.0] * 10), POLICY, 3, "clusters", id="3 ten identical pairs"),
        pytest.param(
            rows([1.0] * 60),
            [r | {"content_key": f"k{i}"} for i, r in enumerate(rows([1.0] * 60))],
            POLICY,
            4,
            "coverage",
            id="4 other content under the same ids",
        ),
        pytest.param(
            rows([1.0] * 60), [*rows([1.0] * 60), {"sample_id": "q3", "score": 0}], POLICY, 4, "duplicates", id="5"
        ),
        pytest.param(
            rows([1.0] * 60, sampling={"temperature": 0}),
            rows([1.0] * 60, sampling={"temperature": 1}),
            POLICY,
            4,
            "comparability",
            id="6 other sampling",
        ),
        pytest.param(
            [r | {"cluster": "ab"[i % 2]} for i, r in enumerate(rows([1.0] * 200))],
            [r | {"cluster": "ab"[i % 2]} for i, r in enumerate(rows([1.0] * 200))],
            POLICY,
            3,
            "clusters",
            id="7 a category as clusters",
        ),
        pytest.param(rows([1.0] * 200), rows([1.0] * 199 + [None]), POLICY, 0, "unscored", id="8 one null of 200"),
        pytest.param(
            rows([1.0] * 60),
            [*rows([1.0] * 59), '{"sample_id": "q59", "score": NaN}'],
            POLICY,
            4,
            "out_of_range",
            id="10",
        ),
        pytest.param(rows([1.0] * 60), rows([1.0] * 59 + [1.7]), POLICY, 4, "out_of_range", id="10 above the range"),
        pytest.param(rows([1.0] * 60), rows([None] * 60), POLICY, 4, "errors", id="11 all errored"),
        pytest.param(
            rows([1.0] * 100), rows([1.0] * 80 + [0.0] * 10 + [None] * 10), POLICY, 4, "errors", id="12 ten errored"
        ),
        pytest.param(rows([1.0]), rows([1.0]), POLICY, 3, "clusters", id="16 one sample"),
        pytest.param(
            rows([1.0] * 60, metric="mean_rmsd"),
            rows([1.37] * 60, metric="mean_rmsd"),
            "suites: {s: {metric: mean_rmsd, range: [0, 9], max_drop: 0.1}}",
            4,
            "direction",
            id="17 no direction",
        ),
        pytest.param(
            rows([1.0] * 60, metric="mean_rmsd"),
            rows([1.37] * 60, metric="mean_rmsd"),
            "suites: {s: {metric: mean_rmsd, direction: lower, range: [0, 9], max_drop: 0.1}}",
            1,
            "max_drop",
            id="17 lower is better",
        ),
        pytest.param(
            rows([0.5] * 60), rows([0.0] + [1.0] * 59), "suites: {s: {must_pass: [q0]}}", 1, "must_pass", id="18"
        ),
        pytest.param(
            rows([1.0, 0.0] * 50),
            rows([1.0, None] * 50),
            "suites: {s: {max_error_rate: 0.6}}",
            4,
            "missingness",
            id="34",
        ),
    ],
)
def test_the_case_ends_as_it_should(bench, baseline, candidate, policy, status, rule):
    assert (bench.bring("base", baseline), bench.bring("new", candidate)) == (0, 0)
    found, verdict = bench.gate(policy)
    assert (found, verdict["exit"]) == (status, status)
    assert rule in rules(verdict)


def test_2_9_no_suite_or_no_file_is_usage_and_a_suite_that_was_not_run_is_invalid(bench, capsys):
    bench.bring("base", rows([1.0] * 60))
    bench.bring("new", rows([1.0] * 60))
    assert bench.gate("version: 1\nsuites: {}") == (2, None)
    missing = ["gate", "--policy", str(bench.folder / "none.yaml"), "--baseline", "base", "--candidate", "new"]
    assert dispatch(missing) == 2
    assert "no such policy file" in capsys.readouterr().err
    status, verdict = bench.gate("suites: {s: {}, other: {}}")
    assert (status, rules(verdict)) == (4, {"presence"})


def test_15_other_weights_under_one_name_are_another_run(bench):
    bench.bring("base", rows([1.0] * 60))
    bench.bring("new", rows([1.0] * 60))
    keys = {path.name for path in (bench.folder / "home" / "runs").iterdir() if not path.name.startswith(".")}
    assert len(keys) == 2


def test_30_31_the_anchor_decides_beside_the_rolling_baseline(bench):
    for name, right in (("v1", 900), ("base", 850), ("new", 855)):
        bench.bring(name, rows([1.0] * right + [0.0] * (1000 - right)))
    dispatch(["baselines", "set", "first", "v1"])
    policy = "suites: {s: {max_drop: 0.02}}\nanchor: {baseline: 'baseline:first', max_total_drop: 0.03}"
    bench.capsys.readouterr()
    status, verdict = bench.gate(policy)
    assert [(s["against"], s["verdict"]) for s in verdict["suites"]] == [("rolling", "PASS"), ("anchor", "REGRESSED")]
    assert status == 1


def test_an_allowed_inconclusive_keeps_its_name_and_exits_0(bench):
    bench.bring("base", rows([1.0] * 10))
    bench.bring("new", rows([1.0] * 10))
    status, verdict = bench.gate("defaults: {on_inconclusive: allow}\nsuites: {s: {}}")
    assert (status, verdict["verdict"]) == (0, "INCONCLUSIVE")


def test_sealed_looks_are_counted_before_and_refused_past_the_budget(bench, capsys):
    policy = "suites: {s: {roles: [sealed]}}\nsealed: {looks: 2}"
    bench.bring("base", rows([1.0] * 100, role="sealed"))
    for name in ("one", "two", "three"):
        bench.bring(name, rows([1.0] * 100, role="sealed"))
    assert [bench.gate(policy, candidate=name)[0] for name in ("one", "one", "two")] == [0, 0, 0]
    status, verdict = bench.gate(policy, candidate="three")
    assert (status, rules(verdict)) == (4, {"ledger"})
    assert verdict["suites"][0]["difference"] is None
    assert verdict["ledger"]["looks"][0] == {
        "suite": "s", "against": "rolling", "number": 3, "budget": 2, "refused": True
    }  # fmt: skip
    assert dispatch(["ledger", "show", "--json", "-"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [(look["number"], look["refused"]) for look in shown["looks"]] == [(1, False), (2, False), (3, True)]


def test_older_runs_that_would_fit_are_listed_and_never_taken(bench):
    bench.bring("base", rows([1.0] * 60, sampling={"temperature": 0}))
    bench.bring("base", rows([1.0] * 60, sampling={"temperature": 1}))
    bench.bring("new", rows([1.0] * 60, sampling={"temperature": 0}))
    status, verdict = bench.gate()
    assert status == 4
    older = [line for line in verdict["suites"][0]["reasons"] if line.startswith("older: ")]
    assert len(older) == 1
    key = older[0].split("baseline ")[1].split()[0]
    assert bench.gate(baseline=key)[0] == 0


def test_hostile_ids_are_shown_as_text(bench, capsys):
    name = "[bold red]\x1b[31mq0"
    bench.bring("base", [{"sample_id": name, "score": 1}] * 2)
    bench.bring("new", [{"sample_id": name, "score": 1}] * 2)
    (bench.folder / "policy.yaml").write_text(POLICY)
    told = ["gate", "--policy", str(bench.folder / "policy.yaml"), "--baseline", "base", "--candidate", "new"]
    assert dispatch(told) == 4
    out = capsys.readouterr().out
    assert "[bold red]" in out
    assert "\x1b" not in out


def test_compare_counts_flips_and_leaves_sealed_out(bench, capsys):
    bench.bring("base", [*rows([1.0] * 50 + [0.0] * 50), {"sample_id": "z", "score": 1, "role": "sealed"}])
    bench.bring("new", [*rows([0.0] * 5 + [1.0] * 60 + [0.0] * 35), {"sample_id": "z", "score": 0, "role": "sealed"}])
    assert dispatch(["compare", "base", "new", "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)["comparisons"][0]
    assert (found["flips_up"], found["flips_down"], found["difference"]["n"]) == (15, 5, 100)
    assert found["difference"]["value"] == pytest.approx(0.10)
    assert found["left_out_roles"] == ["sealed"]
    assert found["flips"][0] | {"transcripts": None} == {
        "sample_id": "q0", "variant": "{}", "baseline": 1.0, "candidate": 0.0, "transcripts": None
    }  # fmt: skip
    assert not (bench.folder / "home" / "ledger").exists()
    assert dispatch(["compare", "base", "new", "--roles", "sealed"]) == 0
    assert len((bench.folder / "home" / "ledger" / "looks.jsonl").read_text().splitlines()) == 1
    assert dispatch(["compare", "base", "nwe"]) == 2


def test_32_plan_says_before_anyone_runs_what_twenty_suites_cannot_resolve(bench, capsys):
    names = [f"s{i}" for i in range(20)]
    scores = [float(i % 2) for i in range(200)]
    path = bench.folder / "all.jsonl"
    lines = [json.dumps(row | {"suite": name}) for name in names for row in rows(scores)]
    path.write_text("\n".join(lines))
    dispatch(["import", str(path), "--format", "jsonl", "--checkpoint", "base"])
    policy = bench.folder / "policy.yaml"
    policy.write_text("defaults: {max_drop: 0.015}\nsuites: {" + ", ".join(f"{n}: {{}}" for n in names) + "}")
    capsys.readouterr()
    assert dispatch(["plan", "--policy", str(policy), "--baseline", "base", "--json", "-"]) == 3
    made = json.loads(capsys.readouterr().out)
    assert made["joint"] < 1e-6
    assert len(made["problems"]) == 21
    assert made["suites"][0]["needed"] > 5_000
    assert Path(policy).exists()


@pytest.mark.parametrize("later", ["dev", "sealed", "pool"])
def test_a_later_run_of_other_roles_hides_nothing_from_gate_compare_baselines_or_report(bench, capsys, later):
    right = [*rows([1.0] * 60), {"sample_id": "p", "score": 1, "role": "pool"}]
    for name in ("base", "new"):
        bench.bring(name, right)
        bench.bring(name, [{"sample_id": f"{later}{i}", "score": 0, "role": later} for i in range(20)])
    status, verdict = bench.gate()
    assert (status, verdict["suites"][0]["candidate"]["n"]) == (0, 61)
    assert dispatch(["compare", "base", "new", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["comparisons"][0]["candidate"]["n"] == 61
    assert dispatch(["compare", "base", "new", "--roles", later, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["comparisons"][0]["candidate"]["n"] == 20
    assert dispatch(["baselines", "set", "v1", "base"]) == 0
    capsys.readouterr()
    assert bench.gate(baseline="baseline:v1")[0] == 0
    page = bench.folder / "page.md"
    assert dispatch(["report", "--out", str(page)]) == 0
    capsys.readouterr()
    assert "run, not shown" not in page.read_text()
    assert page.read_text().count("| 100.0% (94.1 to 100.0; n 61, 61 clusters) |") == 2


def test_a_suite_that_is_gated_on_sealed_samples_reads_the_run_of_them(bench):
    policy = "sealed: {looks: 3}\nsuites: {s: {}, t: {roles: [sealed]}}"
    for name in ("base", "new"):
        for suite in ("s", "t"):
            bench.bring(name, [{"sample_id": f"z{i}", "score": 1, "role": "sealed"} for i in range(300)], suite)
            bench.bring(name, rows([1.0] * 60), suite)
    status, verdict = bench.gate(policy)
    assert status == 0
    assert {one["name"]: one["candidate"]["n"] for one in verdict["suites"]} == {"s": 60, "t": 300}
    assert [look["suite"] for look in verdict["ledger"]["looks"]] == ["t"]


def test_clusters_in_training_lineage_decide_nothing_of_their_own_suite_alone(bench):
    pool = [{**row, "role": "pool", "cluster": row["sample_id"]} for row in rows([1.0] * 120)]
    for suite in ("s", "t"):
        bench.bring("base", pool, suite)
        bench.bring("new", pool, suite)
    store = Store.open()
    made = store.checkpoints.get("new")
    store.checkpoints.save(made, Lineage("c1", "d1", {"s": tuple(f"q{i}" for i in range(40))}))
    _, verdict = bench.gate("suites: {s: {}, t: {}}")
    read = {(one["name"], one["slice"]): one["candidate"]["n"] for one in verdict["suites"]}
    assert (read["s", None], read["t", None]) == (80, 120)
