"""How often a design can say PASS or REGRESSED, before anyone runs it.

Cluster differences are taken as normal about the true difference with one standard deviation: the usual planning
approximation (Miller 2024, arXiv 2411.00640, section 5), here with the gate's own bounds in place of the z test.
"""

import math
from collections.abc import Callable

from scipy import special

from .clusters import TINY, clusters_needed, identical_low, t_quantile

MOST_CLUSTERS = 100_000_000
FEWEST_TO_PASS = 20
"""Clusters under which PASS is never said."""
FEWEST = 5
"""Clusters under which nothing is said."""


def pass_power(deviation: float, clusters: int, alpha: float, margin: float, width: float) -> float:
    """Chance that an unchanged candidate PASSes the margin: the mean difference is normal about 0.

    `deviation` is the standard deviation of cluster differences, `width` the range's, in the metric's unit. 0 under the
    20 clusters that a PASS needs, and where even identical data could not exclude the margin.
    """
    if (
        clusters < FEWEST_TO_PASS
        or margin <= 0
        or (margin < width and clusters < clusters_needed(margin / width, alpha))
    ):
        return 0.0
    least = _passing_difference(deviation, clusters, alpha, margin, width)
    if deviation <= 0:
        return 1.0 if least <= 0 else 0.0
    return float(special.ndtr(-least * math.sqrt(clusters) / deviation))


def clusters_for_pass(deviation: float, alpha: float, margin: float, width: float, power: float = 0.8) -> int | None:
    """The fewest clusters at which an unchanged candidate PASSes with chance `power`; None where no number does."""
    if margin <= 0:
        return None
    return _fewest(FEWEST_TO_PASS, lambda count: pass_power(deviation, count, alpha, margin, width) >= power)


def visible_drop(deviation: float, clusters: int, alpha: float, margin: float, power: float = 0.8) -> float:
    """The smallest true drop that is called REGRESSED (U < 0 and D <= -margin) with chance `power`.

    `alpha` is the level after correction. Infinite under 5 clusters, or where so few flips cannot reach the level.
    """
    if clusters < FEWEST or 0.5**clusters > alpha:
        return math.inf
    error = deviation / math.sqrt(clusters)
    reach = float(special.ndtri(power))
    return max(margin + reach * error, (t_quantile(alpha, clusters - 1) + reach) * error)


def more_clusters(seen: tuple[float, float, int], alpha: float, margin: float, width: float) -> int | None:
    """Further clusters that would decide if they look like those `seen` (difference, deviation, count).

    PASS is aimed at where the difference lies above -`margin`, else REGRESSED. None where no number would decide.
    """
    difference, deviation, count = seen
    if difference > -margin:
        total = _fewest(
            max(count + 1, FEWEST_TO_PASS), lambda g: _bound(difference, deviation, g, alpha, width) > -margin
        )
    else:
        total = _fewest(
            max(count + 1, FEWEST),
            lambda g: 0.5**g <= alpha and difference + t_quantile(alpha, g - 1) * deviation / math.sqrt(g) < 0,
        )
    return None if total is None else total - count


def _bound(difference: float, deviation: float, clusters: int, alpha: float, width: float) -> float:
    """`plus_one_low` of `clusters` equal clusters with that mean and standard deviation."""
    squares = (clusters - 1) * deviation**2 + clusters / (clusters + 1) * (difference + width) ** 2
    error = math.sqrt(squares / clusters / (clusters + 1))
    low = (clusters * difference - width) / (clusters + 1) - t_quantile(alpha, clusters) * error
    return min(low, identical_low(difference, clusters, alpha, -width)) if deviation <= TINY * width else low


def _passing_difference(deviation: float, clusters: int, alpha: float, margin: float, width: float) -> float:
    """The smallest observed difference whose t+1 bound lies above -`margin`; infinite where none does."""
    low, high = -margin, width
    if _bound(high, deviation, clusters, alpha, width) <= -margin:
        return math.inf
    for _ in range(50):
        middle = (low + high) / 2
        if _bound(middle, deviation, clusters, alpha, width) > -margin:
            high = middle
        else:
            low = middle
    return high


def _fewest(start: int, holds: Callable[[int], bool]) -> int | None:
    """The smallest count from `start` at which `holds`, which stays true once it is; None past 100 million."""
    low, high = start - 1, start
    while not holds(high):
        low, high = high, high * 2
        if high > MOST_CLUSTERS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
