"""Small jobs in a shell: three families of eight tasks, each task a cluster, all `bench`.

Families take turns. After 24 samples the tasks begin again with other data: new takes of the same clusters.
"""

import random
from collections.abc import Iterator, Sequence

from evalctl.digests import digest
from evalctl.types import Role, Sample

from . import filters, repairs, reports
from .task import Maker

FAMILIES: dict[str, dict[str, Maker]] = {"report": reports.TASKS, "filter": filters.TASKS, "repair": repairs.TASKS}


def generate(seed: int, n: int) -> Iterator[Sample]:
    """Yield `n` tasks; the seed chooses their data."""
    families = list(FAMILIES)
    for place in range(n):
        family, turn = families[place % len(families)], place // len(families)
        names = list(FAMILIES[family])
        yield _sample(family, names[turn % len(names)], seed, turn // len(names))


def _sample(family: str, name: str, seed: int, take: int) -> Sample:
    task = FAMILIES[family][name](random.Random(f"{seed} {family} {name} {take}"))
    return Sample(
        id=f"{family}/{name}#{take}",
        input=task.request,
        # What it is judged against is hidden, but another judgement is another sample.
        target=digest(dict(task.tests)),
        family=family,
        cluster=f"{family}/{name}",
        band=task.band,
        role=Role.BENCH,
        files=task.files,
        metadata={"tests": dict(task.tests), "solution": task.solution, "faults": list(task.faults)},
    )


def siblings(sample: Sample, seed: int, n: int) -> Sequence[Sample]:
    """Raise ValueError: every task is bench, and nothing like it may be trained on."""
    raise ValueError(f"{sample.id} is bench: it has no siblings")


def reference(sample: Sample) -> str:
    """The solution, as the shell agent reads it."""
    return _said(sample.metadata["solution"])


def wrong(sample: Sample) -> Sequence[str]:
    """The faults as commands, a command that does nothing, and the solution only talked about."""
    return [*map(_said, sample.metadata["faults"]), _said("true"), f"One could run: {sample.metadata['solution']}"]


def _said(command: str) -> str:
    return f"```sh\n{command}\n```"
