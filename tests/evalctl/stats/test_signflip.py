"""The sign-flip test and its interval say the same, and what exact enumeration says."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalctl.stats import Clusters, SignFlip

LEVELS = (0.01, 0.05, 0.2)


def by_hand(clusters: Clusters, shift: float = 0.0) -> tuple[float, float]:
    moved = clusters.sums - shift * clusters.sizes
    totals = np.array(list(itertools.product((1.0, -1.0), repeat=clusters.count))) @ moved
    return float((totals <= moved.sum() + 1e-9).mean()), float((totals >= moved.sum() - 1e-9).mean())


some_clusters = st.lists(
    st.tuples(st.integers(-8, 8), st.integers(1, 4)), min_size=2, max_size=9
).map(lambda rows: Clusters(np.array([r[0] / 4 for r in rows]), np.array([float(r[1]) for r in rows])))  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(some_clusters)
def test_p_values_and_bounds_are_those_of_every_flip_listed(clusters: Clusters) -> None:
    flips = SignFlip(clusters)
    lower, upper = by_hand(clusters)
    if clusters.spread > 1e-9:
        assert flips.p_lower == pytest.approx(lower, abs=1e-9)
        assert flips.p_upper == pytest.approx(upper, abs=1e-9)
    for level in LEVELS:
        assert (flips.upper(level) < 0) == (flips.p_lower <= level)
        assert (flips.lower(level) > 0) == (flips.p_upper <= level)
        if clusters.spread > 1e-9 and np.isfinite(flips.upper(level)):
            assert (
                by_hand(clusters, flips.upper(level) + 1e-6)[0]
                <= level
                < by_hand(clusters, flips.upper(level) - 1e-6)[0]
            )


@settings(max_examples=40, deadline=None)
@given(some_clusters, st.randoms())
def test_the_order_of_clusters_changes_nothing(clusters: Clusters, random: object) -> None:
    order = np.arange(clusters.count)
    random.shuffle(order)  # type: ignore[attr-defined]
    other = SignFlip(Clusters(clusters.sums[order], clusters.sizes[order]))
    flips = SignFlip(clusters)
    assert (flips.p_lower, flips.upper(0.05), flips.lower(0.05)) == (
        other.p_lower,
        other.upper(0.05),
        other.lower(0.05),
    )


def test_drawn_and_normal_forms_agree_with_what_they_stand_for() -> None:
    rng = np.random.default_rng(3)
    sums = np.round(rng.normal(-0.12, 1.0, 14), 3)
    exact = SignFlip(Clusters(sums, np.ones(14)))
    wide = Clusters(rng.normal(-0.07, 1.0, 400), np.ones(400))
    normal = SignFlip(wide)
    coins = rng.integers(0, 2, (20_000, 400)).astype(bool)
    means = (coins @ wide.sums) / coins.sum(axis=1)
    assert exact.p_lower == pytest.approx(by_hand(Clusters(sums, np.ones(14)))[0], abs=1e-9)
    assert normal.p_lower == pytest.approx((means >= 0).mean(), abs=0.006)
    assert normal.upper(0.05) == pytest.approx(np.quantile(means, 0.95), abs=0.006)
    drawn = SignFlip(Clusters(wide.sums[:60], np.ones(60)))
    p = ((coins[:, :60] @ wide.sums[:60]) >= 0).mean()
    assert drawn.p_lower == pytest.approx(p, abs=0.012)
    assert (drawn.upper(0.05) < 0) == (drawn.p_lower <= 0.05)


@pytest.mark.parametrize("count", [4, 5, 10, 400])
@pytest.mark.parametrize("value", [-1.0, -0.1, 0.0, 0.5])
def test_clusters_that_all_say_the_same_keep_a_width_and_the_sign_of_the_test(count: int, value: float) -> None:
    flips = SignFlip(Clusters(np.full(count, value), np.ones(count)))
    assert (flips.upper(0.05) < 0) == (value < 0 and 0.5**count <= 0.05)
    assert (flips.lower(0.05) > 0) == (value > 0 and 0.5**count <= 0.05)
    if value:
        assert flips.lower(0.05) < value < flips.upper(0.05)


def test_few_clusters_reject_nothing_and_say_so_by_an_infinite_bound() -> None:
    flips = SignFlip(Clusters(np.array([-1.0, -0.9, -0.8]), np.ones(3)))
    assert flips.upper(0.05) == np.inf


def test_a_few_clusters_that_carry_the_rest_are_drawn_not_taken_as_normal() -> None:
    noise = np.random.default_rng(1).normal(0, 1e-3, 250)
    flips = SignFlip(Clusters(np.concatenate([noise, -noise, [-5.0, -5.0, -5.0]]), np.ones(503)))
    assert flips.p_lower == pytest.approx(1 / 16, abs=0.01)
