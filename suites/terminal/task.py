"""A terminal task: what is asked, the files at the start, the hidden tests, a solution, and typical faults."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """Commands are for `/bin/sh` in the work folder."""

    request: str
    files: Mapping[str, str]
    tests: Mapping[str, str]
    """For the scorer `unit_tests`: `test_*.py` and their data."""
    solution: str
    faults: tuple[str, ...]
    """Commands of somebody who misread, guessed, or wrote a constant; the tests must fail under each."""
    band: str = "easy"


Maker = Callable[[random.Random], Task]
"""A task with its data drawn; the same draw always gives the same task."""


def lines(*parts: object) -> str:
    """One part a line, each ended.

    >>> lines("a", 2)
    'a\\n2\\n'
    """
    return "".join(f"{part}\n" for part in parts)
