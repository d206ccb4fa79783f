"""Means and paired differences as Estimates, never with a zero width."""

import math

import numpy as np
from numpy.typing import NDArray

from evalctl.types import Estimate

from .clusters import Clusters, Floats, plus_one_high, plus_one_low, standard_error, t_quantile
from .exact import clopper_pearson


def mean(
    values: Floats, labels: NDArray[np.int64], bounds: tuple[float, float] | None, confidence: float = 0.95
) -> Estimate:
    """Mean of finite `values`, shape (samples,), with its two-sided interval, by cluster `labels` of the same shape.

    Zeros and ones, one a cluster: Clopper and Pearson 1934, exact. Else the cluster t, each end after adding one
    cluster at that end of `bounds` (see `plus_one_low`). Without `bounds` the plain cluster t, infinite where there is
    no spread to read an error from: an interval is never a point. NaN value, infinite ends, where nothing is given.
    """
    clusters = Clusters.of(values, labels)
    if bounds == (0.0, 1.0) and clusters.count == clusters.n and bool(np.isin(values, (0.0, 1.0)).all()):
        low, high = clopper_pearson(round(float(values.sum())), clusters.n, confidence) if len(values) else (0.0, 1.0)
        return Estimate(clusters.mean, low, high, clusters.n, clusters.count)
    return interval(clusters, bounds, confidence)


def interval(clusters: Clusters, bounds: tuple[float, float] | None, confidence: float = 0.95) -> Estimate:
    """Two-sided interval of a cluster mean, each end at (1 - confidence) / 2; see `mean`."""
    tail = (1 - confidence) / 2
    if bounds is not None:
        low, high = plus_one_low(clusters, tail, bounds[0]), plus_one_high(clusters, tail, bounds[1])
    else:
        error = standard_error(clusters)
        reach = t_quantile(tail, clusters.count - 1) * error if 0 < error < math.inf else math.inf
        low, high = clusters.mean - reach, clusters.mean + reach
    return Estimate(clusters.mean, low, high, clusters.n, clusters.count)
