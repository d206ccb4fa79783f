"""What a `suite.yaml` may say, and one-line errors where it says something else."""

from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from evalctl.errors import SuiteError
from evalctl.strict_yaml import CONSTRUCTORS, YAML_ERRORS
from evalctl.types import Limits, Message

from .strict import LFS, Inside, Named, RoleName, Strict, Text, Value, tell


class ScorerForm(Strict):
    """`scorer: exact`, or `scorer: {name: exact, options: {case: fold}}`."""

    name: Named
    options: dict[str, Value] = Field(default_factory=dict)


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
    examples: list[ExampleForm] = Field(default_factory=list)

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


Share = Annotated[float, Field(ge=0, le=1)]


class SuiteForm(Strict):
    """A `suite.yaml`."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
    version: Annotated[str, BeforeValidator(_as_text), Field(min_length=1)]
    scorer: Annotated[ScorerForm, BeforeValidator(_as_form)]
    card: CardForm
    capability: list[Named] = Field(default_factory=list)
    roles: dict[RoleName, Share] = Field(default_factory=dict)
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


class _UniqueKeys(yaml.SafeLoader):
    """YAML in which a key given twice is an error, not the last one's victory."""

    yaml_constructors = CONSTRUCTORS

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
    except YAML_ERRORS as error:
        raise SuiteError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    if text.startswith(LFS):
        raise SuiteError(f"{path}: a Git LFS pointer, not the file; run `git lfs pull`")
    if not isinstance(data, dict):
        raise SuiteError(f"{path}: must be a mapping with name, version, scorer and card")
    try:
        return SuiteForm.model_validate(data)
    except ValidationError as error:
        raise SuiteError(f"{path}: {tell(error, SuiteForm)}") from None
