"""The exchange form: a JSON line a Trial. Only `suite`, `sample_id` and `score` are required.

What is not JSON or has a wrong type stops with file and line. What is well-formed but unfit (not finite, out of
range, a duplicate) is kept and told, and is INVALID at the gate. A column that Trial does not have is kept in
`metadata` under its own name, where the gate's `require_same` finds it.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

from evalctl.digests import canonical, digest
from evalctl.errors import DataError
from evalctl.store.columns import NAMES, clean, plain, token
from evalctl.types import Direction, Json, Role, Status, Trial

from .lines import kind, objects, short
from .notes import Notes

RUN_FIELDS = ("prompt_digest", "sampling", "judge", "limits", "scorer_digest", "sandbox_digest", "engine", "seed")
"""Columns that say how a row was made; kept like unknown ones, and no surprise."""


class Wrong(Exception):
    """A value of a wrong type: what the column should hold."""


def read_jsonl(path: Path, suite: str | None, notes: Notes) -> Iterator[Trial]:
    """The trials in `path`; see the module. Raises DataError."""
    seen: set[int] = set()
    for line, row in objects(path):
        where = f"{path}:{line}"
        trial = _trial(where, row, suite, notes)
        _tell(trial, f"line {line}", seen, notes)
        yield trial


def _trial(where: str, row: Mapping[str, Json], suite: str | None, notes: Notes) -> Trial:
    """The trial of one row."""
    if "score" not in row:
        raise DataError(f"{where}: no 'score'{_guess('score', row)}; null says unscored")
    at = where.rsplit(":", 1)[1]
    given = {name: _read(where, name, row[name]) for name in NAMES if row.get(name) is not None}
    sample_id = given.get("sample_id")
    if not sample_id:
        raise DataError(f"{where}: no 'sample_id'{_guess('sample_id', row)}")
    if suite is not None and given.setdefault("suite", suite) != suite:
        notes.add(f"suite {short(given['suite'])} is kept, although --suite says {short(suite)}")
    if not given.get("suite"):
        raise DataError(f"{where}: no 'suite'{_guess('suite', row)}; --suite NAME gives it for the whole file")
    for name, value, told in (
        ("content_key", digest(sample_id), "no content_key: the digest of sample_id is taken, so rows pair by id"),
        ("cluster", sample_id, "no cluster: each sample is taken as independent, one cluster per sample"),
        ("role", "bench", "no role: bench is taken"),
    ):
        if not given.get(name):
            given[name] = value
            notes.add(told, f"line {at}")
    if row["score"] is None and "status" not in given:
        given["status"] = Status.VERIFIER_ERROR.value
    given["metadata"] = _metadata(where, row, given.get("metadata", {}), notes)
    return Trial(**{"suite_digest": None, "direction": None, "pair_id": sample_id, **given})


def _read(where: str, name: str, value: Json) -> Any:
    try:
        return READ[name](value)
    except Wrong as wrong:
        raise DataError(f"{where}: {name} is {kind(value)} ({short(plain(value))}); {wrong}") from None


def _metadata(where: str, row: Mapping[str, Json], own: Mapping[str, Json], notes: Notes) -> dict[str, Json]:
    """The row's metadata with its unknown columns; one name with two values is refused, since one would be lost."""
    kept = dict(own)
    for name, value in row.items():
        if name in NAMES:
            continue
        value = plain(value)
        if name in own and own[name] != value:
            raise DataError(f"{where}: column {short(name)} and metadata.{name[:60]!r} differ; one name, one value")
        kept[name] = value
        if name not in RUN_FIELDS:
            notes.add(f"unknown column {short(name)} is kept in metadata{_guess(name, NAMES)}")
    return kept


def _guess(name: str, known: Any) -> str:
    near = get_close_matches(name, [str(one) for one in known if one != name], n=1, cutoff=0.75)
    return f" (did you mean {short(near[0])}?)" if near else ""


def _tell(trial: Trial, at: str, seen: set[int], notes: Notes) -> None:
    """Note what is unfit in a trial that is kept."""
    who = f"{at} {short(trial.sample_id)}"
    for name, value, bounds in _figures(trial):
        if value is None:
            continue
        if not math.isfinite(value):
            notes.add(f"{name} is not finite; kept, and INVALID at the gate", f"{who}: {token(value)}")
        elif bounds and not bounds[0] <= value <= bounds[1]:
            notes.add(f"{name} is out of its range; kept, and INVALID at the gate", f"{who}: {value:g}")
    if trial.score is None:
        notes.add(f"unscored ({trial.status})", who)
    key = hash((trial.suite, trial.content_key, canonical(trial.variant), trial.epoch))
    if key in seen:
        notes.add("a duplicate (content key, variant, epoch); kept, and INVALID at the gate", who)
    seen.add(key)


def _figures(trial: Trial) -> Iterator[tuple[str, float | None, tuple[float, float] | None]]:
    yield "score", trial.score, trial.range or ((0.0, 1.0) if trial.metric == "correct" else None)
    for name in ("seconds", "cost", "reward"):
        yield name, getattr(trial, name), None
    for name, metric in trial.metrics.items():
        yield f"metrics.{name}", metric["value"], metric.get("range")


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise Wrong(f"text is wanted{': quote it' if isinstance(value, int | float) else ''}")
    return clean(value)


def _figure(value: Json) -> float:
    """A number as float; true and false are 1 and 0, and what is too large for one is not finite."""
    if not isinstance(value, bool | int | float):
        raise Wrong("a number, true, false or null is wanted")
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _whole(value: Json) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(_figure(value)):
        raise Wrong("a whole number is wanted")
    if value != int(value) or not 0 <= value < 2**63:
        raise Wrong("a whole number of 0 or more is wanted")
    return int(value)


def _counted(value: Json) -> int:
    """Epochs count from 1."""
    if _whole(value) < 1:
        raise Wrong("a whole number of 1 or more is wanted")
    return _whole(value)


def _flag(value: Json) -> bool:
    if not isinstance(value, bool):
        raise Wrong("true or false is wanted")
    return value


def _object(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise Wrong("an object is wanted")
    return value


def _variant(value: Json) -> dict[str, Json]:
    """What was varied; a null says *not varied*, as does leaving it out."""
    varied = {name: item for name, item in _object(value).items() if item is not None}
    if plain(varied) != varied:
        raise Wrong("its values must be finite")
    return varied


def _range(value: Json) -> tuple[float, float]:
    numbers = value if isinstance(value, list) else []
    if len(numbers) != 2 or any(isinstance(n, bool) or not isinstance(n, int | float) for n in numbers):
        raise Wrong("a list of two numbers is wanted")
    low, high = _figure(numbers[0]), _figure(numbers[1])
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise Wrong("two finite numbers are wanted, the lower first")
    return low, high


def _choice(*names: str) -> Callable[[Json], str]:
    def read(value: Json) -> str:
        if value not in names or not isinstance(value, str):
            near = get_close_matches(str(value), names, n=1)
            guess = f"did you mean {near[0]!r}? " if near else ""
            raise Wrong(f"{guess}one of {', '.join(names)} is wanted")
        return value

    return read


def _metrics(value: Json) -> dict[str, dict[str, Json]]:
    """Metric name to `{"value", "direction", "range"}`; a bare number is a value that declares nothing."""
    return {name: _metric(item) for name, item in _object(value).items()}


def _metric(item: Json) -> dict[str, Json]:
    given = dict(item) if isinstance(item, dict) else {"value": item}
    if "value" not in given:
        raise Wrong("a metric is a number, or an object with 'value'")
    readers: dict[str, Callable[[Json], Json]] = {"value": _figure, "direction": _direction, "range": _range}
    read = {name: None if given.get(name) is None else reader(given[name]) for name, reader in readers.items()}
    return {**plain(given), **read}


_direction = _choice(*get_args(Direction))

READ: dict[str, Callable[[Json], Any]] = {
    **dict.fromkeys(NAMES, _text),
    **dict.fromkeys(("score", "seconds", "cost", "reward"), _figure),
    **dict.fromkeys(("shard", "context_tokens", "input_tokens", "output_tokens", "turns", "tool_calls"), _whole),
    "epoch": _counted,
    "status": _choice(*(status.value for status in Status)),
    "role": _choice(*(role.value for role in Role)),
    "direction": _direction,
    "truncated": _flag,
    "variant": _variant,
    "range": _range,
    "metrics": _metrics,
    "metadata": lambda value: plain(_object(value)),
}
"""Column to what reads it; each raises Wrong."""
