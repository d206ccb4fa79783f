"""The training that a campaign calls for, behind one Protocol: real on a model folder, simulated in tests."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from evalctl.types import Estimate, Json, Message, Suite

from .rows import Row
from .settings import Rlvr, Sft


@dataclass(frozen=True)
class StageWork:
    """One training stage: where it starts, what it learns, where its adapter goes."""

    start: Path
    """A model folder, or an adapter that is trained further."""
    rows: Sequence[Row]
    target: Path
    """Becomes an adapter folder, whole or not at all."""
    seed: int
    tell: Callable[[int, int], None]
    """Called with (steps done, of)."""


@dataclass(frozen=True)
class StageResult:
    """What a stage did; the folder holds what it made."""

    steps: int
    rows: int
    """Rows that were trained on."""
    trained_tokens: int
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason to rows that were not."""
    figures: Mapping[str, Json] = field(default_factory=dict)


class Stages(Protocol):
    """What a campaign needs of a trainer."""

    def parameters(self, start: Path) -> int:
        """How many parameters the model has: chooses the settings."""
        ...

    def bytes_needed(self, start: Path, stages: int) -> int:
        """Free disk that a campaign of so many stages needs."""
        ...

    def round_trip(self, start: Path, rows: Sequence[Row]) -> None:
        """Raise StageError where the template does not give back what it was given."""
        ...

    def sft(self, work: StageWork, settings: Sft) -> StageResult:
        """Supervised fine-tuning."""
        ...

    def rlvr(self, work: StageWork, settings: Rlvr, suites: Mapping[str, Suite]) -> StageResult:
        """Reinforcement learning with the suites' own scorers. Raises NothingToLearn where no group has variance."""
        ...

    def merge(self, adapter: Path, target: Path, prompts: Sequence[tuple[Message, ...]]) -> Mapping[str, Json]:
        """The adapter in its base as a whole model folder, parity and change asserted; the figures."""
        ...

    def drift(
        self, parent: Path, candidate: Path, prompts: Sequence[tuple[str, tuple[Message, ...]]], most: int
    ) -> Estimate | None:
        """Mean per-token KL(parent || candidate) over the parent's answers of at most `most` tokens, by cluster."""
        ...

    def reference(self, folder: Path) -> str:
        """The model reference of what stands in a folder."""
        ...

    def template_digest(self, start: Path) -> str | None:
        """Of the chat template."""
        ...
