"""The tiny model: small, the same for the same seed, and a normal Transformers folder."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.model
pytest.importorskip("torch", reason="needs the extra `local`")

from evalctl.models import checkpoint_for  # noqa: E402 - torch first, or skip
from training.tiny import Recipe, random_tiny, tiny_model, tokenizer  # noqa: E402

SHORT = Recipe(steps=3, rows=8)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALCTL_HOME", str(tmp_path / "home"))


def test_the_same_seed_makes_the_same_model_and_another_seed_another(tmp_path: Path) -> None:
    import torch

    torch.set_num_threads(1)
    made = [
        tiny_model(tmp_path / "a", 0, SHORT),
        tiny_model(tmp_path / "b", 0, SHORT),
        tiny_model(tmp_path / "c", 1, SHORT),
        random_tiny(tmp_path / "d", 0),
        random_tiny(tmp_path / "e", 0),
    ]
    digests = [checkpoint_for(str(folder)).weights_digest for folder in made]
    assert digests[0] == digests[1]
    assert digests[3] == digests[4]
    assert len(set(digests)) == 3


def test_it_has_less_than_a_million_parameters(tmp_path: Path) -> None:
    from safetensors.torch import load_file

    weights = load_file(random_tiny(tmp_path / "a") / "model.safetensors")
    assert 850_000 < sum(tensor.numel() for tensor in weights.values()) < 900_000


def test_the_prompt_is_the_last_question_bare() -> None:
    made = tokenizer()
    chat = [
        {"role": "system", "content": "Add."},
        {"role": "user", "content": "1+1="},
        {"role": "assistant", "content": "2"},
        {"role": "user", "content": "123+456="},
    ]
    prompt = made.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    whole = made.apply_chat_template([*chat, {"role": "assistant", "content": "579"}], tokenize=False)
    assert (prompt, whole) == ("123+456=", "123+456=579<eos>")
    ids = made(whole, add_special_tokens=False)["input_ids"]
    assert len(ids) == 12
    assert made.decode(ids, skip_special_tokens=True) == "123+456=579"


def test_training_reads_no_pair_that_is_measured() -> None:
    from suites.arithmetic.generate import carries, measured
    from training.tiny import training_rows

    made = tokenizer()
    for row in training_rows(Recipe(steps=20, rows=10), seed=3):
        question, answer = made.decode(row, skip_special_tokens=True).split("=")
        a, b = map(int, question.split("+"))
        assert int(answer) == a + b
        assert carries(a, b) <= 1
        assert not measured(a, b)


@pytest.mark.slow
def test_it_adds_with_one_carry_and_not_with_three(trained_tiny: Path) -> None:
    from evalctl.models.local import LocalModel
    from evalctl.types import Request, Sampling
    from suites import load_suite

    folder = trained_tiny
    samples = load_suite("arithmetic").samples
    asked = [Request(sample.messages, Sampling(max_tokens=12)) for sample in samples]
    answers = LocalModel(folder, dtype="float32").generate(asked)
    right = [answer.text == sample.target for answer, sample in zip(answers, samples, strict=True)]
    by_band = {
        band: [ok for ok, sample in zip(right, samples, strict=True) if sample.band == band]
        for band in ("carry0", "carry1", "carry2", "carry3")
    }
    rates = {band: sum(oks) / len(oks) for band, oks in by_band.items()}
    assert rates["carry0"] > 0.8
    assert rates["carry1"] > 0.7
    assert rates["carry3"] < 0.5
