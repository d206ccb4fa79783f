"""A model folder into memory: safetensors only, no code from the folder, nothing from a network."""

from pathlib import Path
from typing import Any

from ..errors import CheckpointError
from .folder import Layout
from .quiet import quiet

DTYPES = ("bfloat16", "float32")
BF16_UNITS = frozenset({"avx512_bf16", "amx_bf16", "bf16", "svebf16"})
"""What /proc/cpuinfo calls a processor's own bf16 arithmetic (x86, x86, Arm, Arm)."""


def default_dtype(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """bf16 where the processor computes in it, else fp32.

    Without such units bf16 is emulated: batches were 4 to 5 times slower than fp32 on an AVX2 machine, and 2.4
    times faster on one with them.
    """
    try:
        text = cpuinfo.read_text(encoding="utf-8")
    except OSError:
        return "float32"
    flags = next((line for line in text.splitlines() if line.lower().startswith(("flags", "features"))), "")
    return "bfloat16" if BF16_UNITS & set(flags.split()) else "float32"


def load_tokenizer(parts: Layout) -> Any:
    """The tokenizer, with its chat template. Raises CheckpointError when Transformers cannot read it."""
    from transformers import AutoTokenizer

    with quiet():
        try:
            return AutoTokenizer.from_pretrained(parts.tokenizer, local_files_only=True, trust_remote_code=False)
        except Exception as error:
            raise _unreadable(parts.tokenizer, "tokenizer", error) from error


def load_weights(parts: Layout, dtype: str) -> Any:
    """The model in evaluation mode, in `dtype`, with its adapter merged.

    Raises CheckpointError when the weights cannot be read, do not fit the configuration, or leave a layer without
    weights (Transformers would fill it with random numbers and say so in a log line only).
    """
    if dtype not in DTYPES:
        raise CheckpointError(f"{parts.folder}: no dtype {dtype!r}; known: {', '.join(DTYPES)}")
    with quiet():
        if parts.adapter is None:
            return _base(parts.base, dtype).eval()
        # Merged in fp32 and rounded once: added in bf16, most of a small update falls below the last bit of the
        # weight it is added to, and the adapter would seem to have learned less than it did.
        model = _merged(_base(parts.base, "float32"), parts.adapter)
        return model.to(_torch_dtype(dtype)).eval()


def _base(folder: Path, dtype: str) -> Any:
    from transformers import AutoModelForCausalLM

    try:
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            folder,
            dtype=_torch_dtype(dtype),
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
        )
    except Exception as error:
        raise _unreadable(folder, "weights", error) from error
    model, told = loaded
    lacking = sorted(map(str, told["missing_keys"])) + sorted(str(key) for key in told.get("mismatched_keys", ()))
    if lacking:
        raise CheckpointError(
            f"{folder}: weights do not fit config.json ({len(lacking)} tensors missing or of another shape, "
            f"first {lacking[0]}); save the model again"
        )
    return model


def _merged(model: Any, adapter: Path) -> Any:
    from peft import PeftModel

    try:
        return PeftModel.from_pretrained(model, adapter, local_files_only=True).merge_and_unload()
    except Exception as error:
        raise _unreadable(adapter, "adapter", error) from error


def _torch_dtype(dtype: str) -> Any:
    import torch

    return torch.bfloat16 if dtype == "bfloat16" else torch.float32


def _unreadable(folder: Path, what: str, error: Exception) -> CheckpointError:
    first = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return CheckpointError(f"{folder}: the {what} cannot be loaded ({type(error).__name__}: {first}); save it again")
