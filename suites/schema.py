"""What `suite.yaml` and `samples.jsonl` may say, and one-line errors where they say something else."""

import json
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from evalctl.errors import DataError, SuiteError
from evalctl.types import Json, Limits, Message, Role, Sample, ScorerSpec, ToolCall, Variant

LFS = "version https://git-lfs"


def _inside(name: str) -> str:
    """A relative path that stays in its folder."""
    path = PurePosixPath(name)
    if not name or path.is_absolute() or ".." in path.parts or "\0" in name:
        raise ValueError(f"{name!r} is not a relative path inside the folder")
    return name


def _finite(value: Json) -> Json:
    """The value, when JSON can say it and UTF-8 can write it."""
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    return value


Inside = Annotated[str, AfterValidator(_inside)]
Text = Annotated[str, AfterValidator(_finite)]
Value = Annotated[Any, AfterValidator(_finite)]
Named = Annotated[str, Field(min_length=1), AfterValidator(_finite)]


class Strict(BaseModel):
    """Unknown keys are refused and nothing is coerced: `1` is no text and `"1"` no number."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ScorerForm(Strict):
    """`scorer: exact`, or `scorer: {name: exact, options: {case: fold}}`."""

    name: Named
    options: dict[str, Value] = {}


class LimitsForm(Strict):
    """What a sandbox enforces; sizes in MiB, times in seconds."""

    seconds: Annotated[float, Field(gt=0)] = Limits.seconds
    cpu_seconds: Annotated[float, Field(gt=0)] = Limits.cpu_seconds
    memory_mib: Annotated[int, Field(gt=0)] = Limits.memory_bytes // 2**20
    pids: Annotated[int, Field(gt=0)] = Limits.pids
    work_mib: Annotated[int, Field(gt=0)] = Limits.work_bytes // 2**20
    output_kib: Annotated[int, Field(gt=0)] = Limits.output_bytes // 2**10

    def limits(self) -> Limits:
        """The same in bytes."""
        return Limits(
            self.seconds,
            self.cpu_seconds,
            self.memory_mib * 2**20,
            self.pids,
            self.work_mib * 2**20,
            self.output_kib * 2**10,
        )


class ExampleForm(Strict):
    """One worked example that stands before every sample."""

    user: Text
    assistant: Text


class PromptForm(Strict):
    """System text and worked examples: what `prompt_digest` is made of."""

    system: Text | None = None
    examples: list[ExampleForm] = []

    def prefix(self) -> tuple[Message, ...]:
        """As messages."""
        head = [Message("system", self.system)] if self.system else []
        turns = [m for e in self.examples for m in (Message("user", e.user), Message("assistant", e.assistant))]
        return (*head, *turns)


class CardForm(BaseModel):
    """The suite's card; further keys are the author's own."""

    model_config = ConfigDict(extra="allow", strict=True)

    source: Named
    licence: Named
    does_not_measure: Named


def _as_text(version: object) -> object:
    return str(version) if isinstance(version, int | float) and not isinstance(version, bool) else version


def _as_form(scorer: object) -> object:
    return {"name": scorer} if isinstance(scorer, str) else scorer


def _as_role(name: object) -> object:
    return Role(name) if isinstance(name, str) and name in set(Role) else name


Share = Annotated[float, Field(ge=0, le=1)]
RoleName = Annotated[Role, BeforeValidator(_as_role)]


class SuiteForm(Strict):
    """A `suite.yaml`."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
    version: Annotated[str, BeforeValidator(_as_text), Field(min_length=1)]
    scorer: Annotated[ScorerForm, BeforeValidator(_as_form)]
    card: CardForm
    capability: list[Named] = []
    roles: dict[RoleName, Share] = {}
    salt: Text = ""
    sandbox: Named | None = None
    limits: LimitsForm = LimitsForm()
    agent: Named = "single_turn"
    max_turns: Annotated[int, Field(ge=1, le=1000)] = 1
    epochs: Annotated[int, Field(ge=1, le=1000)] = 1
    max_tokens: Annotated[int, Field(ge=1)] = 256
    prompt: PromptForm = PromptForm()
    generator: Inside | None = None
    samples: Annotated[int, Field(ge=1)] | None = None
    advisory: bool = False

    @model_validator(mode="after")
    def _hangs_together(self) -> "SuiteForm":
        if self.roles and not 0.99 <= sum(self.roles.values()) <= 1.01:
            raise ValueError(f"role shares add up to {sum(self.roles.values()):g}, not 1")
        if (self.generator is None) != (self.samples is None):
            raise ValueError("`generator` and `samples` (its default size) belong together")
        if self.generator is not None and ("/" in self.generator or not self.generator.endswith(".py")):
            raise ValueError(f"generator {self.generator!r} is not a Python file of this folder")
        return self


class CallForm(Strict):
    """A tool call inside a message."""

    name: Named
    arguments: dict[str, Value] = {}


class MessageForm(Strict):
    """A message of a sample's input."""

    role: Literal["system", "user", "assistant", "tool"]
    content: Text
    tool_calls: list[CallForm] = []


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
    tools: list[dict[str, Value]] = []
    files: dict[Inside, Text] = {}
    pair_id: Text = ""
    variant: VariantForm = VariantForm()
    metadata: dict[str, Value] = {}

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


class _UniqueKeys(yaml.SafeLoader):
    """YAML in which a key given twice is an error, not the last one's victory."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, str | int | float) and key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{key!r} is given twice", key_node.start_mark)
            if isinstance(key, str | int | float):
                seen.add(key)
        return super().construct_mapping(node, deep)


def read_suite_form(path: Path) -> SuiteForm:
    """The form of a `suite.yaml`. Raises SuiteError: one line, naming the file and what to change."""
    try:
        text = path.read_text("utf-8-sig")
        data = yaml.load(text, Loader=_UniqueKeys)  # noqa: S506 - a SafeLoader with one more rule
    except FileNotFoundError:
        raise SuiteError(f"{path.parent}: no suite.yaml here; `evalctl suites new NAME` writes one") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SuiteError(f"{path}: cannot be read: {error}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise SuiteError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    if text.startswith(LFS):
        raise SuiteError(f"{path}: a Git LFS pointer, not the file; run `git lfs pull`")
    if not isinstance(data, dict):
        raise SuiteError(f"{path}: must be a mapping with name, version, scorer and card")
    try:
        return SuiteForm.model_validate(data)
    except ValidationError as error:
        raise SuiteError(f"{path}: {tell(error, SuiteForm)}") from None


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


def _row(line: bytes, where: str) -> Row:
    try:
        data = json.loads(line.decode("utf-8"), object_pairs_hook=_once, parse_constant=_not_finite)
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: not UTF-8: {error.reason} at byte {error.start + 1}") from None
    except RecursionError:
        raise DataError(f"{where}: nested too deeply") from None
    except ValueError as error:
        raise DataError(f"{where}: not JSON: {error}") from None
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


def tell(error: ValidationError, form: type[BaseModel]) -> str:
    """Pydantic's findings as one line, with a did-you-mean for an unknown key."""
    parts = []
    for found in error.errors(include_url=False):
        place = ".".join(str(step) for step in found["loc"])
        text = found["msg"].removeprefix("Value error, ")
        if found["type"] == "extra_forbidden":
            known = sorted(_fields(form, found["loc"][:-1]))
            near = get_close_matches(str(found["loc"][-1]), known, n=1)
            text = "unknown key" + (f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}")
        elif found["type"] != "missing" and found["type"] != "value_error":
            text += f" (given: {type(found['input']).__name__})"
        parts.append(f"{place}: {text}" if place else text)
    return "; ".join(parts)


def _fields(form: type[BaseModel], place: tuple[int | str, ...]) -> set[str]:
    """The keys known at `place` in a form."""
    for step in place:
        inner = form.model_fields[step].annotation if step in form.model_fields else None
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            return set()
        form = inner
    return set(form.model_fields)


def scorer_spec(form: ScorerForm) -> ScorerSpec:
    """The scorer as the ground knows it."""
    return ScorerSpec(form.name, form.options)
