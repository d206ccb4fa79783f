"""Roles and folds are fixed by names alone, before anything is scored."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalctl.errors import SuiteError, UsageError
from evalctl.splits import DRAWN, draw_folds, draw_roles, strata_of, with_roles
from evalctl.types import Role, Sample

SHARES = {Role.POOL: 0.5, Role.DEV: 0.2, Role.SEALED: 0.3}


def strata(n: int, families: int = 4) -> dict[str, str]:
    return {f"c{i}": f"family {i % families}" for i in range(n)}


@given(n=st.integers(1, 300), more=st.integers(0, 100), families=st.integers(1, 9), salt=st.text(max_size=5))
def test_a_larger_suite_keeps_the_smaller_ones_roles(n: int, more: int, families: int, salt: str) -> None:
    small = draw_roles(strata(n, families), SHARES, salt)
    large = draw_roles(strata(n + more, families), SHARES, salt)
    assert {cluster: large[cluster] for cluster in small} == small


@given(n=st.integers(1, 300), families=st.integers(1, 5), salt=st.text(max_size=5))
def test_every_stratum_has_the_shares_to_within_the_number_of_roles(n: int, families: int, salt: str) -> None:
    places = strata(n, families)
    roles = draw_roles(places, SHARES, salt)
    for stratum in set(places.values()):
        counts = Counter(roles[cluster] for cluster in places if places[cluster] == stratum)
        for role, share in SHARES.items():
            assert abs(counts[role] - share * counts.total()) < len(SHARES)


def test_another_salt_draws_other_roles_and_the_same_salt_the_same() -> None:
    first, again, other = (draw_roles(strata(200), SHARES, salt) for salt in ("v1", "v1", "v2"))
    assert first == again
    assert sum(first[cluster] != other[cluster] for cluster in first) > 50


def test_a_role_without_a_share_gets_nothing_and_no_share_at_all_is_an_error() -> None:
    assert set(draw_roles(strata(50), {Role.POOL: 1.0, Role.DEV: 0.0}, "v").values()) == {Role.POOL}
    with pytest.raises(SuiteError, match="share above 0"):
        draw_roles(strata(3), {}, "v")


def test_declared_samples_keep_their_role_and_a_cluster_has_one() -> None:
    samples = [Sample(f"s{i}", "?", cluster=f"c{i // 2}", family="f", role=Role.POOL) for i in range(40)]
    samples += [Sample("b", "?", cluster="b", role=Role.BENCH), Sample("r", "?", cluster="r", role=Role.REPLAY)]
    placed = with_roles(samples, SHARES, "v")
    assert [s.role for s in placed[-2:]] == [Role.BENCH, Role.REPLAY]
    by_cluster = {s.cluster: {t.role for t in placed if t.cluster == s.cluster} for s in placed}
    assert all(len(roles) == 1 for roles in by_cluster.values())
    assert {s.role for s in placed[:-2]} == set(DRAWN)
    assert [replace(s, role=Role.POOL) for s in placed[:-2]] == samples[:-2]
    with pytest.raises(SuiteError, match="cluster 'c0' is declared bench and also to be drawn"):
        with_roles([*samples, Sample("x", "?", cluster="c0", role=Role.BENCH)], SHARES, "v")


@given(n=st.integers(3, 200), folds=st.integers(2, 3), families=st.integers(1, 6))
def test_folds_are_even_overall_and_in_each_stratum_and_ignore_order(n: int, folds: int, families: int) -> None:
    places = strata(n, families)
    drawn = draw_folds(places, folds, "campaign")
    assert drawn == draw_folds(dict(reversed(places.items())), folds, "campaign")
    counts = Counter(drawn.values())
    assert set(drawn.values()) == set(range(folds))
    assert max(counts.values()) - min(counts.values()) <= 1
    for stratum in set(places.values()):
        inside = Counter(dict.fromkeys(range(folds), 0))
        inside.update(drawn[cluster] for cluster in places if places[cluster] == stratum)
        assert max(inside.values()) - min(inside.values()) <= 1


def test_fewer_clusters_than_folds_is_said() -> None:
    with pytest.raises(UsageError, match="2 cluster"):
        draw_folds(strata(2), 3, "s")
    with pytest.raises(UsageError, match="at least 2"):
        draw_folds(strata(9), 1, "s")


def test_the_stratum_is_family_and_band_of_the_first_sample() -> None:
    samples = [Sample("a", "?", cluster="c", family="f", band="easy"), Sample("b", "?", cluster="c", band="hard")]
    assert strata_of(samples) == {"c": ("f", "easy")}
