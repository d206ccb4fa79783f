"""Means over samples whose evidence comes in clusters.

Every sample weighs the same; a cluster is one unit of evidence. With S_c the sum and n_c the number of
samples of cluster c, the mean is sum(S) / sum(n) and its residuals are e_c = S_c - mean * n_c.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats: TypeAlias = NDArray[np.float64]

TINY = 1e-12
"""Relative to the range: differences below it are rounding, not evidence."""


@dataclass(frozen=True)
class Clusters:
    """Cluster totals: `sums` and `sizes`, float64 of shape (clusters,), sizes above 0."""

    sums: Floats
    sizes: Floats

    @classmethod
    def of(cls, values: Floats, labels: NDArray[np.int64]) -> "Clusters":
        """Total finite `values` of shape (samples,) by integer cluster `labels` of the same shape."""
        if not len(values):
            return cls(np.zeros(0), np.zeros(0))
        sizes = np.asarray(np.bincount(labels), dtype=np.float64)
        sums = np.asarray(np.bincount(labels, weights=values), dtype=np.float64)
        return cls(sums[sizes > 0], sizes[sizes > 0])

    @property
    def count(self) -> int:
        """Number of clusters."""
        return len(self.sums)

    @property
    def n(self) -> int:
        """Number of samples."""
        return round(float(self.sizes.sum()))

    @property
    def mean(self) -> float:
        """The mean over samples; NaN where there are none."""
        return float(self.sums.sum() / self.sizes.sum()) if self.count else math.nan

    @property
    def spread(self) -> float:
        """Highest cluster mean minus lowest: 0 where all clusters say the same."""
        means = self.sums / self.sizes
        return float(means.max() - means.min()) if self.count else 0.0

    def joined(self, total: float, size: float) -> "Clusters":
        """One cluster more, with the sum `total` over `size` samples."""
        return Clusters(np.append(self.sums, total), np.append(self.sizes, size))


def standard_error(clusters: Clusters) -> float:
    """Cluster-robust standard error of the mean; infinite under two clusters.

    The linearised ratio estimator with G / (G - 1): Cochran 1977, Sampling Techniques, eq. 6.13; the clustered error
    of Miller 2024 (arXiv 2411.00640, section 2.2) with the small-sample factor.
    """
    count = clusters.count
    if count < 2:
        return math.inf
    residuals = clusters.sums - clusters.mean * clusters.sizes
    return math.sqrt(count / (count - 1) * float(residuals @ residuals)) / float(clusters.sizes.sum())


def t_quantile(alpha: float, freedom: int) -> float:
    """The upper `alpha` quantile of Student's t."""
    return -float(special.stdtrit(freedom, alpha))


def plus_one_low(clusters: Clusters, alpha: float, worst: float) -> float:
    """One-sided lower bound of the mean at level `alpha`: the cluster t after adding one cluster at `worst`.

    `worst` is the lowest value a sample can have; the added cluster has the mean size. One contradicting
    observation mends the t bound's failure at small n and few discordant pairs, as adding pseudo-observations
    does for proportions (Agresti and Coull 1998, The American Statistician 52:119; for paired differences
    Agresti and Min 2005, Statistics in Medicine 24:729). Where all clusters say the same the exact bound of
    `identical_low` holds too. Never below `worst`; `worst` itself where there is no evidence.
    """
    if not clusters.count:
        return worst
    size = float(clusters.sizes.mean())
    more = clusters.joined(worst * size, size)
    low = more.mean - t_quantile(alpha, clusters.count) * standard_error(more)
    if clusters.spread <= TINY * max(1.0, abs(worst)):
        low = min(low, identical_low(clusters.mean, clusters.count, alpha, worst))
    return max(low, worst)


def plus_one_high(clusters: Clusters, alpha: float, best: float) -> float:
    """The mirror image of `plus_one_low`: one-sided upper bound with one cluster added at `best`."""
    return -plus_one_low(Clusters(-clusters.sums, clusters.sizes), alpha, -best)


def identical_low(value: float, clusters: int, alpha: float, worst: float) -> float:
    """Exact lower bound of the mean when all of `clusters` independent clusters gave `value`.

    A share q of clusters that differ is seen by none of G with chance (1 - q) ** G, so q is at most
    1 - alpha ** (1 / G) and each differing cluster is at worst `worst` (Clopper and Pearson 1934,
    Biometrika 26:404, zero successes; Hanley and Lippman-Hand 1983, JAMA 249:1743).

    >>> round(identical_low(0.0, 10, 0.05, -1.0), 3)
    -0.259
    """
    return value - -math.expm1(math.log(alpha) / clusters) * (value - worst)


def clusters_needed(margin: float, alpha: float) -> int:
    """Identical independent clusters needed to exclude a drop of `margin` (a share of the range, in (0, 1)).

    ln(alpha) / ln(1 - margin), rounded up: `identical_low` solved for the count.

    >>> [clusters_needed(m, 0.05) for m in (0.01, 0.02, 0.05, 0.10)]
    [299, 149, 59, 29]
    """
    return math.ceil(math.log(alpha) / math.log1p(-margin))
