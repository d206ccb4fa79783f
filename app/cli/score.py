"""`evalctl score`: try a scorer without a model."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

import click

from evalctl.errors import DataError, LookupFailed, UsageError
from evalctl.judging import judge
from evalctl.lookup import find
from evalctl.types import Completion, Json, Sample, SandboxScorer, Score, Scorer, Status

from .root import leave

_STRUCTURED = ("json_schema", "tool_calls")
"""Scorers whose target is JSON; to all others the number 1.50 is text, and its last digit counts."""


@click.command()
@click.argument("scorer")
@click.option("--target", help="What is right: JSON where it is a list, an object, null or quoted, else text as it is.")
@click.option("--answer", help="What a model said.")
@click.option("--meta", multiple=True, metavar="KEY=VALUE", help="A metadata key the scorer reads (repeatable).")
@click.option(
    "--file",
    "cases",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="JSON lines with `target`, `answer` and optional `metadata`, scored in order.",
)
def command(scorer: str, target: str | None, answer: str | None, meta: tuple[str, ...], cases: Path | None) -> None:
    """Score one answer, or a file of cases: one JSON line each (value, answer, explanation, metadata, metrics).

    A case that cannot be judged has the value null and its reason as explanation; the exit status is then 4.
    """
    factory = find("scorers", scorer)
    made: Scorer | SandboxScorer = factory()
    if isinstance(made, SandboxScorer):
        raise UsageError(f"{scorer} judges what an agent left in a sandbox; try it with `evalctl suites validate`")
    metadata = dict(_pair(scorer, text, getattr(factory, "reads", None)) for text in meta)
    if cases is not None:
        if target is not None or answer is not None:
            raise UsageError("--file stands for --target and --answer; give one or the other")
        rows = _read(cases, metadata)
    elif target is None or answer is None:
        raise UsageError("give --target and --answer, or --file CASES.jsonl")
    else:
        rows = iter([Case("case", _target(scorer, target), answer, metadata)])
    judged = True
    for row in rows:
        status, score, _ = asyncio.run(judge(made, row.sample(), Completion(row.answer), None))
        judged = judged and status is Status.OK
        click.echo(_line(score))
    if not judged:
        leave(4)


class Case:
    """One answer with what it is judged against."""

    def __init__(self, name: str, target: Json, answer: str, metadata: Mapping[str, Json]) -> None:
        self.name, self.target, self.answer, self.metadata = name, target, answer, metadata

    def sample(self) -> Sample:
        """The case as a sample without input."""
        return Sample(self.name, "", self.target, metadata=self.metadata)


def _line(score: Score) -> str:
    """The score as one JSON line; `metrics` where there are any."""
    line = asdict(score)
    if not line["metrics"]:
        del line["metrics"]
    # ASCII: a hostile answer cannot steer the terminal, nor hold what the terminal's encoding lacks.
    return json.dumps(line, allow_nan=False)


def _json_or_text(text: str) -> Json:
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text


def _refuse(token: str) -> Json:
    raise ValueError(token)


def _target(scorer: str, text: str) -> Json:
    value = _json_or_text(text)
    typed = value is None or isinstance(value, str | list | dict) or scorer in _STRUCTURED
    return value if typed else text


def _pair(scorer: str, text: str, reads: tuple[str, ...] | None) -> tuple[str, Json]:
    key, separator, value = text.partition("=")
    if not separator or not key:
        raise UsageError(f"--meta {text!r}: write KEY=VALUE, for example accounting=true")
    if reads is not None and key not in reads:
        raise LookupFailed("metadata key", key, reads, f"scorer {scorer}")
    return key, _json_or_text(value)


def _read(path: Path, metadata: Mapping[str, Json]) -> Iterator[Case]:
    """The cases of a file; DataError with file and line for what is none. All are read before the first is scored."""
    found = []
    for number, raw in enumerate(path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        where = f"{path}:{number}"
        if number == 1 and raw.startswith(b"version https://git-lfs"):
            raise DataError(f"{where}: a Git LFS pointer, not the file; run `git lfs pull`")
        if raw.strip():
            found.append(_case(where, raw, metadata))
    if not found:
        raise DataError(f"{path}: no case in it; every line is a JSON object with `target` and `answer`")
    return iter(found)


def _case(where: str, raw: bytes, metadata: Mapping[str, Json]) -> Case:
    try:
        row = json.loads(raw.decode("utf-8"), object_pairs_hook=_unique)
    except UnicodeDecodeError:
        raise DataError(f"{where}: not UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: not JSON: {error}") from None
    if not isinstance(row, dict):
        raise DataError(f"{where}: not a JSON object with `target` and `answer`")
    for key in ("target", "answer"):
        if key not in row:
            raise DataError(f"{where}: `{key}` is missing")
    own = row.get("metadata") or {}
    if not isinstance(own, dict):
        raise DataError(f"{where}: `metadata` must be an object")
    answer = row["answer"]
    text = answer if isinstance(answer, str) else "" if answer is None else json.dumps(answer, ensure_ascii=False)
    return Case(where, row["target"], text, {**metadata, **own})


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError("a key stands twice")
    return row
