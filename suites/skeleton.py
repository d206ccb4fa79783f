"""A small suite folder to start from: it loads, and it validates."""

import re
from pathlib import Path

from evalctl.errors import UsageError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")

SUITE = """\
name: {name}
version: "1"                       # a new version whenever a score could change
capability: [counting]
roles: {{bench: 1.0}}                # shares; pool, dev and sealed are drawn by cluster, bench and replay declared
salt: {name}-1                     # of that draw; belongs to the version
scorer: {{name: numeric}}            # `evalctl score numeric --target 8 --answer "It is 8."` tries it
agent: single_turn
max_tokens: 32
prompt:
  system: Answer with a number.
generator: generate.py             # or delete this and `samples`, and keep samples.jsonl
samples: 40
card:
  source: Who wrote the samples, and from what.
  licence: CC0-1.0
  does_not_measure: What a good score here does not show.
"""

GENERATE = '''\
"""What the suite `{name}` asks. Deterministic in its arguments; `evalctl suites validate` proves every sample."""

from collections.abc import Iterator, Sequence

from evalctl.types import Role, Sample


def _sample(number: int, role: Role, wording: str) -> Sample:
    return Sample(
        id=f"after-{{number}}",
        input=wording.format(number=number),
        target=str(number + 1),
        family="after",            # one skill
        cluster=f"after-{{number}}",  # what makes samples dependent: one document, scenario, customer
        role=role,                 # POOL: to be drawn over pool, dev and sealed; BENCH and REPLAY are declared here
    )


def generate(seed: int, n: int) -> Iterator[Sample]:
    """Yield `n` samples; more of them begin with the same ones. Clusters do not depend on the seed."""
    wording = ("Which number comes after {{number}}?", "Count on by one from {{number}}.")[seed % 2]
    for place in range(n):
        yield _sample(20 + 2 * place, Role.BENCH, wording)


def siblings(sample: Sample, seed: int, n: int) -> Sequence[Sample]:
    """`n` samples of the same skill that `generate` never gives: here the odd numbers."""
    return [_sample(21 + 2 * (seed + place), Role.POOL, "What follows {{number}}?") for place in range(n)]


def reference(sample: Sample) -> str:
    """A completion that scores 1."""
    return str(sample.target)


def wrong(sample: Sample) -> Sequence[str]:
    """At least three that score 0: the mistakes a model would make."""
    right = int(sample.target)
    return [str(right - 1), str(right + 1), f"{{right}}0", "I cannot count."]
'''


def write_skeleton(folder: Path) -> None:
    """Write `suite.yaml` and `generate.py` in a new folder; the suite's name is the folder's.

    Raises UsageError when the folder is there already or its name is no suite's name.
    """
    name = folder.name
    if not NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name for a suite; letters, digits, `_`, `-` and `.`, a letter or digit first")
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise UsageError(f"{folder} is there already; nothing was written") from None
    (folder / "suite.yaml").write_text(SUITE.format(name=name), encoding="utf-8")
    (folder / "generate.py").write_text(GENERATE.format(name=name), encoding="utf-8")
