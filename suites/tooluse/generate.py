"""Single-turn function calls: ten families, one skill each; a cluster is one scenario with its own tools.

Families take turns. Eight come from `scenes.py` and are drawn over pool, dev and sealed; every eighth of their
clusters, and the whole of the families `list` and `change`, come from `bench.py`. After 48 rounds (480 samples)
the clusters are used up, and further samples are new takes of them: other words and values in the same scenario.
There are about 7,500 samples a seed.
"""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from evalctl.types import Json, Role, Sample

from . import bench, scenes
from .forms import signature
from .words import MEASURED, THINGS

FAMILIES = tuple(bench.FAMILIES)
ROUNDS = 48
EVERY = 8
"""One of so many rounds of a drawn family is bench: six of 48, and with the two bench families 30% of all."""

RETRIES = 200
"""Draws before a scenario has no further take; generate then ends."""


def _place(family: str, round_: int) -> tuple[str, Role]:
    """The thing of a family's cluster in a round, and whether it is to be drawn or bench."""
    if family not in scenes.FAMILIES:
        return bench.THINGS[family][round_], Role.BENCH
    if round_ % EVERY == EVERY - 1:
        return bench.THINGS[family][round_ // EVERY], Role.BENCH
    return THINGS[family][round_ - round_ // EVERY], Role.POOL


def _sample(family: str, thing: str, role: Role, take: int, draw: str) -> Sample:
    module = bench if role is Role.BENCH else scenes
    make = module.FAMILIES[family]
    scene = make(thing, random.Random(f"scene {family} {thing}"), random.Random(f"{draw} {family} {thing} {take}"))
    cluster = f"{family}/{thing}"
    lines = " | ".join(signature(tool) for tool in scene.tools)
    return Sample(
        id=f"{cluster}#{take}",
        input=f"{lines}\n{scene.request}",
        target=[{"name": scene.name, "arguments": dict(scene.arguments)}],
        family=family,
        cluster=cluster,
        band=scene.band,
        role=role,
        tools=scene.tools,
    )


def generate(seed: int, n: int) -> Iterator[Sample]:
    """Yield `n` samples. The seed chooses wording and values; the scenarios are the suite version's own."""
    seen: set[object] = set()
    for place in range(n):
        family, turn = FAMILIES[place % len(FAMILIES)], place // len(FAMILIES)
        thing, role = _place(family, turn % ROUNDS)
        for retry in range(RETRIES):
            sample = _sample(family, thing, role, turn // ROUNDS, f"{seed} {retry}")
            if sample.input not in seen:
                break
        else:
            return
        seen.add(sample.input)
        yield sample


def siblings(sample: Sample, seed: int, n: int) -> Sequence[Sample]:
    """`n` samples of the same skill in scenarios that are never measured: other things, tools and settings.

    Raises ValueError for a bench sample: nothing like it may be trained on.
    """
    if sample.role is Role.BENCH:
        raise ValueError(f"{sample.id} is bench: it has no siblings")
    free = THINGS[sample.family][MEASURED:]
    # The draw is the parent's own: two parents that meet in one thing do not get the same row.
    draw = f"sibling {seed} {sample.id}"
    start = random.Random(draw).randrange(len(free))
    found = []
    for place in range(n):
        made = _sample(sample.family, free[(start + place) % len(free)], Role.POOL, place // len(free), draw)
        found.append(replace(made, id=f"{sample.id}~{made.id}"))
    return found


def reference(sample: Sample) -> str:
    """The call as the prompt's examples write it."""
    [call] = sample.target
    return _written(call["name"], call["arguments"])


def _written(name: str, arguments: dict[str, Json]) -> str:
    return json.dumps({"name": name, "arguments": arguments})


def wrong(sample: Sample) -> Sequence[str]:
    """The other tool, each argument wrong, one left out, one too many, the call twice, and no call."""
    [call] = sample.target
    name, arguments = call["name"], dict(call["arguments"])
    other = next(tool["name"] for tool in sample.tools if tool["name"] != name)
    first = next(iter(arguments))
    good = _written(name, arguments)
    return [
        _written(other, arguments),
        *(_written(name, arguments | {key: _spoiled(value)}) for key, value in arguments.items()),
        _written(name, {key: value for key, value in arguments.items() if key != first}),
        _written(name, arguments | {"note": "extra"}),
        f"[{good}, {good}]",
        "I cannot do that.",
        sample.input.splitlines()[-1] if isinstance(sample.input, str) else "",
    ]


def _spoiled(value: Json) -> Json:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, list):
        return value[:-1]
    return value[1:]
