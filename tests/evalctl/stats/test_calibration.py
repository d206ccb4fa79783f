"""The decision is wrong no more often than it says: a corner of what benchmarks/calibration.py shows whole."""

import math

import numpy as np
import pytest

from evalctl.gate.decide import Evidence
from evalctl.gate.verdict import Decision
from evalctl.stats import plus_one_low
from evalctl.stats.simulate import Cell, grid

ALPHA, MARGIN = 0.05, 0.05
RUNS, FLIPS = 2_000, 250
HARD = [
    Cell(30, 1, 0.5, 0.0),
    Cell(60, 1, 0.5, 0.0),
    Cell(100, 1, 0.2, 0.05),
    Cell(300, 1, 0.8, 0.05),
    Cell(300, 1, 0.5, 0.3),
    Cell(100, 5, 0.5, 0.1),
    Cell(1000, 20, 0.5, 0.3),
    Cell(300, 5, 0.98, 0.05, epochs=4),
    Cell(100, 1, 0.5, 0.3, kind="graded"),
    Cell(1000, 5, 0.8, 0.3, epochs=4, kind="graded"),
]


def allowed(alpha: float, runs: int) -> float:
    return alpha + 3 * math.sqrt(alpha * (1 - alpha) / runs)


@pytest.mark.parametrize("cell", HARD, ids=lambda cell: cell.name)
def test_a_drop_of_the_margin_passes_in_no_more_than_alpha(cell: Cell) -> None:
    rng = np.random.default_rng(11)
    passed = naive = 0
    for _ in range(RUNS):
        drawn = cell.draw(MARGIN, rng)
        passed += drawn.count >= 20 and plus_one_low(drawn, ALPHA, -1.0) > -MARGIN
        naive += drawn.mean > -MARGIN
    assert passed / RUNS <= max(0.065, allowed(ALPHA, RUNS))
    assert naive / RUNS > 0.35


@pytest.mark.parametrize("cell", [HARD[2], HARD[3], HARD[5], HARD[6], HARD[8]], ids=lambda cell: cell.name)
def test_no_change_is_called_worse_or_better_in_no_more_than_alpha(cell: Cell) -> None:
    rng = np.random.default_rng(12)
    worse = better = 0
    for _ in range(FLIPS):
        evidence = Evidence(cell.draw(0.0, rng), 1.0, MARGIN, ALPHA, ALPHA)
        worse += evidence.high(ALPHA) < 0
        better += evidence.gain(ALPHA) > 0
    assert max(worse, better) / FLIPS <= allowed(ALPHA, FLIPS)


def test_a_real_fall_is_seen_and_an_unchanged_candidate_passes() -> None:
    rng = np.random.default_rng(13)
    fallen = [Evidence(Cell(100).draw(0.15, rng), 1.0, MARGIN, ALPHA, ALPHA).decide(ALPHA) for _ in range(60)]
    same = [Evidence(Cell(300).draw(0.0, rng), 1.0, MARGIN, ALPHA, ALPHA).decide(ALPHA) for _ in range(60)]
    assert fallen.count(Decision.REGRESSED) >= 50
    assert same.count(Decision.PASS) >= 45


def test_the_simulator_draws_the_drop_it_is_asked_for() -> None:
    rng = np.random.default_rng(14)
    for cell in (Cell(1000, 5, 0.5, 0.2, epochs=4), Cell(1000, 1, 0.5, 0.2, kind="graded")):
        means = [cell.draw(0.05, rng).mean for _ in range(200)]
        assert np.mean(means) == pytest.approx(-0.05, abs=0.004)
    assert {cell.samples for cell in grid()} == {10, 30, 100, 300, 1000}
