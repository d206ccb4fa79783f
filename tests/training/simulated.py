"""A trainer that trains nothing: each stage leaves a double whose accuracy is known beforehand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evalctl.types import Estimate, Json, Message, Suite
from training.errors import NothingToLearn
from training.rows import Row
from training.settings import Rlvr, Sft
from training.stages import StageResult, StageWork

FILE = "double.txt"


class Killed(BaseException):
    """The process is gone: nothing catches this."""


@dataclass
class Simulated:
    """Stages (see training.stages) whose fold models, SFT and RLVR have these accuracies."""

    sft_accuracy: float = 0.97
    rlvr_accuracy: float = 0.98
    fold_accuracy: float | None = None
    """As SFT where None."""
    kl: float = 0.1
    draw: int = 7
    """Seed of the doubles' luck."""
    die_at: str = ""
    """`sft fold-1` and the like: the stage is killed before it is done."""
    too_hard: bool = False
    """No group of RLVR's answers has variance."""
    disk: int = 1
    """Bytes it says it needs."""
    trained: list[str] = field(default_factory=list)
    """Folders in the order in which they were trained."""

    def parameters(self, start: Path) -> int:
        return 1_000

    def bytes_needed(self, start: Path, stages: int) -> int:
        return self.disk

    def round_trip(self, start: Path, rows: Sequence[Row]) -> None:
        assert rows

    def sft(self, work: StageWork, settings: Sft) -> StageResult:
        fold = "fold" in work.target.name
        accuracy = self.fold_accuracy if fold and self.fold_accuracy is not None else self.sft_accuracy
        return self._made(work, accuracy)

    def rlvr(self, work: StageWork, settings: Rlvr, suites: Mapping[str, Suite]) -> StageResult:
        if self.too_hard:
            raise NothingToLearn("none of 8 groups of answers has variance")
        return self._made(work, self.rlvr_accuracy)

    def merge(self, adapter: Path, target: Path, prompts: Sequence[tuple[Message, ...]]) -> Mapping[str, Json]:
        target.mkdir(parents=True)
        (target / FILE).write_text((adapter / FILE).read_text())
        return {"difference": 0.0}

    def drift(
        self, parent: Path, candidate: Path, prompts: Sequence[tuple[str, tuple[Message, ...]]], most: int
    ) -> Estimate | None:
        return Estimate(self.kl, self.kl / 2, self.kl * 2, len(prompts), len(prompts))

    def reference(self, folder: Path) -> str:
        return (folder / FILE).read_text()

    def template_digest(self, start: Path) -> str | None:
        return None

    def _made(self, work: StageWork, accuracy: float) -> StageResult:
        work.tell(1, 2)
        if self.die_at and work.target.name == self.die_at:
            self.die_at = ""
            raise Killed(work.target.name)
        work.target.mkdir(parents=True)
        (work.target / FILE).write_text(f"double:noisy?accuracy={accuracy}&seed={self.draw}")
        self.trained.append(work.target.name)
        work.tell(2, 2)
        return StageResult(steps=2, rows=len(work.rows), trained_tokens=10 * len(work.rows))


class Quiet:
    """A CampaignWatch that tells nobody, and can be killed when a step begins."""

    def __init__(self, die_before: int = 0) -> None:
        self.die_before = die_before
        self.steps: list[int] = []

    def step(self, number: int, of: int, text: str) -> None:
        if number == self.die_before:
            raise Killed(text)
        self.steps.append(number)

    def tick(self, done: int) -> None: ...

    def begin(self, label: str, total: int, done: int) -> None: ...

    def advance(self, trial: object) -> None: ...

    def say(self, text: str) -> None: ...

    def end(self) -> None: ...
