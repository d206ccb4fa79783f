"""Family `repair`: a Python file with one fault, the sign of it, and hidden calls of the function.

Sibling: another function with another fault. Constants fail because the hidden calls have different results.
"""

import json
import random
from collections.abc import Callable, Sequence

from evalctl.types import Json

from .task import Maker, Task

TEST = """
import json
from verifier import call, data

def check(number):
    case = json.loads(data("cases.json"))[number]
    assert call(case["file"], case["function"], *case["arguments"]) == case["result"]
"""


def _task(
    name: str,
    faulty: str,
    whole: str,
    right: Callable[..., Json],
    calls: Sequence[tuple[Json, ...]],
    faults: Sequence[str],
) -> Task:
    """`faulty` and `whole` are the text of `NAME.py`; the first call is told, all are hidden tests."""
    file = f"{name}.py"
    results = [right(*arguments) for arguments in calls]
    assert len({json.dumps(result) for result in results}) > 1
    cases = [
        {"file": file, "function": name, "arguments": list(arguments), "result": result}
        for arguments, result in zip(calls, results, strict=True)
    ]
    tests = TEST + "".join(f"\ndef test_{i}():\n    check({i})\n" for i in range(len(cases)))
    shown = f"{name}({', '.join(repr(argument) for argument in calls[0])})"
    constants = (f"def {name}(*args):\n    return {results[0]!r}\n", f"def {name}(*args):\n    return None\n", "")
    return Task(
        f"{file} has a fault: {shown} must give {results[0]!r}, and does not. Repair the function {name}.",
        {file: faulty},
        {"test_repair.py": tests, "cases.json": json.dumps(cases)},
        _write(file, whole),
        tuple(_write(file, text) for text in (*faults, *constants)),
        "hard" if faulty.count("\n") > 2 else "easy",
    )


def _write(file: str, text: str) -> str:
    return f"cat > {file} <<'EOF'\n{text}EOF"


def mean(draw: random.Random) -> Task:
    calls = [([a, a + 1],) for a in draw.sample(range(1, 40), 3)] + [([2, 2, 5],), ([7],)]
    return _task(
        "mean",
        "def mean(xs):\n    return sum(xs) // len(xs)\n",
        "def mean(xs):\n    return sum(xs) / len(xs)\n",
        lambda xs: sum(xs) / len(xs),
        calls,
        ["def mean(xs):\n    return sum(xs) / 2\n", "def mean(xs):\n    return max(xs)\n"],
    )


def leap(draw: random.Random) -> Task:
    late = draw.choice([year for year in range(1700, 4000, 100) if year % 400])
    return _task(
        "leap",
        "def leap(year):\n    return year % 4 == 0\n",
        "def leap(year):\n    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)\n",
        lambda year: year % 4 == 0 and (year % 100 != 0 or year % 400 == 0),
        [(late,), (2000,), (2024,), (2 * draw.randint(900, 1000) + 1,)],
        ["def leap(year):\n    return year % 4 == 0 and year % 100 != 0\n", "def leap(year):\n    return True\n"],
    )


def clamp(draw: random.Random) -> Task:
    low, high, above = draw.randint(1, 5), draw.randint(20, 30), draw.randint(1, 50)
    return _task(
        "clamp",
        "def clamp(x, low, high):\n    return max(high, min(low, x))\n",
        "def clamp(x, low, high):\n    return min(high, max(low, x))\n",
        lambda x, low, high: min(high, max(low, x)),
        [(high + above, low, high), (low - 3, low, high), (12, low, high)],
        ["def clamp(x, low, high):\n    return min(high, x)\n", "def clamp(x, low, high):\n    return max(low, x)\n"],
    )


def product(draw: random.Random) -> Task:
    calls = [(n,) for n in draw.sample(range(3, 11), 3)] + [(1,)]

    def right(n: int) -> int:
        return 1 if n < 2 else n * right(n - 1)

    return _task(
        "product",
        "def product(n):\n    out = 1\n    for i in range(1, n):\n        out *= i\n    return out\n",
        "def product(n):\n    out = 1\n    for i in range(1, n + 1):\n        out *= i\n    return out\n",
        right,
        calls,
        ["def product(n):\n    return n * (n - 1)\n", "def product(n):\n    return n\n"],
    )


def vowels(draw: random.Random) -> Task:
    first = "".join(draw.choice(letters) for letters in ("AEIOU", "bcdfgh", "aeiou", "BCDFGH", "AEIOU"))
    calls = [(first,), (draw.choice(["banana", "papaya"]),), ("rhythm",), ("AEIOUaeiou",)]
    return _task(
        "vowels",
        'def vowels(s):\n    return sum(c in "aeiou" for c in s)\n',
        'def vowels(s):\n    return sum(c in "aeiou" for c in s.lower())\n',
        lambda s: sum(c in "aeiou" for c in s.lower()),
        calls,
        ['def vowels(s):\n    return sum(c in "AEIOU" for c in s)\n', "def vowels(s):\n    return len(s)\n"],
    )


def last_word(draw: random.Random) -> Task:
    one, two, three, four = draw.sample(["red", "old", "big", "hot", "wet", "new", "dry", "raw", "shy", "odd"], 4)
    return _task(
        "last",
        'def last(s):\n    return s.split(" ")[1]\n',
        "def last(s):\n    return s.split()[-1]\n",
        lambda s: s.split()[-1],
        [(f"{one} {two} {three}",), (f"{four} fox",), (f"a {two} {one} owl",), ("alone",)],
        ["def last(s):\n    return s[-1]\n", "def last(s):\n    return s.split()[0]\n"],
    )


def heat(draw: random.Random) -> Task:
    calls = [(5 * n,) for n in draw.sample(range(2, 20), 3)] + [(0,)]
    return _task(
        "heat",
        "def heat(celsius):\n    return celsius * 9 / 5 - 32\n",
        "def heat(celsius):\n    return celsius * 9 / 5 + 32\n",
        lambda celsius: celsius * 9 / 5 + 32,
        calls,
        ["def heat(celsius):\n    return celsius + 32\n", "def heat(celsius):\n    return (celsius + 32) * 9 / 5\n"],
    )


def once(draw: random.Random) -> Task:
    a, b, c = sorted(draw.sample(range(1, 50), 3))
    return _task(
        "once",
        "def once(xs):\n    return sorted(set(xs))\n",
        "def once(xs):\n    return list(dict.fromkeys(xs))\n",
        lambda xs: list(dict.fromkeys(xs)),
        [([c, a, c, b],), ([b, b],), ([],), ([c, b, a, b],)],
        ["def once(xs):\n    return xs\n", "def once(xs):\n    return sorted(set(xs), reverse=True)\n"],
    )


TASKS: dict[str, Maker] = {
    "mean": mean,
    "leap": leap,
    "clamp": clamp,
    "product": product,
    "vowels": vowels,
    "last-word": last_word,
    "heat": heat,
    "once": once,
}
