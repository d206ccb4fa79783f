"""A policy file says what it means, or the error says what it should have said."""

import pytest

from evalctl.errors import PolicyError
from evalctl.policy import load_policy, parse_policy

WHOLE = """
version: 1
defaults: {tier: critical, metric: correct, direction: higher, max_drop: 0.05, alpha: 0.05,
           roles: [bench, replay, pool], min_coverage: 0.98, max_error_rate: 0.02,
           missing: strict, on_inconclusive: block,
           require_same: [suite_digest, prompt_digest, sampling, judge, limits]}
suites:
  tooluse:  {max_drop: 0.04, epochs: 4, must_pass: ["refund-guard#*"]}
  docqa:
  terminal: {metrics: [{name: correct},
                       {name: seconds, direction: lower, range: [0, 600], max_drop: 30, tier: advisory}]}
anchor: {baseline: "baseline:v1.0", max_total_drop: 0.08}
sealed: {looks: 20}
"""


def test_every_default_is_filled_in_from_metric_suite_and_defaults() -> None:
    policy = parse_policy(WHOLE)
    tooluse, docqa, correct, seconds = policy.demands
    assert (tooluse.max_drop, tooluse.epochs, tooluse.must_pass) == (0.04, 4, ("refund-guard#*",))
    assert (docqa.max_drop, docqa.alpha, docqa.tier, docqa.max_total_drop) == (0.05, 0.05, "critical", 0.08)
    assert (correct.metric, correct.direction) == ("correct", "higher")
    assert (seconds.metric, seconds.direction, seconds.range, seconds.tier) == (
        "seconds",
        "lower",
        (0.0, 600.0),
        "advisory",
    )
    assert seconds.max_total_drop is None
    assert docqa.named_same
    assert not parse_policy("suites: {a: {}}").demands[0].named_same


def test_the_digest_is_of_what_is_said_not_of_how() -> None:
    assert parse_policy("suites: {a: {}, b: {tier: advisory}} # why").digest == (
        parse_policy("suites:\n  b: {tier: advisory}\n  a: {}").digest
    )
    assert parse_policy("suites: {a: {max_drop: 0.02}}").digest != parse_policy("suites: {a: {}}").digest


def test_sealed_is_judged_at_alpha_over_looks() -> None:
    policy = parse_policy("suites: {a: {roles: [sealed, bench]}, b: {}}\nsealed: {looks: 20}")
    assert [demand.alpha for demand in policy.demands] == [0.0025, 0.05]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("suites: {a: {max_dorp: 1}}", "suites.a: unknown key 'max_dorp'; did you mean 'max_drop'?"),
        ("suites: {a: {}}\nanchr: {}", "unknown key 'anchr'; did you mean 'anchor'?"),
        ("suites: {a: {metrics: [{name: x, tierr: y}]}}", "unknown key 'tierr'; did you mean 'tier'?"),
        ("suites: {a: {tier: crticial}}", "did you mean 'critical'?"),
        ("suites: {a: {roles: [bnech]}}", "did you mean 'bench'?"),
        ("suites: {a: {range: [1, 0]}}", "must rise"),
        ("suites:\n a: {}\n a: {tier: advisory}", "key 'a' twice"),
        ("suites: {a: {max_drop: true}}", "suites.a.max_drop"),
        ("suites: {a: {max_drop: .nan}}", "suites.a.max_drop"),
        ("suites: {a: {max_drop: -0.1}}", "suites.a.max_drop"),
        ("suites: {a: {max_drop: 5}}", "max_drop 5 is all of"),
        ("suites: {a: {alpha: 0}}", "suites.a.alpha"),
        ("suites: {a: {min_coverage: 98}}", "suites.a.min_coverage"),
        ("suites: {a: {epochs: 0}}", "suites.a.epochs"),
        ("suites: {a: {roles: []}}", "nothing would be read"),
        ("suites: {a: {roles: [dev]}}", "never reported as a result"),
        ("suites: {a: {roles: [sealed]}}", "without a budget of looks"),
        ("suites: {a: {roles: [sealed]}}\nsealed: {}", "without a budget of looks"),
        ("suites: {a: {tier: advisory}}", "nothing decides"),
        ("suites: {a: {max_total_drop: 0.1}}", "without an anchor"),
        ("suites: {a: {metric: ms, range: [0, 9]}}\nanchor: {baseline: b, max_total_drop: 0.1}", "has its own unit"),
        ("suites: {a: {metrics: []}}", "at least one"),
        ("suites: {a: {metrics: [{name: x}, {name: x}]}}", "named twice"),
        ("version: 2\nsuites: {a: {}}", "version"),
        ("suites: {}", "names no suite"),
        ("", "a policy is a mapping"),
        ("suites: [", "not YAML"),
        ("suites: {tooluse: {}}\ngroups: {g: [tooluze]}", "did you mean 'tooluse'"),
        ("suites: {a: {}}\ngroups: {g: []}", "holds no suite"),
        ("suites: {a: {}}\ngroups: {g: [a]}\nrequire_groups: 2", "2 of 1 groups could never agree"),
        ("suites: {a: {}}\ndrift: {max_kl: 0}", "greater than 0"),
    ],
)
def test_what_is_wrong_is_told_with_its_place_and_mend(text: str, said: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parse_policy(text, "p.yaml")
    assert str(caught.value).startswith("p.yaml: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_status == 2


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("suites: {a: {slices: [{context: long}]}}", "suites.a.slices"),
        ("suites: {a: {}}\ncontamination: {audit: latest, gate_on: clean}", "contamination"),
        ("suites: {a: {}}\nsealed: {looks: 3, shards: 4}", "sealed.shards"),
    ],
)
def test_what_is_not_decided_yet_is_refused_by_name_never_passed_over(text: str, key: str) -> None:
    with pytest.raises(PolicyError, match=f"{key}: this version does not decide it"):
        parse_policy(text)


def test_a_file_that_is_not_there_or_is_no_text_is_a_policy_error(tmp_path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(PolicyError, match="no such policy file"):
        load_policy(tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_bytes(b"\xff\xfe\x00")
    for name in ("bad.yaml", "."):
        with pytest.raises(PolicyError, match="cannot be read as text"):
            load_policy(tmp_path / name)
