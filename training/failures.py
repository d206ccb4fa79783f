"""The pool sorted by how it went: what the model failed, what it can do, and what says nothing about it."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from evalctl.measures import COUNTED, OWN_FAILURES
from evalctl.types import Json, Run, Status

UNSCORED = "unscored"
"""A trial that ended well and has no finite score, as an imported one may: nothing is known of it."""


@dataclass(frozen=True)
class Screened:
    """The samples of one run, in the order in which the run expected them."""

    suite: str
    failed: Mapping[str, str]
    """Sample id to the kind of its failure: the scorer's own word, else `limit`, `model_error`, `format` or `wrong`."""
    passed: tuple[str, ...]
    """Samples with the best value in every epoch."""
    left_out: Mapping[str, str]
    """Sample id to the status that was not the model's fault: `infra_error`, `verifier_error`, `missing`, `unscored`.
    A sample of which no trial stands is named by its content key."""

    def counts(self) -> dict[str, int]:
        """Kind of failure to how many samples, the most frequent first."""
        return dict(sorted(Counter(self.failed.values()).items(), key=lambda pair: (-pair[1], pair[0])))


@dataclass
class _Seen:
    """What the trials of one sample said."""

    kinds: list[str] = field(default_factory=list)
    """Of its failed trials."""
    unknown: list[str] = field(default_factory=list)
    """Statuses of trials that say nothing about the model."""


def screen(run: Run) -> Screened:
    """Sort the samples of a run: pure, and the same whatever order its trials finished in.

    A sample failed when one of its trials is the model's own failure, whatever became of the others; it passed when
    every expected trial has the best value. All else is left out: a dead sandbox or judge teaches nothing.
    """
    seen: dict[str, _Seen] = defaultdict(_Seen)
    names: dict[str, str] = {}
    there = set()
    for row in _in_order(run):
        name = names.setdefault(str(row["content_key"]), str(row["sample_id"]))
        there.add((row["content_key"], row["variant"], int(row["epoch"])))
        _note(row, seen[name])
    for key, variant, epoch in run.record.expected or ():
        if (key, variant, epoch) not in there:
            seen[names.get(key, key)].unknown.append(str(Status.MISSING))
    failed = {name: _usual(one.kinds) for name, one in seen.items() if one.kinds}
    left_out = {name: one.unknown[0] for name, one in seen.items() if one.unknown and not one.kinds}
    passed = tuple(name for name, one in seen.items() if not one.kinds and not one.unknown)
    return Screened(str(run.record.suite["name"]), failed, passed, left_out)


def _in_order(run: Run) -> list[dict[str, Json]]:
    """The trials as the record expects them: a resumed run finishes in another order than an unbroken one."""
    place = {tuple(item): at for at, item in enumerate(run.record.expected or ())}
    rows = [{str(name): value for name, value in row.items()} for row in run.trials.to_dict("records")]
    last = len(place)
    return sorted(rows, key=lambda row: place.get((row["content_key"], row["variant"], int(row["epoch"])), last))


def _note(row: Mapping[str, Json], seen: _Seen) -> None:
    status, value = str(row["status"]), _number(row.get("score"))
    if status not in COUNTED:
        seen.unknown.append(status)
    elif value is None and status not in OWN_FAILURES:
        seen.unknown.append(UNSCORED)
    elif value is None or not _best(value, row):
        seen.kinds.append(_kind(row, status))


def _best(value: float, row: Mapping[str, Json]) -> bool:
    """Whether the value is at the good end of its range; [0, 1] and higher where nothing is declared."""
    bounds = row.get("range")
    low, high = map(float, bounds if isinstance(bounds, list | tuple) else (0.0, 1.0))
    return value <= low if row.get("direction") == "lower" else value >= high


def _kind(row: Mapping[str, Json], status: str) -> str:
    named = row.get("failure")
    if isinstance(named, str) and named:
        return named
    if status in OWN_FAILURES:
        return status
    return "format" if _number(row.get("metrics.format")) == 0 else "wrong"


def _usual(kinds: list[str]) -> str:
    """The most frequent kind over the epochs, the earliest of equals."""
    return Counter(kinds).most_common(1)[0][0]


def _number(value: Json) -> float | None:
    """A finite figure; None where there is none."""
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
