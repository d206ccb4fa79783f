"""Two folders have one digest when they hold the same model; one byte that matters makes another."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from evalctl.errors import CheckpointError
from evalctl.models import checkpoint_for
from evalctl.models.damage import identical_copy
from evalctl.models.folder import layout
from evalctl.models.weights import cache_file, weights_digest


def digest_of(folder: Path) -> str:
    return weights_digest(layout(folder))


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def settle(path: Path) -> None:
    """Old enough to be remembered: what has just changed is read again each time."""
    past = time.time() - path.stat().st_ctime
    time.sleep(max(0.0, 2.05 - past))


@pytest.mark.parametrize(
    "change",
    [
        lambda f: flip(f / "model.safetensors"),
        lambda f: (f / "tokenizer.json").write_text('{"model": {"a": 1}}'),
        lambda f: (f / "tokenizer_config.json").write_text('{"eos_token": "<end>"}'),
        lambda f: (f / "chat_template.jinja").write_text("{{ messages[-1]['content'] }}"),
        lambda f: (f / "config.json").write_text('{"model_type": "llama", "rope_theta": 5}'),
        lambda f: (f / "generation_config.json").write_text('{"eos_token_id": 3}'),
        lambda f: (f / "special_tokens_map.json").write_text("{}"),
    ],
    ids=["weight byte", "tokenizer", "end token", "template", "configuration", "generation", "special tokens"],
)
def test_whatever_could_change_an_answer_changes_the_digest(shell: Path, change: Callable[[Path], object]) -> None:
    before = digest_of(shell)
    change(shell)
    assert digest_of(shell) != before


def test_what_cannot_change_an_answer_does_not(shell: Path) -> None:
    before = digest_of(shell)
    (shell / "README.md").write_text("hello")
    (shell / "optimizer.pt").write_bytes(b"state")
    (shell / "config.json").write_text('{"model_type": "llama", "_name_or_path": "/x", "transformers_version": "6"}')
    assert digest_of(shell) == before
    assert digest_of(shell.rename(shell.with_name("moved"))) == before


def test_an_identical_copy_has_the_same_digest_and_its_own_name(shell: Path) -> None:
    copy = identical_copy(shell, shell.with_name("copy"))
    first, second = checkpoint_for(str(shell)), checkpoint_for(str(copy))
    assert first.weights_digest == second.weights_digest
    assert (first.name, second.name) == ("model", "copy")
    assert (first.kind, first.verified, first.parent) == ("folder", True, None)


def test_shards_count_each(shell: Path) -> None:
    (shell / "model.safetensors").rename(shell / "model-00001-of-00002.safetensors")
    (shell / "model-00002-of-00002.safetensors").write_bytes(b"more")
    names = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    (shell / "model.safetensors.index.json").write_text(json.dumps({"weight_map": names}))
    before = digest_of(shell)
    flip(shell / "model-00002-of-00002.safetensors")
    assert digest_of(shell) != before


def test_a_change_that_restores_size_and_time_is_seen(shell: Path, own_cache: Path) -> None:
    weights = shell / "model.safetensors"
    settle(weights)
    before = digest_of(shell)
    assert str(weights) in json.loads(own_cache.read_text())
    stat = weights.stat()
    with weights.open("r+b") as file:
        file.seek(1000)
        file.write(b"\xff\xfe")
    os.utime(weights, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    after = weights.stat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (stat.st_size, stat.st_mtime_ns, stat.st_ino)
    assert digest_of(shell) != before


def test_a_file_is_hashed_once_and_a_broken_memory_costs_only_time(shell: Path, own_cache: Path) -> None:
    settle(shell / "model.safetensors")
    before = digest_of(shell)
    said = json.loads(own_cache.read_text())
    place = next(iter(said))
    said[place][-1] = "0" * 64
    own_cache.write_text(json.dumps(said))
    assert digest_of(shell) != before, "what is remembered is used"
    for broken in ("", "[]", "{", json.dumps({place: None}), json.dumps({place: []})):
        own_cache.write_text(broken)
        assert digest_of(shell) == before


def test_a_file_changed_just_now_is_not_remembered(shell: Path, own_cache: Path) -> None:
    (shell / "model.safetensors").touch()
    digest_of(shell)
    assert not own_cache.exists()


def test_the_memory_lies_in_the_home_or_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_file() == tmp_path / "home" / "cache" / "weights.json"
    monkeypatch.delenv("EVALCTL_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_file() == tmp_path / "xdg" / "evalctl" / "weights.json"


def test_a_configuration_that_is_no_json_is_named(shell: Path) -> None:
    (shell / "config.json").write_text("{")
    with pytest.raises(CheckpointError, match=r"config\.json: cannot be read as JSON"):
        digest_of(shell)
