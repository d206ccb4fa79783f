"""One training stage of a campaign: the unit of resume inside training. What is there is not trained again."""

import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from evalctl.models import checkpoint_for
from evalctl.store.files import make_folder, read_json, write_json
from evalctl.types import Checkpoint, Json

from .campaign import Campaign
from .rows import Row
from .stages import StageResult, StageWork


@dataclass(frozen=True)
class Stage:
    """Which stage of which model."""

    kind: str
    """`sft` or `rlvr`."""
    model: str
    """`fold-0` …, or `final`."""
    start: Path
    fold: int | None = None

    @property
    def name(self) -> str:
        """Of its folder."""
        return f"{self.model}-{self.kind}"


def train(campaign: Campaign, stage: Stage, rows: Sequence[Row], seed: int) -> tuple[Checkpoint, dict[str, Json]]:
    """The checkpoint that the stage made, and what is recorded of it; trained unless it is there whole."""
    folder = make_folder(campaign.folder / "models") / stage.name
    kept = campaign.folder / "models" / f"{stage.name}.json"
    if not kept.is_file():
        shutil.rmtree(folder, ignore_errors=True)
        write_json(kept, _recorded(stage, _trained(campaign, stage, rows, folder, seed)))
    told = read_json(kept)
    made = checkpoint_for(campaign.stages.reference(folder), f"{campaign.candidate_name()}-{stage.name}")
    return made, {**told, "weights_digest": made.weights_digest}


def _trained(campaign: Campaign, stage: Stage, rows: Sequence[Row], folder: Path, seed: int) -> StageResult:
    # The incumbent's weights and the trainer's own would stand in memory twice.
    campaign.measuring.release()
    progress = campaign.progress
    progress.fold(stage.fold)
    begun = False

    def tell(done: int, of: int) -> None:
        nonlocal begun
        if not begun:
            progress.begin(f"{stage.kind} {stage.model}", of, 0)
            begun = True
        progress.tick(done)

    work = StageWork(stage.start, rows, folder, seed, tell)
    try:
        if stage.kind == "sft":
            return campaign.stages.sft(work, campaign.settings.sft)
        return campaign.stages.rlvr(work, campaign.settings.rlvr, campaign.suites)
    finally:
        if begun:
            progress.end()


def _recorded(stage: Stage, result: StageResult) -> dict[str, Json]:
    return {"stage": stage.kind, "fold": stage.fold, **asdict(result)}
