"""Means, bounds and corrections: against published figures, closed forms and each other."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as reference

from evalctl.stats import (
    Clusters,
    clopper_pearson,
    clusters_for_pass,
    clusters_needed,
    holm_levels,
    interval,
    mean,
    more_clusters,
    pass_power,
    plus_one_high,
    plus_one_low,
    standard_error,
    summary,
    visible_drop,
)
from evalctl.store.frames import to_frame
from evalctl.types import Trial


def singles(values: object) -> Clusters:
    array = np.asarray(values, dtype=float)
    return Clusters(array, np.ones(len(array)))


def test_the_cluster_error_is_the_plain_one_where_each_sample_stands_alone() -> None:
    values = np.array([0.1, 0.4, 0.4, 0.9, 0.0])
    assert standard_error(singles(values)) == pytest.approx(values.std(ddof=1) / math.sqrt(5))


def test_copies_of_a_sample_in_one_cluster_are_no_further_evidence() -> None:
    values = np.array([0.1, 0.4, 0.4, 0.9, 0.0])
    once = singles(values)
    copied = Clusters.of(np.repeat(values, 7), np.repeat(np.arange(5), 7))
    assert standard_error(copied) == pytest.approx(standard_error(once))
    assert copied.mean == pytest.approx(once.mean)


def test_every_sample_weighs_the_same_whatever_its_cluster() -> None:
    clusters = Clusters.of(np.array([1.0, 0.0, 0.0, 0.0]), np.array([0, 1, 1, 1]))
    assert clusters.mean == 0.25


def test_plus_one_is_the_t_bound_with_one_contradicting_cluster() -> None:
    values = np.array([0.0] * 90 + [1.0] * 6 + [-1.0] * 4)
    more = np.append(values, -1.0)
    error = more.std(ddof=1) / math.sqrt(101)
    assert plus_one_low(singles(values), 0.05, -1.0) == pytest.approx(more.mean() - reference.t.isf(0.05, 100) * error)


@pytest.mark.parametrize(("margin", "count"), [(0.01, 299), (0.02, 149), (0.05, 59), (0.10, 29)])
def test_identical_data_exclude_a_margin_from_the_exact_floor_on(margin: float, count: int) -> None:
    assert clusters_needed(margin, 0.05) == count
    assert plus_one_low(singles(np.zeros(count)), 0.05, -1.0) > -margin
    assert plus_one_low(singles(np.zeros(count - 1)), 0.05, -1.0) <= -margin


values_in_range = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=1, max_size=40)


@settings(max_examples=80, deadline=None)
@given(values_in_range)
def test_no_interval_is_a_point_or_leaves_the_range(values: list[float]) -> None:
    found = interval(singles(values), (-1.0, 1.0))
    assert -1.0 <= found.low <= found.value <= found.high <= 1.0
    assert found.low < found.high
    assert plus_one_high(singles(values), 0.05, 1.0) == pytest.approx(
        -plus_one_low(singles([-v for v in values]), 0.05, -1.0)
    )


def test_without_a_range_no_spread_means_no_bound() -> None:
    found = mean(np.full(9, 4.2), np.arange(9), None)
    assert (found.low, found.high) == (-math.inf, math.inf)


def test_zeros_and_ones_alone_get_the_exact_interval() -> None:
    found = mean(np.array([1.0] * 3 + [0.0] * 7), np.arange(10), (0.0, 1.0))
    assert (found.low, found.high) == pytest.approx((0.0667, 0.6525), abs=1e-4)
    assert clopper_pearson(0, 0) == (0.0, 1.0)
    assert clopper_pearson(10, 10)[1] == 1.0


def test_holm_rejects_what_holm_1979_rejects() -> None:
    p_values = [0.01, 0.04, 0.03, 0.005]
    levels = holm_levels(p_values, [0.05] * 4)
    assert [p <= level for p, level in zip(p_values, levels, strict=True)] == [True, False, False, True]
    assert holm_levels([], []) == []
    assert holm_levels([0.5], [0.05]) == [0.05]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_levels_agree_with_the_step_down_by_hand(p_values: list[float]) -> None:
    levels = holm_levels(p_values, [0.05] * len(p_values))
    rejected = {i for i, (p, level) in enumerate(zip(p_values, levels, strict=True)) if p <= level}
    by_hand, order = set(), sorted(range(len(p_values)), key=lambda i: p_values[i])
    for rank, i in enumerate(order):
        if p_values[i] > 0.05 / (len(order) - rank):
            break
        by_hand.add(i)
    assert rejected == by_hand


def trial(i: int, score: float | None, **fields: object) -> Trial:
    return Trial("s", "d", f"q{i}", f"k{i}", cluster=f"c{i}", score=score, **fields)  # type: ignore[arg-type]


def test_summary_averages_epochs_first_and_counts_the_models_own_failures() -> None:
    rows = [trial(0, 1.0), trial(0, 0.0, epoch=2), trial(1, 1.0), trial(2, None, status="limit"), trial(3, 1.0)]
    rows += [trial(4, None, status="infra_error"), trial(5, None, status="model_error"), trial(6, 1.0, status="limit")]
    found = summary(to_frame(rows))
    assert (found.n, found.clusters) == (6, 6)
    assert found.value == pytest.approx((0.5 + 1 + 0 + 1 + 0 + 1) / 6)
    assert math.isnan(summary(to_frame([])).value)
    assert math.isnan(summary(to_frame([trial(0, None, status="infra_error")])).value)


def test_summary_of_a_lower_is_better_figure_counts_a_failure_as_the_bad_end() -> None:
    spec = {"value": 2.0, "direction": "lower", "range": [0, 10]}
    rows = [trial(0, 1.0, metrics={"rmsd": spec}), trial(1, None, status="model_error")]
    assert summary(to_frame(rows), "rmsd").value == 6.0


@pytest.mark.parametrize(("margin", "samples"), [(0.01, 5100), (0.02, 1275), (0.03, 567)])
def test_the_plan_agrees_with_the_published_sizes(margin: float, samples: int) -> None:
    # The published sizes are for a z test; the gate's own bound costs up to a seventh more.
    assert samples <= clusters_for_pass(math.sqrt(1 / 12), 0.05, margin, 1.0) <= samples * 1.15


def test_power_rises_with_size_and_is_none_under_twenty_clusters() -> None:
    chances = [pass_power(0.3, n, 0.05, 0.05, 1.0) for n in (19, 60, 100, 300, 1000)]
    assert chances == sorted(chances)
    assert chances[0] == 0.0
    assert pass_power(0.3, 300, 0.05, 0.0, 1.0) == 0.0
    assert visible_drop(0.3, 300, 0.05, 0.05) == pytest.approx(0.0646, abs=1e-3)
    assert visible_drop(0.3, 4, 0.05, 0.05) == math.inf


def test_what_is_needed_is_what_decides() -> None:
    assert more_clusters((0.0, 0.0, 10), 0.05, 0.05, 1.0) == 49
    extra = more_clusters((-0.01, 0.3, 100), 0.05, 0.05, 1.0)
    assert extra is not None
    assert more_clusters((-0.01, 0.3, 100 + extra), 0.05, 0.05, 1.0) == 1
    assert more_clusters((-0.08, 0.3, 30), 0.05, 0.05, 1.0) is not None
    assert more_clusters((-0.2, 0.0, 30), 0.05, 0.05, 1.0) == 1
