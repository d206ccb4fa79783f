"""LoRA adapters: opened for training over their base, and kept in folders that do not differ from run to run."""

import gc
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evalctl.models.folder import ADAPTER_CONFIG, ADAPTER_WEIGHTS, Layout, layout
from evalctl.models.loading import load_weights
from evalctl.models.local import default_threads
from evalctl.models.quiet import patient, quiet
from evalctl.store.files import make_folder, sync_file, sync_folder

from .errors import StageError


def trainable(start: Path, rank: int, layers: int | None, seed: int) -> Any:
    """The model at `start` in fp32 with an adapter to train: the one that is there, else a fresh one of `rank`."""
    import torch
    from peft import LoraConfig, PeftModel, get_peft_model

    parts = layout(start)
    base = load_weights(base_parts(parts), "float32")
    names = sorted({name.rpartition(".")[2] for name, module in base.named_modules() if _adapted(name, module)})
    count = int(base.config.num_hidden_layers)
    torch.manual_seed(seed)
    with quiet():
        if parts.adapter is not None:
            return PeftModel.from_pretrained(base, parts.adapter, is_trainable=True, local_files_only=True)
        config = LoraConfig(
            r=rank,
            lora_alpha=2 * rank,
            lora_dropout=0.0,
            target_modules=names,
            layers_to_transform=None if layers is None else list(range(max(0, count - layers), count)),
            task_type="CAUSAL_LM",
        )
        return get_peft_model(base, config)


def base_parts(parts: Layout) -> Layout:
    """The same model without its adapter."""
    return Layout(folder=parts.base, base=parts.base, tokenizer=parts.tokenizer)


def snapshot(model: Any) -> list[Any]:
    """The trainable weights as they are now: what `keep` tells a change by."""
    return [value.detach().clone() for value in model.parameters() if value.requires_grad]


def keep(model: Any, before: Sequence[Any], base: Path, target: Path) -> None:
    """Write the adapter at `target`, whole or not at all; its base is named relative to it, so both can move.

    Raises StageError where no weight differs from `before`, or one is not finite.
    """
    after = snapshot(model)
    if all(bool((first == second).all()) for first, second in zip(before, after, strict=True)):
        raise StageError(f"{target.name}: training changed no weight; nothing was learned from its rows")
    if not all(bool(value.detach().isfinite().all()) for value in model.parameters() if value.requires_grad):
        raise StageError(f"{target.name}: training ended in weights that are not finite; use a lower rate")
    part = make_folder(target.parent) / f".{target.name}.partial"
    shutil.rmtree(part, ignore_errors=True)  # what a kill left
    with quiet():
        model.save_pretrained(part)
    for path in part.iterdir():
        if path.name not in (ADAPTER_CONFIG, ADAPTER_WEIGHTS):
            path.unlink()
    config = json.loads((part / ADAPTER_CONFIG).read_text())
    # From `part`'s own parent, which is also that of `target`: one level below both.
    config["base_model_name_or_path"] = os.path.relpath(base.resolve(), target.resolve())
    # A set in PEFT's own config, so its order is that of the run.
    config["target_modules"] = sorted(config["target_modules"])
    (part / ADAPTER_CONFIG).write_text(json.dumps(config, indent=1, sort_keys=True) + "\n")
    for path in part.iterdir():
        sync_file(path)
    part.rename(target)
    sync_folder(target.parent)


@contextmanager
def own_randomness() -> Iterator[None]:
    """Threads set and torch's random state put back: a stage leaves no trace, and takes none."""
    patient()
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(default_threads())
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        torch.set_num_threads(before)
        gc.collect()  # trainers hold themselves in circles, and with them the weights


def _adapted(name: str, module: Any) -> bool:
    import torch

    return isinstance(module, torch.nn.Linear) and "lm_head" not in name
