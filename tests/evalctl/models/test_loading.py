"""What is loaded is what the folder holds, adapters included; what does not fit is refused."""

import json
from pathlib import Path

import pytest

from evalctl.errors import CheckpointError
from evalctl.models.damage import identical_copy
from evalctl.models.folder import layout
from evalctl.models.loading import default_dtype, load_weights
from evalctl.models.quiet import quiet

pytestmark = pytest.mark.model


def test_a_merged_adapter_gives_the_logits_of_the_unmerged_one(tiny: Path, tmp_path: Path) -> None:
    import torch
    from peft import LoraConfig, get_peft_model

    base = load_weights(layout(tiny), "float32")
    torch.manual_seed(0)
    shape = LoraConfig(r=4, lora_alpha=8, target_modules="all-linear", init_lora_weights=False)
    with quiet():
        tuned = get_peft_model(base, shape)
        tuned.peft_config["default"].base_model_name_or_path = str(tiny)
        tuned.save_pretrained(tmp_path / "adapter")
    ids = torch.arange(3, 60)[None]
    with torch.inference_mode():
        apart = tuned.eval()(input_ids=ids).logits
        merged = load_weights(layout(tmp_path / "adapter"), "float32")(input_ids=ids).logits
        plain = load_weights(layout(tiny), "float32")(input_ids=ids).logits
    assert torch.allclose(merged, apart, atol=1e-4)
    assert not torch.allclose(merged, plain, atol=0.1)
    half = load_weights(layout(tmp_path / "adapter"), "bfloat16")
    assert {p.dtype for p in half.parameters()} == {torch.bfloat16}


def test_a_layer_without_weights_is_refused_never_filled_with_noise(tiny: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = identical_copy(tiny, tmp_path / "gap")
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    tensors.pop("model.layers.2.mlp.up_proj.weight")
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(CheckpointError, match=r"weights do not fit config\.json .*layers\.2\.mlp\.up_proj"):
        load_weights(layout(folder), "float32")


def test_a_file_cut_short_is_refused_in_one_line(tiny: Path, tmp_path: Path) -> None:
    folder = identical_copy(tiny, tmp_path / "short")
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").write_bytes(data[: len(data) // 2])
    with pytest.raises(CheckpointError, match="the weights cannot be loaded") as caught:
        load_weights(layout(folder), "float32")
    assert "\n" not in str(caught.value)


def test_code_in_a_folder_is_never_run(tiny: Path, tmp_path: Path) -> None:
    folder = identical_copy(tiny, tmp_path / "code")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").unlink()
    config |= {"model_type": "other", "auto_map": {"AutoConfig": "x.C", "AutoModelForCausalLM": "x.M"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "x.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass C: pass\nclass M: pass\n")
    with pytest.raises(CheckpointError, match="cannot be loaded"):
        load_weights(layout(folder), "float32")
    assert not (tmp_path / "ran").exists()


def test_an_unknown_dtype_is_refused(tiny: Path) -> None:
    with pytest.raises(CheckpointError, match="no dtype 'int3'; known: bfloat16, float32"):
        load_weights(layout(tiny), "int3")


def test_bf16_is_the_default_where_the_processor_computes_in_it(tmp_path: Path) -> None:
    info = tmp_path / "cpuinfo"
    info.write_text("model name\t: X\nflags\t\t: fpu avx2 avx512_bf16\n")
    assert default_dtype(info) == "bfloat16"
    info.write_text("flags\t\t: fpu avx2\n")
    assert default_dtype(info) == "float32"
    assert default_dtype(tmp_path / "none") == "float32"
