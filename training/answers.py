"""The loss of supervised fine-tuning, over answers alone and with the prompt that all rows share computed once.

TRL's own loss builds logits and entropies for every prompt token, which took more than half of a step with a
vocabulary of 49,000; and the few-shot prefix of a suite is most of each row. The result is the same up to rounding.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalctl.models.decode import shared_prefix
from evalctl.models.kv import argument, expanded, is_plain

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Collator:
    """Rows without their shared prefix, padded on the left, so that all answers end in the last column."""

    pad: int
    shares: bool = True
    """Whether a prefix may be computed once for all rows."""

    def __call__(self, rows: Sequence[dict[str, list[int]]]) -> dict[str, "torch.Tensor"]:
        """`prefix` of shape (1, shared); `input_ids`, `labels`, `position_ids` (rows, longest rest); `attention_mask`
        (rows, shared + longest rest)."""
        import torch

        shared = self._shared(rows)
        rest = [row["input_ids"][shared:] for row in rows]
        longest = max(map(len, rest))

        def laid(values: Sequence[Sequence[int]], filling: int) -> torch.Tensor:
            return torch.tensor([[filling] * (longest - len(one)) + list(one) for one in values])

        mask = laid([[1] * len(one) for one in rest], 0)
        return {
            "prefix": torch.tensor([rows[0]["input_ids"][:shared]], dtype=torch.long),
            "input_ids": laid(rest, self.pad),
            "labels": laid([row["labels"][shared:] for row in rows], -100),
            "attention_mask": torch.cat([torch.ones((len(rows), shared), dtype=torch.long), mask], dim=1),
            "position_ids": shared + (mask.cumsum(-1) - 1).clamp(min=0),
        }

    def _shared(self, rows: Sequence[dict[str, list[int]]]) -> int:
        """Leading tokens that all rows share; the token before each answer is never among them."""
        if not self.shares:
            return 0
        before = min(sum(label == -100 for label in row["labels"]) for row in rows)
        return min(shared_prefix([tuple(row["input_ids"]) for row in rows]), before - 1)


def keeps_every_position(model: Any) -> bool:
    """Whether the model's cache may hold a prefix before padding (see evalctl.models.kv)."""
    import torch

    with torch.inference_mode():
        seen = model(input_ids=torch.zeros((1, 1), dtype=torch.long), use_cache=True, logits_to_keep=1)
    return is_plain(seen.past_key_values)


def answer_trainer() -> Any:
    """TRL's SFTTrainer with this module's loss, for rows of `Collator`."""
    import torch
    from trl.trainer.sft_trainer import SFTTrainer

    class AnswerTrainer(SFTTrainer):
        def compute_loss(
            self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
        ) -> Any:
            labels, prefix = inputs.pop("labels"), inputs.pop("prefix")
            kept = int((labels != -100).sum(1).max()) + 1
            if prefix.shape[1]:
                seen = model(input_ids=prefix, use_cache=True, logits_to_keep=1).past_key_values
                inputs[argument(model.get_base_model())] = expanded(seen, len(labels))
            outputs = model(**inputs, use_cache=bool(prefix.shape[1]), logits_to_keep=kept)
            logits, wanted = outputs.logits[:, :-1], labels[:, -kept:][:, 1:]
            total = torch.nn.functional.cross_entropy(
                logits.flatten(0, 1).float(), wanted.flatten(), ignore_index=-100, reduction="sum"
            )
            loss = total / ((wanted != -100).sum() if num_items_in_batch is None else num_items_in_batch)
            return (loss, outputs) if return_outputs else loss

    return AnswerTrainer
