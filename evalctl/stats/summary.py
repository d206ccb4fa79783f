"""The one figure that a set of trials has for a metric."""

import numpy as np
import pandas as pd

from evalctl import measures
from evalctl.types import Estimate

from .clusters import Floats
from .means import mean


def summary(trials: pd.DataFrame, metric: str = "correct") -> Estimate:
    """Mean over samples of epoch means, with its two-sided 95% interval by cluster.

    Every (content key, variant) weighs the same. `limit` and `model_error` count as their score, or 0; what was not
    scored for reasons that are not the model's is left out. The interval is that of `mean`, within the range that the
    rows declare ([0, 1] for `correct` and its like). NaN with infinite ends where nothing was scored.
    """
    said = measures.declared(trials, metric)
    bounds = next(iter(said.ranges)) if len(said.ranges) == 1 else measures.default_range(metric)
    direction = next(iter(said.directions)) if len(said.directions) == 1 else "higher"
    zero = measures.zero_of(direction, bounds, measures.raw_values(trials, metric))
    values = measures.counted_values(trials, metric, zero)
    values[measures.not_finite(trials, metric)] = np.nan
    return side_mean(trials, values, bounds)


def side_mean(frame: pd.DataFrame, values: Floats, bounds: tuple[float, float] | None) -> Estimate:
    """Mean over samples of epoch means of `values` (shape (rows,), NaN left out), with its 95% interval by cluster."""
    kept = ~np.isnan(values)
    codes, _ = pd.factorize(measures.unit_names(frame)[kept], sort=True)
    groups, _ = pd.factorize(measures.cluster_names(frame)[kept], sort=True)
    if not len(codes):
        return mean(np.zeros(0), np.zeros(0, np.int64), bounds)
    counts = np.bincount(codes)
    labels = np.zeros(len(counts), np.int64)
    labels[codes] = groups
    return mean(np.bincount(codes, weights=values[kept]) / counts, labels, bounds)
