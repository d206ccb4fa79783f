"""Made-up comparisons with a known truth, to see how often a rule is wrong.

One cell of the grid is a size, a cluster size, a base rate, a discordance, epochs and a kind of score; `draw` makes the
cluster differences of one comparison in it.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .clusters import Clusters, Floats


@dataclass(frozen=True)
class Cell:
    """Where a rule is tried."""

    samples: int
    cluster_size: int = 1
    base_rate: float = 0.5
    discordance: float = 0.1
    """Share of samples on which the sides differ beyond what the drop itself needs, as far as the rate allows."""
    epochs: int = 1
    kind: Literal["binary", "graded"] = "binary"
    alike: float = 0.5
    """Share of a cluster's samples that follow the cluster rather than themselves."""

    @property
    def name(self) -> str:
        """One line that tells the cell."""
        return (
            f"n {self.samples:>4} k {self.cluster_size:>2} rate {self.base_rate:.2f} "
            f"discordance {self.discordance:.2f} epochs {self.epochs} {self.kind}"
        )

    def chances(self, drop: float) -> tuple[float, float] | None:
        """Chance that a sample gets worse, and better, at a true drop; None where the base rate cannot fall so far."""
        size = 1.0 if self.kind == "binary" else 0.5
        fall = drop / size
        both = min(self.discordance / 2, 1 - self.base_rate, self.base_rate - fall)
        return None if both < 0 else (both + fall, both)

    def draw(self, drop: float, rng: np.random.Generator) -> Clusters:
        """Cluster totals of differences whose true mean is -`drop`.

        A graded difference has a uniform size in [0, 1]; epochs are independent draws, averaged within a sample.
        """
        chances = self.chances(drop)
        assert chances is not None
        worse, better = chances
        clusters = self.samples // self.cluster_size
        shape = (clusters, self.cluster_size, self.epochs)
        own = self._differences(worse, better, shape, rng)
        shared = self._differences(worse, better, (clusters, 1, self.epochs), rng)
        follows = rng.random((clusters, self.cluster_size, 1)) < self.alike
        taken = np.where(follows, shared, own) if self.cluster_size > 1 else own
        return Clusters(taken.mean(axis=2).sum(axis=1), np.full(clusters, float(self.cluster_size)))

    def _differences(
        self, worse: float, better: float, shape: tuple[int, int, int], rng: np.random.Generator
    ) -> Floats:
        coin = rng.random(shape)
        signs = np.where(coin < worse, -1.0, np.where(coin < worse + better, 1.0, 0.0))
        return signs if self.kind == "binary" else signs * rng.random(shape)


def grid() -> list[Cell]:
    """Sizes, cluster sizes, base rates, discordances, epochs and kinds, as the contract lists them."""
    return [
        Cell(n, k, rate, discordance, epochs, kind)
        for n in (10, 30, 100, 300, 1000)
        for k in (1, 5, 20)
        if n // k >= 5
        for rate in (0.02, 0.2, 0.5, 0.8, 0.98)
        for discordance in (0.0, 0.05, 0.3)
        for epochs in (1, 4)
        for kind in ("binary", "graded")
    ]
