"""A random tiny model, made once: its answers are noise, and the same noise each time."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an untrained model of 0.9M parameters."""
    pytest.importorskip("torch", reason="needs the extra `local`")
    from training.tiny import random_tiny

    return random_tiny(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def shell(tmp_path: Path) -> Path:
    """A folder that looks like a model to everything that does not load it; no torch needed."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "llama", "transformers_version": "5.0.0"}')
    (folder / "model.safetensors").write_bytes(bytes(range(256)) * 5000)
    (folder / "tokenizer.json").write_text('{"model": {}}')
    (folder / "tokenizer_config.json").write_text('{"eos_token": "<eos>"}')
    (folder / "chat_template.jinja").write_text("{{ messages[0]['content'] }}")
    return folder


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Hashes are remembered in the test's own folder."""
    monkeypatch.setenv("EVALCTL_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "cache" / "weights.json"
