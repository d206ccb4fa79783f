"""`samples.jsonl`: a sample a line, and the file and line of what is wrong."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from evalctl.errors import DataError
from evalctl.types import Json, Message, Role, Sample, ToolCall, Variant

from .strict import LFS, Inside, Named, RoleName, Strict, Text, Value, tell


class CallForm(Strict):
    """A tool call inside a message."""

    name: Named
    arguments: dict[str, Value] = Field(default_factory=dict)


class MessageForm(Strict):
    """A message of a sample's input."""

    role: Literal["system", "user", "assistant", "tool"]
    content: Text
    tool_calls: list[CallForm] = Field(default_factory=list)


class VariantForm(Strict):
    """What was varied around the sample."""

    context: str | None = None
    modality: str | None = None
    strategy: str | None = None
    attempt: int | None = None


class Row(Strict):
    """A line of `samples.jsonl`. Required: `id` and `input`; a `cluster` should be declared."""

    id: Named
    input: Text | Annotated[list[MessageForm], Field(min_length=1)]
    target: Value = None
    family: Text | None = None
    cluster: Named | None = None
    band: Text = ""
    role: RoleName | None = None
    shard: int | None = None
    tools: list[dict[str, Value]] = Field(default_factory=list)
    files: dict[Inside, Text] = Field(default_factory=dict)
    pair_id: Text = ""
    variant: VariantForm = VariantForm()
    metadata: dict[str, Value] = Field(default_factory=dict)

    def sample(self, suite: str, drawn: bool) -> Sample:
        """As a Sample; without a role it is drawn where the suite draws roles, else `bench`."""
        return Sample(
            id=self.id,
            input=self.input if isinstance(self.input, str) else tuple(_message(m) for m in self.input),
            target=self.target,
            family=suite if self.family is None else self.family,
            cluster=self.cluster or self.id,
            band=self.band,
            role=self.role or (Role.POOL if drawn else Role.BENCH),
            shard=self.shard,
            tools=tuple(self.tools),
            files=self.files,
            pair_id=self.pair_id or self.id,
            variant=Variant(**self.variant.model_dump()),
            metadata=self.metadata,
        )


def _message(form: MessageForm) -> Message:
    return Message(form.role, form.content, tuple(ToolCall(c.name, c.arguments) for c in form.tool_calls))


def read_rows(path: Path) -> Iterator[tuple[int, Row]]:
    """(line number from 1, row) of a JSON-lines file; blank lines are skipped, a BOM and CRLF read right.

    Raises DataError naming file and line: not UTF-8, not JSON, a key twice, NaN, a wrong type, an unknown
    key, an id given twice, a Git LFS pointer.
    """
    first: dict[str, int] = {}
    try:
        # Split at newline bytes alone: U+2028 and its kin may stand raw inside a JSON string.
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    if lines[0].startswith(LFS.encode()):
        raise DataError(f"{path}:1: a Git LFS pointer, not the data; run `git lfs pull`")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        row = _row(line, f"{path}:{number}")
        if row.id in first:
            raise DataError(f"{path}:{number}: id {row.id!r} is also on line {first[row.id]}; ids must be unique")
        first[row.id] = number
        yield number, row


def sample_of(data: Json, where: str) -> Sample:
    """The sample that `suites.export.row_of` wrote. Raises DataError naming `where`."""
    return _checked(data, where).sample("", drawn=False)


def _row(line: bytes, where: str) -> Row:
    try:
        data = json.loads(line.decode("utf-8"), object_pairs_hook=_once, parse_constant=_not_finite)
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: not UTF-8: {error.reason} at byte {error.start + 1}") from None
    except RecursionError:
        raise DataError(f"{where}: nested too deeply") from None
    except ValueError as error:
        raise DataError(f"{where}: not JSON: {error}") from None
    return _checked(data, where)


def _checked(data: Json, where: str) -> Row:
    if not isinstance(data, dict):
        raise DataError(f"{where}: must be one JSON object a line, not {type(data).__name__}")
    try:
        return Row.model_validate(data)
    except ValidationError as error:
        raise DataError(f"{where}: {tell(error, Row)}") from None


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
        raise ValueError(f"key {twice!r} is given twice")
    return found


def _not_finite(token: str) -> float:
    raise ValueError(f"{token} is not a number JSON can say")
