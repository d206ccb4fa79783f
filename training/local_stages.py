"""The real trainer: a model folder on this machine, through TRL and LoRA."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from evalctl.digests import digest
from evalctl.errors import CheckpointError
from evalctl.models.folder import layout, weight_files
from evalctl.models.loading import load_tokenizer
from evalctl.types import Estimate, Json, Message, Suite

from .rows import Row
from .settings import Rlvr, Sft
from .stages import StageResult, StageWork

ADAPTER_BYTES = 64 * 2**20
"""More than an adapter of the shipped settings takes on disk."""


class LocalStages:
    """Stages (see training.stages) over model folders."""

    def parameters(self, start: Path) -> int:
        """Counted from the shapes in the weight files' headers; nothing is loaded."""
        import math

        from safetensors import safe_open

        total = 0
        for path in _weights(start):
            with safe_open(path, framework="numpy") as file:
                total += sum(math.prod(file.get_slice(name).get_shape()) for name in file.keys())  # noqa: SIM118
        return total

    def bytes_needed(self, start: Path, stages: int) -> int:
        """An adapter a stage, and the merged weights in fp32."""
        return stages * ADAPTER_BYTES + 5 * self.parameters(start)

    def round_trip(self, start: Path, rows: Sequence[Row]) -> None:
        """Every row through the folder's own template and tokenizer; raises StageError for one that does not return."""
        from .tokens import encode

        tokenizer = load_tokenizer(layout(start))
        for row in rows:
            encode(tokenizer, row)

    def sft(self, work: StageWork, settings: Sft) -> StageResult:
        """Supervised fine-tuning."""
        from .sft import sft

        return sft(work, settings)

    def rlvr(self, work: StageWork, settings: Rlvr, suites: Mapping[str, Suite]) -> StageResult:
        """Reinforcement learning with the suites' own scorers."""
        from .grpo import rlvr
        from .rewards import Rewards

        with Rewards({name: suite.scorer for name, suite in suites.items()}, settings.reward_seconds) as judge:
            return rlvr(work, settings, judge, max(suite.max_tokens for suite in suites.values()))

    def merge(self, adapter: Path, target: Path, prompts: Sequence[tuple[Message, ...]]) -> Mapping[str, Json]:
        """The adapter in its base as a whole model folder; parity and change are asserted before it is there."""
        from .merge import merge

        return merge(adapter, target, prompts)

    def drift(
        self, parent: Path, candidate: Path, prompts: Sequence[tuple[str, tuple[Message, ...]]], most: int
    ) -> Estimate | None:
        """Mean per-token KL(parent || candidate) on the parent's own answers."""
        from .drift import drift

        return drift(parent, candidate, prompts, most)

    def reference(self, folder: Path) -> str:
        """The folder itself."""
        return str(folder)

    def template_digest(self, start: Path) -> str | None:
        """Of the chat template's text."""
        return digest(str(load_tokenizer(layout(start)).chat_template))


def _weights(start: Path) -> list[Path]:
    if not start.is_dir():
        raise CheckpointError(f"{start}: no model folder; only weights in a folder can be trained")
    return [path for path in weight_files(layout(start).base) if path.suffix == ".safetensors"]
