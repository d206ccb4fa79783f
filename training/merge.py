"""An adapter merged into its base: one folder that answers as the two together do, proved before it is there."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evalctl.models.convert import building
from evalctl.models.folder import layout
from evalctl.models.loading import load_tokenizer, load_weights
from evalctl.models.quiet import quiet
from evalctl.types import Json, Message

from .adapters import base_parts, own_randomness
from .errors import MergeError
from .tokens import render, token_ids

TOLERANCE = 1e-2
"""Largest difference of a logit between adapter and merged weights. Both compute in fp32 and sum in another order,
which moves a logit by about 1e-4; an adapter merged twice, scaled wrongly or into rounded weights by 0.1 or more."""


def merge(adapter: Path, target: Path, prompts: Sequence[tuple[Message, ...]]) -> Mapping[str, Json]:
    """Write base and adapter as one model folder in fp32 at `target`; the figures of the proof.

    Stored in fp32 even where the base is bf16: rounded again, much of a small update would fall below the last bit.
    Raises MergeError where the merge changed nothing or its logits on `prompts` are not the adapter's.
    """
    parts = layout(adapter)
    if parts.adapter is None:
        raise MergeError(f"{adapter}: is no adapter folder, so there is nothing to merge")
    with own_randomness():
        tokenizer = load_tokenizer(parts)
        ids = [token_ids(tokenizer, render(tokenizer, prompt, opened=True)) for prompt in prompts]
        apart, before = _apart(adapter, ids)
        merged = load_weights(parts, "float32")
        with building(target) as folder, quiet():
            merged.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
            del merged
            after = _last_logits(load_weights(layout(folder), "float32"), ids)
            return _proved(target, apart, before, after)


def _apart(adapter: Path, ids: Sequence[list[int]]) -> tuple[Any, Any]:
    """Logits with the adapter beside its base, and those of the base alone."""
    from peft import PeftModel

    parts = layout(adapter)
    base = load_weights(base_parts(parts), "float32")
    before = _last_logits(base, ids)
    with quiet():
        model = PeftModel.from_pretrained(base, adapter, local_files_only=True).eval()
    return _last_logits(model, ids), before


def _last_logits(model: Any, ids: Sequence[list[int]]) -> Any:
    """What the model says after each prompt: shape (prompts, vocabulary)."""
    import torch

    with torch.inference_mode():
        rows = [model(input_ids=torch.tensor([one]), logits_to_keep=1, use_cache=False).logits[0, -1] for one in ids]
        return torch.stack(rows).float()


def _proved(target: Path, apart: Any, before: Any, after: Any) -> dict[str, Json]:
    difference, moved = float((apart - after).abs().max()), float((after - before).abs().max())
    if moved == 0:
        raise MergeError(f"{target}: the merge changed nothing: its logits are those of the base")
    if not difference <= TOLERANCE:
        raise MergeError(
            f"{target}: merged logits differ by {difference:.3g} from those of base and adapter (at most {TOLERANCE:g})"
        )
    agree = float((apart.argmax(-1) == after.argmax(-1)).float().mean())
    return {"prompts": len(after), "within_tolerance": TOLERANCE, "moved_from_base": round(moved, 3), "same_top": agree}
