"""Copies of a model folder for demos and tests: one clearly worse, one the same."""

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import CheckpointError, UsageError
from .convert import building
from .folder import Layout, layout, weight_files
from .quiet import patient

if TYPE_CHECKING:
    import torch


def damaged_copy(folder: Path, target: Path, bits: int) -> Path:
    """The model with its linear layers rounded to `bits` bits a weight, at `target`; nothing is done when it is there.

    Each row is rounded to 2**bits - 1 levels symmetric about zero, spaced by the row's largest weight
    (round-to-nearest, per-row absmax, as in Dettmers et al. 2022, section 2); embeddings and norms are kept.
    Raises UsageError for bits outside 2..16, CheckpointError for an adapter or a folder that is no whole model.
    """
    if not 2 <= bits <= 16:
        raise UsageError(f"bits={bits}: a weight is rounded to 2 to 16 bits")
    parts = _whole(folder)
    if _there(target):
        return target
    patient()
    with building(target, _size(parts)) as copy:
        weights = {path.name for path in weight_files(parts.base)}
        for path in _files(parts):
            if path.name in weights and path.suffix == ".safetensors":
                _round_file(path, copy / path.name, bits)
            else:
                shutil.copy2(path, copy / path.name)
    return target


def identical_copy(folder: Path, target: Path) -> Path:
    """The same model at `target`, with the same weights digest: hard links where the disk allows, else copies."""
    parts = _whole(folder)
    if _there(target):
        return target
    with building(target) as copy:
        for path in _files(parts):
            try:
                os.link(path, copy / path.name)
            except OSError:
                shutil.copy2(path, copy / path.name)
    return target


def rounded(weight: "torch.Tensor", bits: int) -> "torch.Tensor":
    """`weight` `[out, in]` with each row on 2**bits - 1 levels symmetric about zero, in the same dtype."""
    import torch

    levels = 2 ** (bits - 1) - 1
    exact = weight.to(torch.float32)
    step = exact.abs().amax(dim=1, keepdim=True).clamp(min=torch.finfo(torch.float32).tiny) / levels
    nearest: torch.Tensor = (exact / step).round().clamp(-levels, levels) * step
    return nearest.to(weight.dtype)


def _round_file(source: Path, target: Path, bits: int) -> None:
    from safetensors import safe_open
    from safetensors.torch import save_file

    tensors = {}
    with safe_open(source, framework="pt") as file:
        for name in file.keys():  # noqa: SIM118 - not a dict
            tensor = file.get_tensor(name)
            tensors[name] = rounded(tensor, bits) if _is_linear(name, tensor) else tensor
        said = file.metadata()
    save_file(tensors, target, metadata=said)


def _is_linear(name: str, tensor: "torch.Tensor") -> bool:
    # Embeddings are tables, not maps, and where they are tied to the output head rounding them kills the model.
    return tensor.ndim == 2 and tensor.is_floating_point() and "embed" not in name and "lm_head" not in name


def _whole(folder: Path) -> Layout:
    parts = layout(folder)
    if parts.adapter is not None:
        raise CheckpointError(f"{folder}: is an adapter; copy its base, or merge it first")
    return parts


def _there(target: Path) -> bool:
    if (target / "config.json").is_file():
        return True
    if target.exists():
        raise CheckpointError(f"{target}: is there and is no model folder; give another path or remove it")
    return False


def _files(parts: Layout) -> list[Path]:
    return sorted(set(parts.files().values()))


def _size(parts: Layout) -> int:
    return sum(path.stat().st_size for path in _files(parts))
