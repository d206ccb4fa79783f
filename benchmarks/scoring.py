"""Answers scored in a second on one core, scorer by scorer: `python benchmarks/scoring.py [ANSWERS]`.

The aim is 20,000 a second for numbers and text. CPU time is counted, so that a busy machine does not blur it.
"""

import sys
import time

from evalctl.types import Completion, Json, Sample
from scorers import SCORERS

AIM = 20_000
CASES: dict[str, tuple[Json, tuple[str, ...]]] = {
    "numeric": (
        "1234.5",
        ("1,234.50", "$1,234.50", "The total is 72, in total,", "The answer is 1.2345 thousand.", "n/a"),
    ),
    "exact": ("Paris", ("Paris", "“Paris”.", "the city of Paris", "Rome")),
    "contains": ("Paris", ("It is Paris, in France.", "Rome", "The capital is Paris.")),
    "text_f1": ("the city of Paris", ("Paris", "It is the city of Paris in France.", "Rome")),
    "anls": ("Statement of income", ("statement of incomes", "Balance sheet", "Statement of income")),
    "choice": ("B", ("B", "The answer is (B).", "B) Paris", "I do not know")),
    "date": ("2024-03-05", ("March 5, 2024", "2024-03-05", "5 Mar 2024")),
    "list_f1": (["a", "b", "c"], ("c, a, b", '["a", "b"]', "- a\n- b\n- d")),
    "tool_calls": (
        [{"name": "f", "arguments": {"a": 1, "b": "x"}}],
        ('{"name": "f", "arguments": {"a": 1, "b": "x"}}', 'f(a=1, b="y")', "no call"),
    ),
}


def rate(name: str, answers: int) -> float:
    """Answers a second of CPU time; each answer is an object of its own, as in a run."""
    target, texts = CASES[name]
    made = SCORERS[name]()
    sample = Sample("bench", "", target)
    completions = [Completion(texts[at % len(texts)]) for at in range(answers)]
    started = time.process_time()
    for completion in completions:
        made(sample, completion)
    return answers / (time.process_time() - started)


def main() -> int:
    """Print the table; 1 where numeric or a text scorer stays below the aim."""
    answers = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    slow = []
    for name in CASES:
        found = rate(name, answers)
        print(f"{name:<12}{found:>12,.0f} answers/s")
        if name in ("numeric", "exact", "contains", "text_f1", "anls") and found < AIM:
            slow.append(name)
    if slow:
        print(f"below {AIM:,}/s: {', '.join(slow)}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
