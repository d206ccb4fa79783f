"""Deterministic doubles: models whose answers are known before they are asked.

    double:reference                 plays the suite's own solutions
    double:empty                     says nothing
    double:constant?text=42          says one thing
    double:wrong                     plays the first of the suite's wrong answers
    double:noisy?accuracy=0.7&seed=1 right with that chance, each trial for itself
    double:flaky?share=0.3&seed=0    the service fails on first asking for that share, then plays the reference
    double:slow?seconds=0.2          as noisy with accuracy 1, each batch takes that long

`noisy`, `flaky` and `slow` draw from (sample, trial seed), never from order: a batch asked again, alone or after
a kill, is answered the same. On a later turn of a conversation a double that has played its part says "Done.".
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import __version__
from ..digests import unit_interval
from ..errors import CheckpointError, ServiceError, UsageError
from ..types import Completion, Engine, Message, Request, Sample, Suite

DONE = "Done."


@dataclass
class Double:
    """A Model (see evalctl.types) that looks up its sample by id and plays `part`."""

    name: str
    suite: Suite
    part: Callable[[Sample, Request], str]
    batch_size: int = 32
    before: Callable[[Sequence[Request]], None] = lambda batch: None
    """What happens to a batch before it is answered: waiting, failing."""
    _samples: Mapping[str, Sample] = field(init=False)

    def __post_init__(self) -> None:
        self._samples = {sample.id: sample for sample in self.suite.samples}

    @property
    def engine(self) -> Engine:
        """The double's own version: evalctl's."""
        return Engine(f"double:{self.name}", __version__, batch=self.batch_size)

    def generate(self, batch: Sequence[Request]) -> list[Completion]:
        """One completion a request, in order; usage in words, for want of tokens. ServiceError where it plays one."""
        self.before(batch)
        return [self._answer(request) for request in batch]

    def _answer(self, request: Request) -> Completion:
        sample = self._samples.get(request.sample_id)
        if sample is None:
            raise UsageError(f"double:{self.name}: suite {self.suite.name} has no sample {request.sample_id!r}")
        later = _spoken(request.messages) > _spoken(self.suite.prefix) + _spoken(sample.messages)
        text = DONE if later else self.part(sample, request)
        read = sum(len(message.content.split()) for message in request.messages)
        return Completion(text, input_tokens=read, output_tokens=len(text.split()))


@dataclass(frozen=True)
class Kind:
    """One kind of double: the options it takes with their defaults, and how it is made."""

    make: Callable[[Suite, Mapping[str, Any]], Double]
    options: Mapping[str, str | int | float] = field(default_factory=dict)


def make_double(name: str, given: Mapping[str, str], suite: Suite, batch_size: int) -> Double:
    """The double `name` for one suite. Raises UsageError where the suite lacks what it plays, or an option's value is
    no number where one is due."""
    kind = DOUBLES[name]
    double = kind.make(suite, {key: _value(name, key, given.get(key), kind.options[key]) for key in kind.options})
    double.batch_size = batch_size
    return double


def _value(name: str, key: str, text: str | None, default: str | int | float) -> str | int | float:
    if text is None:
        return default
    try:
        value = type(default)(text)
    except ValueError:
        raise CheckpointError(f"double:{name}: {key}={text!r} is no {type(default).__name__}") from None
    bounded = key in ("accuracy", "share")
    if not isinstance(value, str) and (not value >= 0 or value > 1e9 or (bounded and value > 1)):
        raise CheckpointError(f"double:{name}: {key}={text!r} is outside {'[0, 1]' if bounded else '[0, 1e9]'}")
    return value


def _spoken(messages: Sequence[Message]) -> int:
    return sum(message.role == "assistant" for message in messages)


def _right(suite: Suite) -> Callable[[Sample], str]:
    if suite.reference is None:
        raise UsageError(
            f"suite {suite.name} has no reference solutions for a double to play; use double:constant?text=…"
        )
    return suite.reference


def _wrong(suite: Suite) -> Callable[[Sample], str]:
    wrong = suite.wrong
    if wrong is None:
        raise UsageError(f"suite {suite.name} has no wrong answers for a double to play; use double:empty")

    def first(sample: Sample) -> str:
        answers = wrong(sample)
        if not answers:
            raise UsageError(f"suite {suite.name}: sample {sample.id} has no wrong answer for a double to play")
        return answers[0]

    return first


def _noisy(name: str, suite: Suite, accuracy: float, seed: int) -> Double:
    right = _right(suite)
    wrong = _wrong(suite) if accuracy < 1 else right

    def part(sample: Sample, request: Request) -> str:
        hit = unit_interval("noisy", str(seed), sample.id, str(request.seed)) < accuracy
        return right(sample) if hit else wrong(sample)

    return Double(name, suite, part)


def _reference(suite: Suite, options: Mapping[str, Any]) -> Double:
    right = _right(suite)
    return Double("reference", suite, lambda sample, request: right(sample))


def _empty(suite: Suite, options: Mapping[str, Any]) -> Double:
    return Double("empty", suite, lambda sample, request: "")


def _constant(suite: Suite, options: Mapping[str, Any]) -> Double:
    return Double("constant", suite, lambda sample, request: str(options["text"]))


def _always_wrong(suite: Suite, options: Mapping[str, Any]) -> Double:
    wrong = _wrong(suite)
    return Double("wrong", suite, lambda sample, request: wrong(sample))


def _flaky(suite: Suite, options: Mapping[str, Any]) -> Double:
    tries: Counter[tuple[str, int]] = Counter()

    def fail(batch: Sequence[Request]) -> None:
        due = [
            (request.sample_id, request.seed)
            for request in batch
            if unit_interval("flaky", str(options["seed"]), request.sample_id, str(request.seed)) < options["share"]
        ]
        due = [trial for trial in due if tries[trial] < options["failures"]]
        tries.update(due)
        if due:
            raise ServiceError(f"double:flaky: the service failed for {due[0][0]!r}, as it was told to")

    double = _reference(suite, options)
    return Double("flaky", suite, double.part, before=fail)


def _slow(suite: Suite, options: Mapping[str, Any]) -> Double:
    double = _noisy("slow", suite, options["accuracy"], options["seed"])
    double.before = lambda batch: time.sleep(options["seconds"])
    return double


DOUBLES: Mapping[str, Kind] = {
    "constant": Kind(_constant, {"text": ""}),
    "empty": Kind(_empty),
    "flaky": Kind(_flaky, {"share": 0.3, "seed": 0, "failures": 1}),
    "noisy": Kind(lambda suite, o: _noisy("noisy", suite, o["accuracy"], o["seed"]), {"accuracy": 0.7, "seed": 1}),
    "reference": Kind(_reference),
    "slow": Kind(_slow, {"seconds": 0.2, "accuracy": 1.0, "seed": 0}),
    "wrong": Kind(_always_wrong),
}
"""Name of a double to what makes it."""
