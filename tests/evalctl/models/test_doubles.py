"""Doubles say what they were told to, whatever order they are asked in."""

import pytest

from evalctl.errors import CheckpointError, ServiceError, UsageError
from evalctl.models import checkpoint_for, load_model
from evalctl.types import Message, Model, Request, Sample, ScorerSpec, Suite

SAMPLES = tuple(Sample(f"s{i}", f"{i}+1", str(i + 1)) for i in range(400))
PREFIX = (Message("user", "1+0"), Message("assistant", "1"))
SUITE = Suite(
    "sums",
    "1",
    SAMPLES,
    ScorerSpec("exact"),
    prefix=PREFIX,
    reference=lambda s: str(s.target),
    wrong=lambda s: ("no", "never", ""),
)


def double(reference: str, suite: Suite = SUITE, batch_size: int | None = None) -> Model:
    model = load_model(checkpoint_for(reference), suite, batch_size)
    assert model is not None
    return model


def ask(i: int, seed: int = 0, *more: Message) -> Request:
    return Request((*PREFIX, *SAMPLES[i].messages, *more), seed=seed, sample_id=SAMPLES[i].id)


def said(model: Model, *requests: Request) -> list[str]:
    return [completion.text for completion in model.generate(requests)]


def test_each_plays_its_part() -> None:
    assert said(double("double:reference"), ask(1), ask(41)) == ["2", "42"]
    assert said(double("double:empty"), ask(1)) == [""]
    assert said(double("double:wrong"), ask(1)) == ["no"]
    assert said(double("double:constant?text=a%26b c"), ask(1)) == ["a&b c"]
    assert said(double("double:slow?seconds=0"), ask(1)) == ["2"]


def test_on_a_later_turn_it_is_done() -> None:
    later = ask(1, 0, Message("assistant", "2"), Message("user", "[exit 0]"))
    assert said(double("double:reference"), ask(1), later) == ["2", "Done."]


def test_usage_is_told_and_the_batch_size_kept() -> None:
    model = double("double:reference", batch_size=5)
    (out,) = model.generate([ask(1)])
    assert (out.input_tokens, out.output_tokens, out.stop_reason) == (3, 1, "stop")
    assert (model.batch_size, model.engine.batch, model.engine.name) == (5, 5, "double:reference")


def test_noise_is_as_large_as_asked_and_depends_on_the_trial_alone() -> None:
    requests = [ask(i, seed) for i in range(400) for seed in (1, 2)]
    model = double("double:noisy?accuracy=0.7&seed=1")
    out = said(model, *requests)
    assert abs(sum(text != "no" for text in out) / 800 - 0.7) < 0.05
    assert said(model, *requests[::-1]) == out[::-1]
    assert said(double("double:noisy?accuracy=0.7&seed=2"), *requests) != out
    assert out[::2] != out[1::2], "epochs differ"
    assert set(said(double("double:noisy?accuracy=0"), *requests)) == {"no"}


def test_a_flaky_service_fails_once_for_its_share_and_then_answers() -> None:
    model = double("double:flaky?share=0.2")
    failed = 0
    for i in range(100):
        try:
            model.generate([ask(i)])
        except ServiceError:
            failed += 1
            assert said(model, ask(i)) == [str(i + 1)]
    assert 10 <= failed <= 32
    whole = double("double:flaky?share=1&failures=2")
    for _ in range(2):
        with pytest.raises(ServiceError, match="as it was told to"):
            whole.generate([ask(1), ask(2)])
    assert said(whole, ask(1), ask(2)) == ["2", "3"]


def test_what_cannot_be_played_is_refused() -> None:
    bare = Suite("bare", "1", SAMPLES, ScorerSpec("exact"))
    with pytest.raises(UsageError, match="suite bare has no reference solutions"):
        double("double:reference", bare)
    with pytest.raises(UsageError, match="suite bare has no wrong answers"):
        double("double:wrong", bare)
    with pytest.raises(UsageError, match="has no sample 'zz'"):
        double("double:empty").generate([Request((), sample_id="zz")])


@pytest.mark.parametrize("query", ["accuracy=high", "accuracy=1.5", "accuracy=-1", "accuracy=nan", "seed=1.5"])
def test_an_option_that_is_no_number_in_range_is_refused(query: str) -> None:
    with pytest.raises(CheckpointError, match=r"double:noisy: \w+='.*' is (no|outside)"):
        double(f"double:noisy?{query}")
