"""One door to every scorer: a broken judge is an error with its reason, never a score."""

import asyncio
import json
import pickle
from dataclasses import dataclass
from typing import Any

import pytest

from evalctl.errors import EvalctlError, ResourceError, SandboxError, SandboxUnavailable, ServiceError, VerifierError
from evalctl.judging import judge
from evalctl.types import Completion, Metric, Sample, Score, Status
from scorers import SCORERS

SAMPLE = Sample("s", "", "5")


@dataclass(frozen=True)
class Says:
    outcome: Any

    def __call__(self, sample: Sample, completion: Completion) -> Score:
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


@dataclass(frozen=True)
class SaysInside:
    outcome: Any

    async def in_sandbox(self, sample: Sample, completion: Completion, sandbox: object) -> Score:
        return Says(self.outcome)(sample, completion)


def judged(scorer: Any, sandbox: Any = None) -> tuple[Status, Score, str | None]:
    return asyncio.run(judge(scorer, SAMPLE, Completion("5"), sandbox))


def test_a_score_passes_through_with_its_value_as_a_float() -> None:
    status, score, error = judged(Says(Score(True, "5", "fine", {"a": 1}, {"m": Metric(0.5)})))
    assert (status, error) == (Status.OK, None)
    assert score == Score(1.0, "5", "fine", {"a": 1}, {"m": Metric(0.5)})
    assert type(score.value) is float


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1.5, -0.1, "1.0", None, [1], 10**400])
def test_a_value_that_is_no_finite_number_in_range_is_a_verifier_error(value: Any) -> None:
    status, score, error = judged(Says(Score(value, "5")))
    assert (status, score.value, score.answer) == (Status.VERIFIER_ERROR, None, None)
    assert error
    assert score.explanation == error


@pytest.mark.parametrize("metric", [Metric(float("nan")), Metric(2.0), Metric("x"), Metric(-1.0, range=(0, 5))])  # type: ignore[arg-type]
def test_a_metric_outside_its_declared_range_is_a_verifier_error(metric: Metric) -> None:
    assert judged(Says(Score(1.0, metrics={"m": metric})))[0] is Status.VERIFIER_ERROR


def test_a_metric_without_range_or_value_is_kept() -> None:
    metrics = {"seconds": Metric(900.0, "lower", None), "unknown": Metric(None)}
    assert judged(Says(Score(1.0, metrics=metrics)))[1].metrics == metrics


@pytest.mark.parametrize("wrap", [Says, SaysInside])
@pytest.mark.parametrize(
    ("raised", "status"),
    [
        (VerifierError("v"), Status.VERIFIER_ERROR),
        (ZeroDivisionError("z"), Status.VERIFIER_ERROR),
        (RecursionError("r"), Status.VERIFIER_ERROR),
        (EvalctlError("e"), Status.VERIFIER_ERROR),
        (SandboxError("s"), Status.INFRA_ERROR),
        (SandboxUnavailable("s"), Status.INFRA_ERROR),
        (ServiceError("s"), Status.INFRA_ERROR),
        (ResourceError("d"), Status.INFRA_ERROR),
        (None, Status.VERIFIER_ERROR),
        ({"value": 1.0}, Status.VERIFIER_ERROR),
    ],
)
def test_an_exception_is_an_error_of_the_judge_or_of_the_machine(wrap: Any, raised: Any, status: Status) -> None:
    said, score, error = judged(wrap(raised), sandbox=object())
    assert (said, score.value) == (status, None)
    assert error


def test_a_sandbox_scorer_without_a_sandbox_is_told() -> None:
    status, _, error = judged(SCORERS["unit_tests"]())
    assert status is Status.VERIFIER_ERROR
    assert error is not None
    assert "sandbox" in error


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt(), asyncio.CancelledError()])
def test_an_interruption_is_never_swallowed(interrupt: BaseException) -> None:
    with pytest.raises(type(interrupt)):
        judged(Says(interrupt))


@pytest.mark.parametrize("name", sorted(SCORERS))
def test_every_scorer_survives_the_way_to_a_worker(name: str) -> None:
    made = SCORERS[name]()
    assert pickle.loads(pickle.dumps(made)) == made
    assert pickle.loads(pickle.dumps(SCORERS[name])) == SCORERS[name]


HOSTILE = [
    "\x00",
    "\ud800",
    "{" * 9_000,
    "9" * 9_000,
    "1e999999",
    "\u202e5",
    "<tool_call>" * 500,
    "\\boxed{" * 500,
    "5" + "\n" * 9_000,
]


@pytest.mark.parametrize("name", [name for name in sorted(SCORERS) if name != "unit_tests"])
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_answer_is_scored_and_its_record_is_json(name: str, text: str) -> None:
    targets = {"date": "2024-03-05", "tool_calls": [{"name": "f"}], "json_schema": {"a": 1}, "choice": "A"}
    sample = Sample("s", "", targets.get(name, "5"))
    status, score, error = asyncio.run(judge(SCORERS[name](), sample, Completion(text), None))
    assert (status, error) == (Status.OK, None)
    json.dumps([score.value, score.answer, score.explanation, dict(score.metadata)], allow_nan=False)
