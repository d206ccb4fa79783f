"""The local provider: chat in, completions out, counted, and nothing cut without a word."""

from pathlib import Path

import pytest

from evalctl.errors import CheckpointError
from evalctl.models import checkpoint_for, load_model
from evalctl.models.local import LocalModel
from evalctl.types import Message, Request, Sampling, ScorerSpec, Suite, ToolCall

pytestmark = pytest.mark.model
SUITE = Suite("s", "1", (), ScorerSpec("exact"))


@pytest.fixture(scope="module")
def model(tiny: Path) -> LocalModel:
    return LocalModel(tiny, batch_size=4, dtype="float32", threads=1)


def ask(text: str, max_tokens: int = 8, temperature: float = 0.0, seed: int = 0) -> Request:
    return Request((Message("user", text),), Sampling(temperature, 1.0, max_tokens), seed)


def test_answers_come_in_order_with_their_usage(model: LocalModel) -> None:
    out = model.generate([ask("1+1=", 3), ask("123+456=", 5)])
    assert [(c.input_tokens, c.output_tokens, c.truncated) for c in out] == [(4, 3, False), (8, 5, False)]
    assert {c.stop_reason for c in out} <= {"stop", "length"}
    assert model.generate([]) == []


def test_a_prompt_longer_than_the_window_is_refused_and_told(model: LocalModel) -> None:
    out = model.generate([ask("1" * 512), ask("2+2=")])
    assert (out[0].text, out[0].stop_reason, out[0].truncated, out[0].input_tokens) == ("", "error", True, 512)
    assert out[1] == model.generate([ask("2+2=")])[0]


def test_an_answer_ends_where_the_window_ends(model: LocalModel) -> None:
    (out,) = model.generate([ask("1" * 508, 50)])
    assert (out.stop_reason, out.output_tokens) in {("length", 4), ("stop", out.output_tokens)}
    assert out.output_tokens is not None
    assert out.output_tokens <= 4


def test_an_end_token_is_a_stop_and_the_cap_is_a_length(tiny: Path) -> None:
    model = LocalModel(tiny, dtype="float32", threads=1)
    (free,) = model.generate([ask("7+8=", 6)])
    assert free.stop_reason == "length"
    ids = model.tokenizer(free.text, add_special_tokens=False)["input_ids"]
    ended = LocalModel(tiny, dtype="float32", threads=1)
    ended.weights.generation_config.eos_token_id = [ids[2], 1]
    (out,) = ended.generate([ask("7+8=", 6)])
    assert out.stop_reason == "stop"
    assert free.text.startswith(out.text)
    assert out.output_tokens == ids.index(ids[2]) + 1


def test_a_fresh_process_would_say_the_same(model: LocalModel, tiny: Path) -> None:
    batch = [ask(f"{i}+{i * i}=", 8, temperature=1.0, seed=i) for i in range(4)]
    assert model.generate(batch) == LocalModel(tiny, 4, "float32", 1).generate(batch)


def test_the_engine_names_everything_that_could_change_an_answer(tiny: Path) -> None:
    engine = LocalModel(tiny, batch_size=7, dtype="bfloat16", threads=2).engine
    assert (engine.name, engine.dtype, engine.batch, engine.threads) == ("transformers", "bfloat16", 7, 2)
    assert engine.version.startswith("torch ")
    assert ", transformers " in engine.version


def test_bf16_answers_too(tiny: Path) -> None:
    (out,) = LocalModel(tiny, dtype="bfloat16", threads=1).generate([ask("1+2=", 4)])
    assert out.output_tokens
    assert out.input_tokens == 4


def test_calls_are_shown_where_the_template_knows_none(model: LocalModel) -> None:
    call = Message("assistant", "", (ToolCall("add", {"a": 1}),))
    text = model.render((Message("user", "go"), call))
    assert text == 'go<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call><eos>'


def test_a_template_that_refuses_the_conversation_is_named(tiny: Path, tmp_path: Path) -> None:
    from evalctl.models.damage import identical_copy

    folder = identical_copy(tiny, tmp_path / "strict")
    (folder / "chat_template.jinja").unlink()
    (folder / "chat_template.jinja").write_text("{{ raise_exception('roles must alternate') }}")
    with pytest.raises(CheckpointError, match=r"refuses the conversation .*roles must alternate"):
        LocalModel(folder).generate([ask("1+1=")])


def test_a_folder_is_loaded_through_its_checkpoint(tiny: Path) -> None:
    model = load_model(checkpoint_for(str(tiny)), SUITE, batch_size=3)
    assert isinstance(model, LocalModel)
    assert model.batch_size == 3
    with pytest.raises(CheckpointError, match="batch size 0"):
        LocalModel(tiny, batch_size=0)
