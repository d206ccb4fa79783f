"""Training rows: what is learned, from which sample it was made, and which failures asked for it."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from evalctl.digests import digest, digest_bytes
from evalctl.errors import DataError
from evalctl.store.files import write_whole
from evalctl.types import Json, Message, Sample
from suites.export import message_row, row_of
from suites.rows import sample_of

KEPT = "kept"
"""The kind of a row whose parent did not fail: it keeps what the model can do."""


@dataclass(frozen=True)
class Row:
    """One prompt and the answer to learn, with its lineage. It inherits its parents' clusters, and so their fold."""

    suite: str
    prompt: tuple[Message, ...]
    """All that stands before the answer: the suite's prefix, then the sample's own messages."""
    completion: str
    sample: Sample
    """What it was made from: a sibling, never a measured sample. Rewards judge against it."""
    parents: tuple[str, ...]
    """Ids of the pool samples whose failure asked for it."""
    clusters: tuple[str, ...]
    """The parents' clusters."""
    recipe: str
    kind: str
    """Kind of the parents' failure, or `kept`."""

    @cached_property
    def id(self) -> str:
        """Digest of what is learned: suite, prompt and completion."""
        return digest([self.suite, [message_row(m) for m in self.prompt], self.completion])[:16]

    @property
    def own_text(self) -> str:
        """What the row alone brings, without the prefix that every row of the suite shares: what an audit reads."""
        calls = [json.dumps(call.arguments) for message in self.sample.messages for call in message.tool_calls]
        said = [message.content for message in self.sample.messages]
        return "\n".join([*said, *calls, *self.sample.files.values(), self.completion])


def to_json(row: Row) -> dict[str, Json]:
    """The row as one JSON object."""
    return {
        "id": row.id,
        "suite": row.suite,
        "prompt": [message_row(message) for message in row.prompt],
        "completion": row.completion,
        "sample": row_of(row.sample),
        "parents": list(row.parents),
        "clusters": list(row.clusters),
        "recipe": row.recipe,
        "kind": row.kind,
    }


def write_rows(path: Path, rows: Iterable[Row]) -> str:
    """Write a JSON line a row, whole or not at all; returns the digest of the bytes."""
    data = "".join(json.dumps(to_json(row), ensure_ascii=False, allow_nan=False) + "\n" for row in rows).encode()
    write_whole(path, data)
    return digest_bytes(data)


def read_rows(path: Path) -> list[Row]:
    """The rows of a file that `write_rows` wrote. Raises DataError with file and line."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    return [_row(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip()]


def _row(line: bytes, where: str) -> Row:
    try:
        data = json.loads(line)
        prompt = sample_of({"id": "prompt", "input": data["prompt"]}, where).messages
        sample = sample_of(data["sample"], where)
        texts = [str(data[key]) for key in ("suite", "completion", "recipe", "kind")]
        parents, clusters = (tuple(str(one) for one in data[key]) for key in ("parents", "clusters"))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(f"{where}: not a training row ({type(error).__name__}: {error})") from None
    suite, completion, recipe, kind = texts
    return Row(suite, prompt, completion, sample, parents, clusters, recipe, kind)


def clusters_of(rows: Sequence[Row]) -> dict[str, tuple[str, ...]]:
    """Suite to the sorted ids of every cluster that rows were made from."""
    found: dict[str, set[str]] = {}
    for row in rows:
        found.setdefault(row.suite, set()).update(row.clusters)
    return {suite: tuple(sorted(ids)) for suite, ids in found.items()}
