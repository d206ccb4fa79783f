"""Rows that once bought a PASS: each through an import and the command, with the answer that is right."""

import json
import warnings

import pytest

from app.cli.root import dispatch

PLAIN = "suites: {s: {}}"


class Bench:
    """A store, files and commands."""

    def __init__(self, folder, capsys):
        self.folder, self.capsys, self.files = folder, capsys, 0

    def bring(self, name, rows):
        self.files += 1
        path = self.folder / f"{self.files}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        assert dispatch(["import", str(path), "--format", "jsonl", "--checkpoint", name]) == 0
        self.capsys.readouterr()

    def run(self, *command):
        status = dispatch(list(command))
        said = self.capsys.readouterr()
        return status, json.loads(said.out) if said.out else None, said.err

    def gate(self, policy=PLAIN, candidate="new"):
        path = self.folder / "policy.yaml"
        path.write_text(policy)
        return self.run(
            "gate", "--policy", str(path), "--baseline", "base", "--candidate", candidate, "--json", "-"
        )  # fmt: skip

    def judged(self, base, new, policy=PLAIN):
        """Both sides in, the verdict and every rule that spoke out."""
        self.bring("base", base)
        self.bring("new", new)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            status, verdict, said = self.gate(policy)
        assert said == ""
        return status, verdict, {line.split(":")[0] for one in verdict["suites"] for line in one["reasons"]}


@pytest.fixture
def bench(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EVALCTL_HOME", str(tmp_path / "home"))
    return Bench(tmp_path, capsys)


def R(n, score, at=(), **fields):  # noqa: N802 - the row maker of every case
    """`n` rows of one score; `at` gives fields to some rows by number."""
    made = [{"suite": "s", "sample_id": f"i{k}", "score": score, **fields} for k in range(n)]
    for k, own in dict(at).items():
        made[k] |= own
    return made


LOWER = {0: {"direction": "lower"}}


@pytest.mark.parametrize(
    ("base", "new", "policy", "rule"),
    [
        pytest.param(R(400, 1), R(400, 0, LOWER), PLAIN, "direction", id="1 one row turns the metric"),
        pytest.param(R(400, 1), R(400, 0, direction="lower"), PLAIN, "direction", id="1 one side turns it"),
        pytest.param(
            R(400, 1, direction="lower"), R(400, 0, direction="lower"), PLAIN, "direction", id="1 both turn correct"
        ),
        pytest.param(
            R(400, 5, metric="odd", range=[0, 9]),
            R(400, 0, LOWER, metric="odd", range=[0, 9]),
            "suites: {s: {metric: odd}}",
            "direction",
            id="1 one side alone names a direction",
        ),
        pytest.param(
            [*R(100, 1), *R(400, None, status="missing")[100:]],
            [*R(100, 1), *R(400, None, status="missing")[100:]],
            PLAIN,
            "coverage",
            id="2 missing on both sides",
        ),
        pytest.param(
            R(400, 0.04), R(400, 0, range=[0, 0.04]), PLAIN, "range", id="4 a range of one side, narrower than max_drop"
        ),
        pytest.param(
            R(400, 0.04, range=[0, 0.04]),
            R(400, 0, range=[0, 0.04]),
            PLAIN,
            "range",
            id="4 a range of both sides, narrower than max_drop",
        ),
        pytest.param(R(400, 1), R(400, 1, range=[0, 100]), PLAIN, "range", id="4 a range against the known one"),
        pytest.param(
            R(400, 1, metric="odd", direction="higher", range=[0, 2]),
            R(400, 1, metric="odd", direction="higher"),
            "suites: {s: {metric: odd}}",
            "range",
            id="4 a range that one side alone states",
        ),
        *(
            pytest.param(
                R(400, 1, {0: {name: value}}), R(400, 1, {0: {name: value}}), PLAIN, "comparability", id=f"6 {name}"
            )
            for name, value in (("prompt_digest", "p"), ("judge", {"scorer": "x"}), ("suite_digest", "d"))
        ),
        pytest.param(
            R(400, 1), R(400, 0, metrics={"correct": 1}), PLAIN, "metric", id="a second value beside the score"
        ),
        pytest.param(
            R(400, 1, metric="odd", direction="higher", range=[-1.7e308, 1.7e308]),
            R(400, 1, metric="odd", direction="higher", range=[-1.7e308, 1.7e308]),
            "suites: {s: {metric: odd}}",
            "range",
            id="10 a range without a width",
        ),
        pytest.param(
            R(400, 1.7e308, metric="odd", direction="higher"),
            R(400, -1.7e308, metric="odd", direction="higher"),
            "suites: {s: {metric: odd}}",
            "out_of_range",
            id="10 scores that no sum can hold",
        ),
    ],
)
def test_what_once_passed_is_invalid_by_the_name_of_its_rule(bench, base, new, policy, rule):
    status, verdict, rules = bench.judged(base, new, policy)
    assert (status, verdict["verdict"]) == (4, "INVALID")
    assert rule in rules
    assert not verdict["improved"]


def test_rows_that_agree_with_each_other_or_with_the_known_direction_and_range_still_pass(bench):
    stated = {"direction": "higher", "range": [0, 1]}
    assert bench.judged(R(400, 1), R(400, 1, {3: stated}))[0] == 0
    percent = {"range": [0, 100], "metric": "f1"}
    assert (
        bench.judged(R(400, 90, **percent), R(400, 90, **percent), "suites: {s: {metric: f1, max_drop: 0.9}}")[0] == 0
    )
    lower = {"direction": "lower", "range": [0, 9], "metric": "odd"}
    assert bench.judged(R(400, 1, **lower), R(400, 1, **lower), "suites: {s: {metric: odd, max_drop: 0.5}}")[0] == 0


def test_compare_refuses_a_direction_that_one_side_alone_names(bench):
    bench.bring("base", R(60, 1))
    bench.bring("new", R(60, 0, LOWER))
    assert dispatch(["compare", "base", "new"]) == 4


def test_2_missing_rows_are_expected_cells_without_a_trial(bench):
    gone = [*R(100, 1), *R(400, None, status="missing")[100:]]
    _, verdict, _ = bench.judged(gone, gone)
    assert verdict["suites"][0]["coverage"] == pytest.approx(0.25)
    few = [*R(398, 1), *R(400, None, status="missing")[398:]]
    status, verdict, _ = bench.judged(R(400, 1), few)
    one = verdict["suites"][0]
    assert (status, one["coverage"], one["errors"]["candidate"]) == (0, pytest.approx(0.995), 0.0)
    assert one["missing"] == {
        "left_out": 0.0, "zero": pytest.approx(-0.005), "worst": pytest.approx(-0.005)
    } | {k: v for k, v in one["missing"].items() if "_" in k and k != "left_out"}  # fmt: skip


METRICS = (
    "suites: {s: {must_pass: [i0], metrics: [{name: seconds, direction: lower, range: [0, 60], max_drop: 5%s}%s]}}"
)


@pytest.mark.parametrize(
    "policy",
    [
        METRICS % (", tier: advisory", ", {name: correct}"),
        METRICS % ("", ""),
        METRICS % ("", ", {name: correct, tier: advisory}"),
    ],
)
def test_3_must_pass_judges_the_score_at_the_suites_tier_whatever_metrics_are_listed(bench, policy):
    right = R(400, 1, seconds=1.0)
    assert bench.judged(right, [row | {"seconds": 1.0 + k / 999} for k, row in enumerate(right)], policy)[0] == 0
    status, verdict, rules = bench.judged(right, R(400, 1, {0: {"score": 0}}, seconds=1.0), policy)
    assert (status, verdict["verdict"]) == (1, "REGRESSED")
    assert "must_pass" in rules
    shown = [one for one in verdict["suites"] if one["slice"] == "must_pass"]
    assert [(one["metric"], one["tier"], one["verdict"]) for one in shown] == [("correct", "critical", "REGRESSED")]


def test_3_must_pass_of_an_advisory_suite_decides_nothing(bench):
    policy = "suites: {s: {tier: advisory, must_pass: [i0], metrics: [{name: correct, tier: critical}]}}"
    status, verdict, _ = bench.judged(R(400, 1), R(400, 1, {0: {"score": 0}}), policy)
    assert status == 0
    assert [one["verdict"] for one in verdict["suites"]] == ["PASS", "REGRESSED"]


def test_5_a_guard_holds_whatever_the_candidate_calls_the_sample(bench):
    def side(name, score):
        return R(400, 1, {0: {"sample_id": name, "content_key": "c0", "cluster": "c0", "score": score}})

    for pattern in ("g0", "g*", "zz"):
        status, _, rules = bench.judged(side("g0", 1), side("zz", 0), f"suites: {{s: {{must_pass: ['{pattern}']}}}}")
        assert (status, "must_pass" in rules) == (1, True), pattern
    added = [*side("g0", 0), {"suite": "s", "sample_id": "g*", "score": 1}]
    assert bench.judged(side("g0", 1), added, "suites: {s: {must_pass: ['g*']}}")[0] == 1
    gone = [row | ({"status": "missing", "score": None} if row["sample_id"] == "g0" else {}) for row in side("g0", 1)]
    assert bench.judged(gone, gone, "suites: {s: {must_pass: ['g0']}}")[0] == 4


@pytest.mark.parametrize("name", ["new", "double:constant"])
def test_8_other_bytes_under_an_imported_name_are_another_look(bench, name):
    policy = "suites: {s: {roles: [sealed]}}\nsealed: {looks: 2}"
    bench.bring("base", R(300, 1, role="sealed"))
    found = []
    for k in (0, 0, 1, 2):
        bench.bring(name, R(300, 1, {k: {"score": 0}}, role="sealed"))
        found.append(bench.gate(policy, name)[1]["ledger"]["looks"][0]["number"])
    assert found == [1, 1, 2, 3]
    assert bench.gate(policy, name)[0] == 4


def test_9_a_chance_is_never_negative(bench):
    base, new = R(400, 1), R(400, 1, {k: {"score": None} for k in range(60)})
    _, verdict, _ = bench.judged(base, new)
    lines = [line for line in verdict["suites"][0]["reasons"] if "significantly more often" in line]
    assert len(lines) == 1
    assert "p -" not in lines[0]


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("suites: {s: {range: [-1.7e308, 1.7e308]}}", "range"),
        ("suites: {s: {range: [0, 1.0e+16]}}", "range"),
        ("suites: {s: {}}\nanchor: {baseline: base, max_total_drop: 1}", "max_total_drop 1 is all of"),
        ("suites: {s: {max_total_drop: 1.5}}\nanchor: {baseline: base, max_total_drop: 0.1}", "max_total_drop 1.5"),
        ("suites: {s: {max_drop: 2001-99-99}}", "not YAML"),
        ("suites: {s: {epochs: " + "9" * 5000 + "}}", "not YAML"),
        ("suites: {s: {epochs: 0x" + "f" * 5000 + "}}", "not YAML"),
        ("suites: {s: {epochs: 0x" + "f" * 50 + "}}", "suites.s.epochs"),
        ("suites: {s: {max_drop: 0x" + "f" * 5000 + "}}", "not YAML"),
        ("suites: {s: {max_drop: !!int ''}}", "not YAML"),
        ("suites: {s: {max_drop: !!bool maybe}}", "not YAML"),
    ],
)
def test_a_policy_that_cannot_be_meant_is_a_policy_error(bench, policy, said):
    status, verdict, err = bench.gate(policy)
    assert (status, verdict) == (2, None)
    assert said in " ".join(err.split())


def test_11_a_number_with_an_exponent_is_a_number(bench):
    status, verdict, _ = bench.judged(R(400, 1), R(400, 1), "suites: {s: {max_drop: 1e-2, range: [0, 1e0]}}")
    assert (status, verdict["suites"][0]["max_drop"]) == (0, 0.01)
