"""The decision on one set of cluster differences: bounds first, then a name for where they lie."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evalctl.stats import Clusters, SignFlip, more_clusters, plus_one_high, plus_one_low
from evalctl.types import Estimate

from .verdict import Decision

FEWEST = 5
"""Clusters under which everything is INCONCLUSIVE."""
FEWEST_TO_PASS = 20
"""Clusters under which only REGRESSED and IMPROVED can be said."""
ROUNDING = 1e-9
"""A fall that equals the margin but for rounding equals it; relative to the range."""


@dataclass(frozen=True)
class Evidence:
    """Differences (higher is better) by cluster, with the margin and level they are judged at.

    L is the t+1 bound, valid for PASS; U inverts the cluster sign-flip test, valid for REGRESSED; so does the lower
    bound that IMPROVED needs.
    """

    clusters: Clusters
    width: float | None
    """Of the metric's range; without one nothing can PASS."""
    margin: float
    alpha: float
    finest: float
    """The smallest level that a correction could ask for."""

    @cached_property
    def flips(self) -> SignFlip:
        """The sign-flip distribution."""
        return SignFlip(self.clusters, self.finest, self.width or 1.0)

    @property
    def count(self) -> int:
        """Number of clusters."""
        return self.clusters.count

    @property
    def value(self) -> float:
        """D, the mean difference."""
        return self.clusters.mean

    @cached_property
    def low(self) -> float:
        """L at `alpha`; without a range that of the sign-flip, which is shown and passes nothing."""
        if self.width is not None:
            return plus_one_low(self.clusters, self.alpha, -self.width)
        bound = self.flips.lower(self.alpha) if self.count else -math.inf
        return bound if bound < self.value else -math.inf

    def high(self, level: float) -> float:
        """U at `level`: below 0 exactly where the sign-flip test rejects no change, and never a point."""
        bound = self.flips.upper(level) if self.count else math.inf
        if bound < 0:
            return bound
        if self.width is None:
            return bound if bound > self.value else math.inf
        return max(min(bound, self.width), plus_one_high(self.clusters, level, self.width))

    def gain(self, level: float) -> float:
        """The lower bound that IMPROVED needs: above 0 exactly where the sign-flip test rejects no change."""
        return self.flips.lower(level) if self.count else -math.inf

    def estimate(self, level: float) -> Estimate:
        """D with L and U, one-sided each."""
        return Estimate(self.value, self.low, self.high(level), self.clusters.n, self.count)

    def decide(self, level: float) -> Decision:
        """PASS when L > -margin; else REGRESSED when U < 0 and D <= -margin; else INCONCLUSIVE."""
        if self.count < FEWEST:
            return Decision.INCONCLUSIVE
        if self.count >= FEWEST_TO_PASS and self.width is not None and self.low > -self.margin:
            return Decision.PASS
        if self.high(level) < 0 and self.value <= -self.margin + ROUNDING * (self.width or 1.0):
            return Decision.REGRESSED
        return Decision.INCONCLUSIVE

    def needed(self) -> int | None:
        """Further clusters that would decide, if they look like those seen; None where no number would."""
        if self.width is None or self.count < 2:
            return None
        means = self.clusters.sums / self.clusters.sizes.mean()
        residuals = means - self.value * self.clusters.sizes / self.clusters.sizes.mean()
        deviation = math.sqrt(float(np.square(residuals).sum()) / (self.count - 1))
        return more_clusters((self.value, deviation, self.count), self.alpha, self.margin, self.width)
