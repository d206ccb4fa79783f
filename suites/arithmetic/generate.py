"""Sums of two numbers: three-digit ones by how many columns carry, and the sums a small model knows by heart.

Input `123+456=`, target `579`. A cluster is one unordered pair of numbers, so `456+123=` can never stand in
another role than `123+456=`. Pairs are walked in a fixed order and a hash says who owns them: what is measured
and what training may see (`siblings`) never meet. The seed chooses which number stands first.

The role replay guards what is there before training: sums of digits and of tens (a chat model of 135M knows most),
and three-digit sums with at most one carry (the tiny model's own ability). Pool, dev and sealed hold all carries.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, cycle

from evalctl.digests import unit_interval
from evalctl.types import Role, Sample

Pair = tuple[int, int]

LOW, HIGH = 100, 1000
CARRIES = ("no_carry", "one_carry", "two_carries", "three_carries")
KNOWN = ("digits", "tens")
RHYTHM = (Role.REPLAY, Role.POOL) * 5 + (Role.REPLAY,)
"""Six of eleven samples are replay; five are drawn over pool, dev and sealed."""
REPLAYED = ("digits", "no_carry", "one_carry", "tens", "no_carry", "one_carry", "no_carry", "one_carry")
LONGEST_WALK = 2_000_000
"""Draws before a walk gives up: about five times as many as there are pairs."""
SHOWN = {(2, 3), (10, 20), (234, 512)}
"""Pairs that stand in the prompt as worked examples."""


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
    """True where the pair may be measured; all others are free for prompts and training, siblings included."""
    low, high = sorted((a, b))
    if (low, high) in SHOWN:
        return False
    return low < LOW or unit_interval("arithmetic", "measured", f"{low}+{high}") < 0.5


def _walk(family: str, start: str) -> Iterator[Pair]:
    """Distinct pairs (low, high) of a family, in an order that depends on `start` alone."""
    if family in KNOWN:
        step = 10 if family == "tens" else 1
        pairs = [(a * step, b * step) for a, b in combinations_with_replacement(range(1, 10), 2)]
        yield from sorted(pairs, key=lambda pair: unit_interval("arithmetic", start, str(pair)))
        return
    wanted, seen = CARRIES.index(family), set()
    for step in range(LONGEST_WALK):
        a, b = (int(LOW + (HIGH - LOW) * unit_interval("arithmetic", start, family, str(step), part)) for part in "ab")
        low, high = min(a, b), max(a, b)
        if carries(low, high) == wanted and (low, high) not in seen:
            seen.add((low, high))
            yield low, high


def _sample(pair: Pair, family: str, role: Role, draw: str) -> Sample:
    low, high = pair
    first, second = pair if unit_interval("turn", draw, f"{low}+{high}") < 0.5 else (high, low)
    return Sample(
        id=f"{low}+{high}",
        input=f"{first}+{second}=",
        target=str(low + high),
        family=family,
        cluster=f"{low}+{high}",
        band="known" if family in KNOWN else f"carry{carries(low, high)}",
        role=role,
    )


def generate(seed: int, n: int) -> Iterator[Sample]:
    """Yield `n` sums; families take turns within each role, and no pair comes twice."""
    walks = {name: (p for p in _walk(name, "walk") if measured(*p)) for name in (*KNOWN, *CARRIES)}
    turns = {Role.REPLAY: cycle(REPLAYED), Role.POOL: cycle(CARRIES)}
    for place in range(n):
        role = RHYTHM[place % len(RHYTHM)]
        # Sums of digits and tens run out; the three-digit ones then go on without them.
        for family in (next(turns[role]) for _ in REPLAYED):
            pair = next(walks[family], None)
            if pair is not None:
                yield _sample(pair, family, role, str(seed))
                break
        else:
            return


def siblings(sample: Sample, seed: int, n: int) -> Sequence[Sample]:
    """`n` sums with as many carries, of other numbers, from the half of the space that is never measured.

    Raises ValueError for a replay sample: nothing like it may be trained on.
    """
    if sample.role is Role.REPLAY:
        raise ValueError(f"{sample.id} is replay: it has no siblings")
    found: list[Sample] = []
    for pair in _walk(sample.family, f"sibling {seed} {sample.id}"):
        if not measured(*pair):
            found.append(_sample(pair, sample.family, Role.POOL, str(seed)))
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
    width = max(len(str(first)), len(str(second)))
    digits = zip(str(first).zfill(width), str(second).zfill(width), strict=True)
    columns = "".join(str((int(x) + int(y)) % 10) for x, y in digits)
    faults = [columns, str(total + 1), str(total - 10), str(first), str(sample.input), f"{total}0", "I do not know."]
    return [fault for fault in faults if fault != str(total)]
