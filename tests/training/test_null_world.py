"""Simulated worlds of the demo's size: a world where training changes nothing promotes nothing, a real gain is seen.

How the gain is simulated was settled on its power: at 20 looks, and with answers that are independent on both sides, a
gain of 30 points was promoted in 50% of 60 campaigns, at 5 looks in 65%. Here nine in ten right answers are kept.
"""

from dataclasses import replace

import numpy as np
import pytest

from evalctl.ledger import Look
from evalctl.policy import parse_policy
from evalctl.types import Estimate, Run
from tests.doubles import Synthetic
from training.gains import Pair
from training.promote import Released, crossfit_conditions, outcome, release_conditions

CAMPAIGNS = 400
ALPHA = 0.05
RATE = 0.3
POLICY = parse_policy(
    """
version: 1
defaults: {max_drop: 0.10, roles: [bench, replay]}
suites: {tooluse: {}, arithmetic: {}}
groups: {agentic: [tooluse]}
require_groups: 1
sealed: {looks: 5}
"""
)
FOLDS = {"tooluse": {f"c{cluster}": cluster % 3 for cluster in range(84)}}
DRIFT = Estimate(0.1, 0.05, 0.15, 30, 30)
LOOKS = {"tooluse": Look("tooluse", "candidate", "base", 1, 5)}


class World:
    """Runs of the demo's sizes, drawn anew for each campaign: the base scores RATE, training adds `gain`."""

    def __init__(self, gain: float, seed: int) -> None:
        self.gain = gain
        self.draw = np.random.default_rng(seed)
        shapes = {
            "pool": ("tooluse", 84),
            "sealed": ("tooluse", 48),
            "bench": ("tooluse", 72),
            "replay": ("arithmetic", 131),
        }
        self.empty = {
            role: [
                Synthetic(
                    suite=suite, checkpoint=side, clusters=n, per_cluster=1, role=role, started=f"2026-01-0{day}"
                ).run()
                for day, side in enumerate(("base", "trained"), 1)
            ]
            for role, (suite, n) in shapes.items()
        }

    def pair(self, role: str) -> Pair:
        """Without a gain the two sides answer independently of each other, the hardest null for a paired test. With
        one the trained side keeps nine in ten right answers, and wins the rest of its gain elsewhere; the replay
        samples, which nothing trains, keep nine in ten of all answers."""
        base, trained = self.empty[role]
        first = self._answers(len(base.trials), RATE)
        second = self._answers(len(base.trials), RATE)
        if role == "replay":
            second = np.where(self.draw.random(len(first)) < 0.9, first, second)
        elif self.gain:
            won = (RATE + self.gain - 0.9 * RATE) / (1 - RATE)
            second = (self.draw.random(len(first)) < np.where(first == 1, 0.9, won)).astype(float)
        return Pair(_scored(base, first), _scored(trained, second))

    def promoted(self) -> tuple[bool, bool]:
        """Whether the folds' gain held, and whether the campaign promoted."""
        conditions, whole, _ = crossfit_conditions(POLICY, {"tooluse": self.pair("pool")}, FOLDS)
        if not all(one.held for one in conditions):
            return whole.resolved, False
        held = Released(
            sealed={"tooluse": self.pair("sealed")},
            looks=LOOKS,
            open={"tooluse": self.pair("bench"), "arithmetic": self.pair("replay")},
            drift=DRIFT,
            leaks=0,
        )
        conditions += release_conditions(POLICY, held)[0]
        return whole.resolved, outcome(conditions)["status"] == "promoted"

    def _answers(self, n: int, rate: float) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
        return (self.draw.random(n) < rate).astype(float)


def _scored(run: Run, scores: object) -> Run:
    return replace(run, trials=run.trials.assign(score=scores, metrics="{}"))


@pytest.mark.slow
def test_a_null_world_promotes_in_at_most_alpha_of_400_campaigns() -> None:
    world = World(gain=0.0, seed=20261201)
    found = [world.promoted() for _ in range(CAMPAIGNS)]
    errors = 3 * (ALPHA * (1 - ALPHA) / CAMPAIGNS) ** 0.5
    assert sum(promoted for _, promoted in found) <= ALPHA * CAMPAIGNS
    assert np.mean([resolved for resolved, _ in found]) <= ALPHA + errors, "the folds alone must hold their level too"


@pytest.mark.slow
def test_a_planted_gain_of_three_margins_is_promoted_in_at_least_80_percent() -> None:
    world = World(gain=0.3, seed=20261202)
    found = [world.promoted()[1] for _ in range(CAMPAIGNS)]
    assert np.mean(found) >= 0.8


@pytest.mark.slow
def test_an_effect_that_shifts_whole_clusters_with_zero_mean_is_no_gain() -> None:
    draw = np.random.default_rng(20261203)
    base, trained = (
        Synthetic("tooluse", side, clusters=30, per_cluster=10, role="pool", started=f"2026-02-0{day}").run()
        for day, side in enumerate(("base", "trained"), 1)
    )
    folds = {"tooluse": {f"c{cluster}": cluster % 3 for cluster in range(30)}}
    resolved = []
    for _ in range(CAMPAIGNS // 2):
        rates = np.repeat(0.5 + draw.choice([-0.3, 0.3], 30), 10)
        first, second = (draw.random(300) < 0.5).astype(float), (draw.random(300) < rates).astype(float)
        pair = Pair(_scored(base, first), _scored(trained, second))
        resolved.append(crossfit_conditions(POLICY, {"tooluse": pair}, folds)[1].resolved)
    errors = 3 * (ALPHA * (1 - ALPHA) / len(resolved)) ** 0.5
    assert np.mean(resolved) <= ALPHA + errors
