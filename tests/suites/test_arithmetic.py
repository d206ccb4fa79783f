"""`arithmetic`: replay of what is known, sums with carries to be learned, and a half that is never measured."""

from collections import Counter

import pytest

from evalctl.types import Role
from suites import load_suite
from suites.arithmetic.generate import carries, measured, siblings
from suites.checks import check_data


def test_replay_holds_at_least_300_single_sample_clusters_and_every_role_enough() -> None:
    samples = load_suite("arithmetic").samples
    roles = Counter(sample.role for sample in samples)
    assert len({sample.cluster for sample in samples}) == len(samples)
    assert roles[Role.REPLAY] >= 300
    assert min(roles[role] for role in (Role.POOL, Role.DEV, Role.SEALED)) >= 20


def test_replay_is_what_a_small_model_can_do_and_the_others_hold_all_carries() -> None:
    samples = load_suite("arithmetic").samples
    assert {s.family for s in samples if s.role is Role.REPLAY} == {"digits", "tens", "no_carry", "one_carry"}
    for role in (Role.POOL, Role.DEV, Role.SEALED):
        families = Counter(s.family for s in samples if s.role is role)
        assert set(families) == {"no_carry", "one_carry", "two_carries", "three_carries"}
        assert max(families.values()) - min(families.values()) <= 4


def test_the_input_is_bare_and_the_family_says_how_many_columns_carry() -> None:
    for sample in load_suite("arithmetic").samples:
        first, second = map(int, str(sample.input).removesuffix("=").split("+"))
        assert str(first + second) == sample.target
        assert set(str(sample.input)) <= set("0123456789+=")
        if sample.band != "known":
            assert sample.band == f"carry{carries(first, second)}"


@pytest.mark.parametrize(("a", "b", "n"), [(123, 456, 0), (158, 321, 0), (158, 325, 1), (999, 1, 3), (900, 900, 1)])
def test_carries_are_counted_by_column(a: int, b: int, n: int) -> None:
    assert carries(a, b) == n == carries(b, a)


def test_what_is_measured_and_what_training_may_see_never_meet() -> None:
    suite = load_suite("arithmetic", samples=3000)
    clusters = {sample.cluster for sample in suite.samples}
    assert all(measured(*map(int, cluster.split("+"))) for cluster in clusters)
    parents = [sample for sample in suite.samples if sample.role is Role.POOL][::60]
    for parent in parents:
        found = siblings(parent, 0, 5)
        assert {s.family for s in found} == {parent.family}
        assert not {s.cluster for s in found} & clusters
        assert len({s.cluster for s in found}) == 5
    shown = [m.content.removesuffix("=") for m in suite.prefix if m.role == "user"]
    assert shown
    assert not any(measured(*map(int, pair.split("+"))) for pair in shown)


def test_nothing_like_a_replay_sample_may_be_trained_on() -> None:
    replay = next(s for s in load_suite("arithmetic").samples if s.role is Role.REPLAY)
    with pytest.raises(ValueError, match="is replay"):
        siblings(replay, 0, 1)


@pytest.mark.parametrize(("samples", "seed"), [(660, 0), (5000, 0), (1000, 4)])
def test_no_pair_stands_in_two_roles_at_any_size(samples: int, seed: int) -> None:
    assert list(check_data(load_suite("arithmetic", samples, seed))) == []
