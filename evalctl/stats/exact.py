"""Exact bounds for counts."""

from scipy import special


def clopper_pearson(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Two-sided interval of a share of `n` independent trials, each end at (1 - confidence) / 2.

    Clopper and Pearson 1934, Biometrika 26:404: never below its confidence. (0, 1) where n is 0.

    >>> [round(x, 4) for x in clopper_pearson(0, 10)]
    [0.0, 0.3085]
    """
    tail = (1 - confidence) / 2
    low = float(special.betaincinv(successes, n - successes + 1, tail)) if successes > 0 else 0.0
    high = float(special.betainccinv(successes + 1, n - successes, tail)) if successes < n else 1.0
    return low, high
