"""Family `filter`: write `solve.sh`, which reads standard input and prints what was asked; run on hidden inputs.

Sibling: another transformation. Constants fail because there are three inputs with different outputs, and `cat`
fails because no output is its input.
"""

import json
import random
from collections.abc import Callable, Sequence

from .task import Maker, Task, lines

WORDS = ["alder", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine", "rowan", "willow", "yew"]
TEST = """
import json
from verifier import data, exists, run

def check(number):
    case = json.loads(data("cases.json"))[number]
    done = run(["/bin/sh", "solve.sh"], stdin=case["in"])
    assert done.exit == 0, done.stderr
    assert done.stdout.rstrip("\\n") == case["out"].rstrip("\\n")

def test_first():
    check(0)

def test_second():
    check(1)

def test_third():
    check(2)
"""


CASES = 3


def _script(body: str) -> str:
    return f"cat > solve.sh <<'EOF'\n{body}\nEOF"


def _task(
    request: str, case: Callable[[int], Sequence[object]], rule: Callable[[str], str], body: str, faults: Sequence[str]
) -> Task:
    """`case` draws the lines of an input by its number; `rule` is the right answer, `body` the script that gives it."""
    inputs, outputs = [""], [""]
    while len({*inputs, *outputs}) < 2 * CASES:
        inputs = [lines(*case(number)) for number in range(CASES)]
        outputs = [rule(text) for text in inputs]
    cases = [{"in": given, "out": expected} for given, expected in zip(inputs, outputs, strict=True)]
    constants = (f"printf '%s\\n' '{outputs[0].strip()}'", "echo 0", "cat", ":")
    return Task(
        f"Write a script solve.sh that reads lines from standard input and {request}",
        {},
        {"test_solve.py": TEST, "cases.json": json.dumps(cases)},
        _script(body),
        tuple(_script(fault) for fault in (*faults, *constants)),
    )


def total(draw: random.Random) -> Task:
    return _task(
        "prints the sum of the numbers, one of which stands on each line.",
        lambda number: [draw.randint(1, 99) for _ in range(3 + 2 * number)],
        lambda text: lines(sum(map(int, text.split()))),
        "awk '{s += $1} END {print s}'",
        ["wc -l", "tail -n 1", "sort -n | tail -n 1"],
    )


def backwards(draw: random.Random) -> Task:
    return _task(
        "prints the lines in reverse order, the last one first.",
        lambda number: draw.sample(WORDS, 5 + number),
        lambda text: lines(*reversed(text.splitlines())),
        "tac",
        ["rev", "sort", "tail -n 1"],
    )


def first_seen(draw: random.Random) -> Task:
    def case(number: int) -> Sequence[str]:
        falling = sorted(draw.sample(WORDS, 4 + number), reverse=True)
        return [*falling, draw.choice(falling), falling[0]]

    return _task(
        "prints each different line once, in the order in which they first come.",
        case,
        lambda text: lines(*dict.fromkeys(text.splitlines())),
        "awk '!seen[$0]++'",
        ["sort -u", "uniq", "sort | uniq -d"],
    )


def words(draw: random.Random) -> Task:
    return _task(
        "prints how many words there are in all.",
        lambda number: [" ".join(draw.sample(WORDS, draw.randint(2, 4))) for _ in range(2 + 2 * number)],
        lambda text: lines(len(text.split())),
        "wc -w",
        ["wc -l", "wc -c", "head -n 1 | wc -w"],
    )


def capitals(draw: random.Random) -> Task:
    return _task(
        "prints them in upper case.",
        lambda number: draw.sample(WORDS, 4 + number),
        str.upper,
        "tr a-z A-Z",
        ["tr a-d A-D", "head -n 1 | tr a-z A-Z", "sed 's/^./X/'"],
    )


def lengths(draw: random.Random) -> Task:
    return _task(
        "prints each line's number of characters, one number a line.",
        lambda number: draw.sample(WORDS, 4 + number),
        lambda text: lines(*map(len, text.splitlines())),
        "awk '{print length}'",
        ["wc -c", "wc -l", "awk '{print length + 1}'"],
    )


def ranking(draw: random.Random) -> Task:
    def case(number: int) -> Sequence[str]:
        # 9 and 100: as text they would change places.
        points = [9, 100, *draw.sample(range(10, 99), 3 + number)]
        return [f"{word} {n}" for word, n in zip(draw.sample(WORDS, len(points)), points, strict=True)]

    return _task(
        "prints them sorted by the number in the second column, the highest first.",
        case,
        lambda text: lines(*sorted(text.splitlines(), key=lambda line: -int(line.split()[1]))),
        "sort -k2,2nr",
        ["sort -k2,2n", "sort -k2,2r", "cat"],
    )


def no_digit(draw: random.Random) -> Task:
    def case(number: int) -> Sequence[str]:
        digits = [f"{draw.choice(WORDS)}{draw.randint(1, 9)}", f"{draw.randint(10, 99)} oaks"]
        mixed = [*draw.sample(WORDS, 3 + number), *digits]
        draw.shuffle(mixed)
        return mixed

    return _task(
        "prints only those lines that hold no digit.",
        case,
        lambda text: lines(*(line for line in text.splitlines() if not any(c.isdigit() for c in line))),
        "grep -v '[0-9]'",
        ["grep '[0-9]'", "grep -v '^[0-9]'", "tr -d 0-9"],
    )


TASKS: dict[str, Maker] = {
    "total": total,
    "backwards": backwards,
    "first-seen": first_seen,
    "words": words,
    "capitals": capitals,
    "lengths": lengths,
    "ranking": ranking,
    "no-digit": no_digit,
}
