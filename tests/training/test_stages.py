"""The stages on a small real model: what they promise, and what they refuse to call training."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

pytestmark = [pytest.mark.model, pytest.mark.slow]
pytest.importorskip("trl", reason="needs the extra `train`")

from evalctl.models import checkpoint_for  # noqa: E402 - trl first, or skip
from evalctl.models.folder import layout  # noqa: E402
from evalctl.models.loading import load_tokenizer  # noqa: E402
from evalctl.types import ScorerSpec  # noqa: E402
from tests.training.learned import sums  # noqa: E402
from training.adapters import trainable  # noqa: E402
from training.answers import Collator, answer_trainer  # noqa: E402
from training.drift import drift  # noqa: E402
from training.errors import MergeError, NothingToLearn, StageError  # noqa: E402
from training.grpo import Groups, rlvr  # noqa: E402
from training.merge import merge  # noqa: E402
from training.rewards import Rewards  # noqa: E402
from training.rows import Row  # noqa: E402
from training.settings import Rlvr, Sft  # noqa: E402
from training.sft import common, sft  # noqa: E402
from training.stages import StageResult, StageWork  # noqa: E402
from training.tiny import random_tiny  # noqa: E402
from training.tokens import encode  # noqa: E402

QUICK = Sft(rate=1e-3, rows=8, rank=4)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_tiny(tmp_path_factory.mktemp("base") / "tiny")


def trained(base: Path, target: Path, rows: Sequence[Row], settings: Sft = QUICK) -> StageResult:
    return sft(StageWork(base, rows, target, 3, lambda done, of: None), settings)


def with_template(base: Path, target: Path, template: str) -> Path:
    shutil.copytree(base, target)
    (target / "chat_template.jinja").write_text(template)
    return target


def test_what_is_trained_is_the_answer_and_its_end_after_the_prompt_that_is_evaluated(base: Path) -> None:
    tokenizer = load_tokenizer(layout(base))
    [row] = sums(1)
    encoded = encode(tokenizer, row)
    assert tokenizer.decode(encoded.ids[: encoded.answer_from]) == row.sample.input
    assert tokenizer.decode(encoded.ids[encoded.answer_from :]) == row.completion + "<eos>"
    assert encoded.labels[: encoded.answer_from] == [-100] * encoded.answer_from


EXCLAIMED = (
    "{% for m in messages %}{{ m['content'] }}{% if m['role'] == 'assistant' %}!{{ eos_token }}{% endif %}{% endfor %}"
)


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{% for m in messages|reverse %}{{ m['content'] + eos_token }}{% endfor %}", "not prefix-preserving"),
        ("{% for m in messages %}{{ m['content'] }}{% endfor %}", "writes no end token"),
        (EXCLAIMED, "keeps answers as they are"),
    ],
)
def test_a_template_that_does_not_round_trip_is_refused(base: Path, tmp_path: Path, template: str, said: str) -> None:
    folder = with_template(base, tmp_path / "other", template)
    with pytest.raises(StageError, match=said):
        encode(load_tokenizer(layout(folder)), sums(1)[0])


def test_a_template_without_generation_marks_trains_all_the_same(base: Path, tmp_path: Path) -> None:
    marks = ("{% generation %}", "{% endgeneration %}")
    template = (base / "chat_template.jinja").read_text()
    for mark in marks:
        template = template.replace(mark, "")
    folder = with_template(base, tmp_path / "unmarked", template)
    result = trained(folder, tmp_path / "adapter", sums(8))
    assert result.trained_tokens > 0


def test_sft_counts_what_it_learned_and_says_so_and_the_same_again_is_the_same_adapter(
    base: Path, tmp_path: Path
) -> None:
    rows, seen = sums(24), []
    first = sft(StageWork(base, rows, tmp_path / "a", 3, lambda done, of: seen.append((done, of))), QUICK)
    trained(base, tmp_path / "b", rows)
    assert (first.steps, first.rows, first.left_out) == (3, 24, {})
    assert first.trained_tokens == sum(len(row.completion) + 1 for row in rows)
    assert seen == [(1, 3), (2, 3), (3, 3)]
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == ["adapter_config.json", "adapter_model.safetensors"]
    digests = {checkpoint_for(str(tmp_path / name)).weights_digest for name in "ab"}
    assert len(digests) == 1
    assert digests != {checkpoint_for(str(base)).weights_digest}


def test_a_prompt_that_rows_share_is_computed_once_and_the_loss_and_gradients_are_the_same(
    base: Path, tmp_path: Path
) -> None:
    import torch

    folder = with_template(base, tmp_path / "shown", EXCLAIMED.replace("!", ""))
    tokenizer, model = load_tokenizer(layout(folder)), trainable(folder, 4, None, 0)
    for name, value in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(value, std=0.02)
    encoded = [encode(tokenizer, row) for row in sums(6)]
    rows = [{"input_ids": list(one.ids), "labels": one.labels} for one in encoded]
    found = []
    for shares in (True, False):
        model.zero_grad()
        inputs = Collator(0, shares)(rows)
        assert (inputs["prefix"].shape[1] >= 32) is shares
        loss = answer_trainer().compute_loss(None, model, inputs)
        loss.backward()
        gradients = torch.cat([v.grad.flatten() for v in model.parameters() if v.grad is not None])
        found.append((loss.item(), gradients))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-5)
    assert torch.allclose(found[0][1], found[1][1], rtol=1e-3, atol=1e-6)


def test_a_long_row_is_counted_and_many_of_them_fail_the_stage(base: Path, tmp_path: Path) -> None:
    rows = sums(20)
    longer = replace(rows[0], completion=rows[0].completion + " " * 40)
    result = trained(base, tmp_path / "one", [longer, *rows[1:]], replace(QUICK, longest=40))
    assert result.left_out == {"longer than 40 tokens": 1}
    assert result.rows == 19
    with pytest.raises(StageError, match="20 of 20 rows are longer"):
        trained(base, tmp_path / "all", rows, replace(QUICK, longest=4))


def test_a_rate_of_nothing_is_not_called_training(base: Path, tmp_path: Path) -> None:
    with pytest.raises(StageError, match="changed no weight"):
        trained(base, tmp_path / "still", sums(8), replace(QUICK, rate=0.0))
    assert not (tmp_path / "still").exists()


def test_no_checkpoint_is_chosen_by_its_loss_and_nothing_is_evaluated_on_what_is_trained() -> None:
    told = common()
    assert (told["load_best_model_at_end"], told["eval_strategy"], told["save_strategy"]) == (False, "no", "no")


def test_a_merge_answers_as_the_adapter_does_and_one_that_changed_nothing_is_refused(
    base: Path, tmp_path: Path
) -> None:
    rows = sums(16)
    trained(base, tmp_path / "adapter", rows)
    figures = merge(tmp_path / "adapter", tmp_path / "whole", [row.prompt for row in rows[:4]])
    assert figures["moved_from_base"] > 0
    assert figures["same_top"] == 1.0
    assert checkpoint_for(str(tmp_path / "whole")).kind == "folder"
    from safetensors.torch import load_file, save_file

    weights = load_file(tmp_path / "adapter" / "adapter_model.safetensors")
    save_file({name: value * 0 for name, value in weights.items()}, tmp_path / "adapter" / "adapter_model.safetensors")
    with pytest.raises(MergeError, match="changed nothing"):
        merge(tmp_path / "adapter", tmp_path / "again", [row.prompt for row in rows[:4]])
    assert not (tmp_path / "again").exists()


def test_drift_is_nothing_from_itself_and_something_after_training(base: Path, tmp_path: Path) -> None:
    rows = sums(16)
    prompts = [(row.clusters[0], row.prompt) for row in rows[:8]]
    trained(base, tmp_path / "adapter", rows, replace(QUICK, rate=1e-2))
    same, moved = drift(base, base, prompts, 4), drift(base, tmp_path / "adapter", prompts, 4)
    assert same is not None
    assert moved is not None
    assert abs(same.value) < 1e-6
    assert moved.value > 0
    assert moved.clusters == 8


def test_rlvr_goes_on_with_the_adapter_and_reports_its_groups(trained_tiny: Path, tmp_path: Path) -> None:
    rows = sums(32)
    settings = Rlvr(rate=1e-4, steps=2, prompts=8, group=4, temperature=1.5)
    trained(trained_tiny, tmp_path / "sft", rows)
    work = StageWork(tmp_path / "sft", rows, tmp_path / "rlvr", 5, lambda done, of: None)
    with Rewards({"arithmetic": ScorerSpec("numeric")}, 10) as judge:
        result = rlvr(work, settings, judge, 8)
    assert result.steps == 2
    assert 0 < result.figures["live_group_rate"] <= 1
    assert result.figures["invalid_rate"] == 0
    assert checkpoint_for(str(tmp_path / "rlvr")).weights_digest != checkpoint_for(str(tmp_path / "sft")).weights_digest


def test_rlvr_that_moves_no_weight_is_not_called_training(trained_tiny: Path, tmp_path: Path) -> None:
    rows = sums(32)
    trained(trained_tiny, tmp_path / "sft", rows)
    work = StageWork(tmp_path / "sft", rows, tmp_path / "rlvr", 5, lambda done, of: None)
    still = Rlvr(rate=0.0, steps=1, prompts=8, group=4, temperature=1.5)
    with (
        Rewards({"arithmetic": ScorerSpec("numeric")}, 10) as judge,
        pytest.raises(StageError, match="changed no weight"),
    ):
        rlvr(work, still, judge, 8)


def test_a_pool_without_a_live_group_is_a_finding_and_ends_early(base: Path, tmp_path: Path) -> None:
    work = StageWork(base, sums(16), tmp_path / "rlvr", 5, lambda done, of: None)
    with Rewards({"arithmetic": ScorerSpec("numeric")}, 10) as judge, pytest.raises(NothingToLearn, match="too hard"):
        rlvr(work, Rlvr(rate=1e-4, steps=50, prompts=2, group=2), judge, 2)


def test_a_group_with_one_different_reward_is_live_and_an_invalid_reward_is_no_zero() -> None:
    groups = Groups(8)
    groups.note([0.0] + [0.95] * 7)
    assert (groups.live, groups.dead) == (1, 0)
    groups.note([None] + [1.0] * 7)
    assert (groups.live, groups.dead, groups.invalid) == (1, 1, 1)
    assert groups.figures()["last_reward"] == 1.0
