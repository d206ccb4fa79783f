"""A reference resolves to one checkpoint, or to one line that says what is wrong and the mend."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from evalctl.errors import CheckpointError, LookupFailed
from evalctl.models import checkpoint_for, load_model
from evalctl.types import Checkpoint, ScorerSpec, Suite

SUITE = Suite("s", "1", (), ScorerSpec("exact"))


def pickled(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def plain(folder: Path) -> None:
    (folder / "chat_template.jinja").unlink()


def sharded(folder: Path) -> None:
    (folder / "model.safetensors.index.json").write_text('{"weight_map": {"a": "model-00001-of-00001.safetensors"}}')


def escaping(folder: Path) -> None:
    (folder / "model.safetensors.index.json").write_text('{"weight_map": {"a": "../other.safetensors"}}')


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda f: (f / "tokenizer.json").unlink(), r"no tokenizer .*copy the base model's tokenizer files"),
        (lambda f: (f / "model.safetensors").unlink(), r"no weights \(model\.safetensors is not there\)"),
        (lambda f: (f / "config.json").unlink(), r"no config\.json and no adapter_config\.json"),
        (plain, r"no chat template; put one in chat_template\.jinja"),
        (pickled, r"weights only as pickle \(pytorch_model\.bin\), which evalctl never loads"),
        (sharded, r"no weights \(model-00001-of-00001\.safetensors is not there\)"),
        (escaping, r"names a shard outside its folder"),
    ],
    ids=["tokenizer", "weights", "config", "template", "pickle", "shard", "escape"],
)
def test_a_folder_that_is_no_whole_model_is_refused_with_the_mend(
    shell: Path, spoil: Callable[[Path], object], said: str
) -> None:
    spoil(shell)
    with pytest.raises(CheckpointError, match=said) as caught:
        checkpoint_for(str(shell))
    assert "\n" not in str(caught.value)


def test_everything_that_is_missing_is_said_at_once(shell: Path) -> None:
    (shell / "model.safetensors").unlink()
    (shell / "tokenizer.json").unlink()
    with pytest.raises(CheckpointError, match=r"no weights.*; and no tokenizer"):
        checkpoint_for(str(shell))


def test_a_template_inside_the_tokenizers_configuration_is_one(shell: Path) -> None:
    plain(shell)
    (shell / "tokenizer_config.json").write_text(json.dumps({"chat_template": "{{ messages }}"}))
    assert checkpoint_for(str(shell), "mine").name == "mine"


def test_an_adapter_takes_its_base_with_it(shell: Path, tmp_path: Path) -> None:
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": str(shell), "r": 8}))
    with pytest.raises(CheckpointError, match="no adapter weights"):
        checkpoint_for(str(adapter))
    (adapter / "adapter_model.safetensors").write_bytes(b"small")
    base, first = checkpoint_for(str(shell)), checkpoint_for(str(adapter))
    assert first.parent == base.weights_digest != first.weights_digest
    (adapter / "adapter_model.safetensors").write_bytes(b"other")
    second = checkpoint_for(str(adapter))
    (shell / "model.safetensors").write_bytes(b"another base")
    assert len({first.weights_digest, second.weights_digest, checkpoint_for(str(adapter)).weights_digest}) == 3


def test_an_adapter_whose_base_moved_is_the_same_and_one_without_base_is_refused(shell: Path, tmp_path: Path) -> None:
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_model.safetensors").write_bytes(b"small")
    (adapter / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "../model"}))
    before = checkpoint_for(str(adapter)).weights_digest
    moved = shell.rename(tmp_path / "elsewhere")
    with pytest.raises(CheckpointError, match=r"base '\.\./model' is no model folder here; set base_model_name"):
        checkpoint_for(str(adapter))
    (adapter / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": str(moved)}))
    assert checkpoint_for(str(adapter)).weights_digest == before


def test_an_unknown_double_or_option_gets_a_did_you_mean() -> None:
    with pytest.raises(LookupFailed, match="unknown double 'referense'; did you mean 'reference'"):
        checkpoint_for("double:referense")
    with pytest.raises(LookupFailed, match="option of double:noisy 'acuracy'; did you mean 'accuracy'"):
        checkpoint_for("double:noisy?acuracy=0.5")


def test_doubles_are_told_apart_by_their_options() -> None:
    made = [checkpoint_for(f"double:noisy?{q}") for q in ("accuracy=0.7&seed=1", "seed=1&accuracy=0.7", "accuracy=0.8")]
    assert made[0].weights_digest == made[1].weights_digest != made[2].weights_digest
    assert made[0].kind == "double"
    assert made[0].verified


def test_a_served_model_is_known_by_address_and_name_and_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLM_BASE_URL", raising=False)
    first = checkpoint_for("vllm/some-org/model")
    assert (first.kind, first.verified, first.name) == ("served", False, "vllm/some-org/model")
    monkeypatch.setenv("VLLM_BASE_URL", "http://127.0.0.1:8000/v1")
    assert checkpoint_for("vllm/some-org/model").weights_digest != first.weights_digest
    monkeypatch.setenv("LOCAL_BASE_URL", "http://127.0.0.1:1/v1")
    near = checkpoint_for("openai-api/local/m")
    monkeypatch.setenv("LOCAL_BASE_URL", "http://127.0.0.1:2/v1")
    assert checkpoint_for("openai-api/local/m").weights_digest != near.weights_digest
    assert load_model(first, SUITE) is None


@pytest.mark.parametrize("reference", ["modle", "./model", "", "/no/such/folder", "vllm/"])
def test_what_is_neither_folder_nor_model_is_refused(reference: str) -> None:
    with pytest.raises(CheckpointError, match=r"is no model: expected a model folder, provider/name, or double:NAME"):
        checkpoint_for(reference)


def test_a_mistyped_folder_is_guessed(shell: Path) -> None:
    with pytest.raises(CheckpointError, match=r"did you mean '.*model'"):
        checkpoint_for(str(shell.with_name("modle")))


def test_an_imported_checkpoint_has_nothing_to_load() -> None:
    with pytest.raises(CheckpointError, match="was imported: there are no weights to run"):
        load_model(Checkpoint("old", "d", "imported", "file.jsonl", verified=False), SUITE)
