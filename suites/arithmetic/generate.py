"""Sums of two three-digit numbers, by how many columns carry.

Input `123+456=`, target `579`. A cluster is one unordered pair of numbers, so `456+123=` could never stand in
another role than `123+456=`. Pairs are walked in a fixed order and a hash says who owns them: what is measured
and what training may see (`siblings`) never meet. The seed chooses which number stands first.
"""

from collections.abc import Iterator, Sequence
from itertools import count

from evalctl.digests import unit_interval
from evalctl.types import Role, Sample

LOW, HIGH = 100, 1000
FAMILIES = ("no_carry", "one_carry", "two_carries", "three_carries")
RHYTHM = (Role.REPLAY, Role.POOL, Role.REPLAY, Role.POOL, Role.REPLAY, Role.POOL, Role.REPLAY, Role.POOL, Role.POOL)
"""Four of nine samples guard what a model can do already; five are drawn over pool, dev and sealed."""
LONGEST_WALK = 2_000_000
"""Draws before a walk gives up: about five times as many as there are pairs."""
REPLAYED = 2
"""The replay role holds the first two families alone: general ability, not what training is after."""


def carries(a: int, b: int) -> int:
    """How many columns of `a + b` carry.

    >>> carries(999, 1), carries(123, 456)
    (3, 0)
    """
    found = carry = 0
    while a or b or carry:
        carry = (a % 10 + b % 10 + carry) // 10
        found += carry
        a, b = a // 10, b // 10
    return found


def measured(a: int, b: int) -> bool:
    """True where the pair may be measured; all others are free for training, siblings included."""
    low, high = sorted((a, b))
    return unit_interval("arithmetic", "measured", f"{low}+{high}") < 0.5


def _walk(family: int, start: str) -> Iterator[tuple[int, int]]:
    """Distinct pairs (low, high) of a family, in an order that depends on `start` alone."""
    seen = set()
    for step in range(LONGEST_WALK):
        a = int(LOW + (HIGH - LOW) * unit_interval("arithmetic", start, str(family), str(step), "a"))
        b = int(LOW + (HIGH - LOW) * unit_interval("arithmetic", start, str(family), str(step), "b"))
        low, high = min(a, b), max(a, b)
        if carries(low, high) == family and (low, high) not in seen:
            seen.add((low, high))
            yield low, high


def _sample(low: int, high: int, family: int, role: Role, turned: bool) -> Sample:
    first, second = (high, low) if turned else (low, high)
    return Sample(
        id=f"{low}+{high}",
        input=f"{first}+{second}=",
        target=str(low + high),
        family=FAMILIES[family],
        cluster=f"{low}+{high}",
        band=f"carry{family}",
        role=role,
    )


def generate(seed: int, n: int) -> Iterator[Sample]:
    """Yield `n` sums; families take turns within each role. Pairs do not repeat while the space lasts."""
    walks = [(pair for pair in _walk(f, "walk") if measured(*pair)) for f in range(len(FAMILIES))]
    turns = {Role.REPLAY: count(), Role.POOL: count()}
    for place in range(n):
        role = RHYTHM[place % len(RHYTHM)]
        family = next(turns[role]) % (REPLAYED if role is Role.REPLAY else len(FAMILIES))
        pair = next(walks[family], None)
        if pair is None:
            return
        low, high = pair
        yield _sample(low, high, family, role, unit_interval("turn", str(seed), f"{low}+{high}") < 0.5)


def siblings(sample: Sample, seed: int, n: int) -> Sequence[Sample]:
    """`n` sums with as many carries, of other numbers, from the half of the space that is never measured."""
    family = FAMILIES.index(sample.family)
    found: list[Sample] = []
    for low, high in _walk(family, f"sibling {seed} {sample.id}"):
        if not measured(low, high):
            found.append(_sample(low, high, family, Role.POOL, unit_interval(str(seed), f"{low}+{high}") < 0.5))
        if len(found) == n:
            break
    return found


def reference(sample: Sample) -> str:
    """The sum."""
    return str(sample.target)


def wrong(sample: Sample) -> Sequence[str]:
    """The faults that are made: a carry forgotten, off by one, an operand repeated, the sum cut or stretched."""
    total = int(sample.target)
    first, second = (int(part) for part in str(sample.input).rstrip("=").split("+"))
    columns = "".join(str((int(x) + int(y)) % 10) for x, y in zip(str(first), str(second), strict=True))
    faults = [str(total + 1), str(total - 10), str(first), str(total)[:-1], f"{total}0", "I do not know."]
    return [columns, *faults] if int(columns) != total else faults
