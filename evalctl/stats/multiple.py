"""Several tests at once."""

from collections.abc import Sequence


def holm_levels(p_values: Sequence[float], alphas: Sequence[float]) -> list[float]:
    """The level at which each test is judged: a test rejects exactly where its p-value is at most its level.

    Holm 1979, Scandinavian Journal of Statistics 6:65, step down; where the tests' own levels differ, by p / alpha
    (his section 5 with equal shares). Tests after the first that does not reject are judged at that step's level.

    >>> holm_levels([0.01, 0.04, 0.03], [0.05, 0.05, 0.05])
    [0.016666666666666666, 0.025, 0.025]
    """
    order = sorted(range(len(p_values)), key=lambda i: p_values[i] / alphas[i])
    levels = [0.0] * len(order)
    left, stopped = len(order), False
    for index in order:
        levels[index] = alphas[index] / left
        stopped = stopped or p_values[index] > levels[index]
        if not stopped:
            left -= 1
    return levels
