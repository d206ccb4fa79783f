"""Who belongs to whom: assignments between what was wanted and what was given."""

from collections.abc import Callable, Sequence


def perfect(fits: Sequence[Sequence[bool]]) -> bool:
    """Whether every row can have a column of its own that fits (bipartite matching by augmenting paths, Kuhn 1955).

    >>> perfect([[True, True], [True, False]])
    True
    """
    if any(len(row) < len(fits) for row in fits):
        return False
    return largest(len(fits), len(fits[0]) if fits else 0, lambda i, j: fits[i][j]) == len(fits)


def largest(rows: int, columns: int, fits: Callable[[int, int], bool]) -> int:
    """How many pairs can be made, each row and column in at most one."""
    owner = [-1] * columns

    def place(row: int, seen: set[int]) -> bool:
        for column in range(columns):
            if column not in seen and fits(row, column):
                seen.add(column)
                if owner[column] < 0 or place(owner[column], seen):
                    owner[column] = row
                    return True
        return False

    return sum(place(row, set()) for row in range(rows))


def heaviest(weights: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """The pairs (row, column) of greatest total weight, as many as the shorter side has (Kuhn 1955, Munkres 1957).

    >>> heaviest([[0.9, 0.8], [0.8, 0.0]])
    [(0, 1), (1, 0)]
    """
    if not weights or not weights[0]:
        return []
    if len(weights) > len(weights[0]):
        return sorted(
            (row, column) for column, row in heaviest([list(column) for column in zip(*weights, strict=True)])
        )
    rows, columns = len(weights), len(weights[0])
    potential_row, potential_column = [0.0] * (rows + 1), [0.0] * (columns + 1)
    owner = [0] * (columns + 1)
    for row in range(1, rows + 1):
        _augment(row, weights, potential_row, potential_column, owner)
    return sorted((owner[column] - 1, column - 1) for column in range(1, columns + 1) if owner[column])


def _augment(
    row: int,
    weights: Sequence[Sequence[float]],
    potential_row: list[float],
    potential_column: list[float],
    owner: list[int],
) -> None:
    """Give `row` (from 1) a column along the shortest augmenting path; costs are negative weights."""
    columns = len(owner) - 1
    least, back, used = [float("inf")] * (columns + 1), [0] * (columns + 1), [False] * (columns + 1)
    owner[0], column = row, 0
    while owner[column]:
        used[column] = True
        at, step, nearest = owner[column], float("inf"), 0
        for other in range(1, columns + 1):
            if used[other]:
                continue
            cost = -weights[at - 1][other - 1] - potential_row[at] - potential_column[other]
            if cost < least[other]:
                least[other], back[other] = cost, column
            if least[other] < step:
                step, nearest = least[other], other
        for other in range(columns + 1):
            if used[other]:
                potential_row[owner[other]] += step
                potential_column[other] -= step
            else:
                least[other] -= step
        column = nearest
    while column:
        owner[column] = owner[back[column]]
        column = back[column]
