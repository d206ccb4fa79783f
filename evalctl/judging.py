"""One door to every scorer: what a judge says, or why it could not judge. A broken judge is never a 0."""

import math
from collections.abc import Mapping

from .errors import ResourceError, SandboxError, ServiceError, VerifierError
from .types import Completion, Metric, Sample, Sandbox, SandboxScorer, Score, Scorer, Status

RANGE = (0.0, 1.0)
"""The declared range of every score; a scorer with other figures gives them as metrics with ranges of their own."""


async def judge(
    scorer: Scorer | SandboxScorer, sample: Sample, completion: Completion, sandbox: Sandbox | None
) -> tuple[Status, Score, str | None]:
    """The status (`ok`, `verifier_error`, `infra_error`), the score, and the error's text where there is one.

    A sandbox, service or machine that failed is `infra_error`. Every other exception, no value, a value that is no
    finite number in [0, 1], and a metric outside its declared range are `verifier_error`. With an error the
    score's value is None and nothing of what the scorer said is kept. `limit` and `model_error` are the caller's.
    """
    try:
        if isinstance(scorer, SandboxScorer):
            if sandbox is None:
                raise VerifierError(f"{sample.id}: this scorer judges a sandbox, and the suite declares none")
            score = await scorer.in_sandbox(sample, completion, sandbox)
        else:
            score = scorer(sample, completion)
        return Status.OK, _checked(sample, score), None
    except (SandboxError, ServiceError, ResourceError) as error:
        return _failed(Status.INFRA_ERROR, told(error))
    except VerifierError as error:
        return _failed(Status.VERIFIER_ERROR, str(error))
    except Exception as error:
        return _failed(Status.VERIFIER_ERROR, f"{sample.id}: the scorer failed: {type(error).__name__}: {error}")


def told(error: Exception) -> str:
    """How a trial's error is worded: the class first, by which the runner knows what another try may mend."""
    return f"{type(error).__name__}: {error}"


def _failed(status: Status, text: str) -> tuple[Status, Score, str | None]:
    return status, Score(None, explanation=text), text


def _checked(sample: Sample, score: Score) -> Score:
    """The score with its value as a float; VerifierError where a figure is not what it must be."""
    if not isinstance(score, Score):
        raise VerifierError(f"{sample.id}: the scorer gave {type(score).__name__}, not a Score")
    if score.value is None:
        raise VerifierError(f"{sample.id}: not scored: {score.explanation or 'the scorer gave no value'}")
    value = _finite(sample, "score", score.value, RANGE)
    metrics = _checked_metrics(sample, score.metrics)
    return Score(value, score.answer, score.explanation, score.metadata, metrics)


def _checked_metrics(sample: Sample, metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    found = {}
    for name, metric in metrics.items():
        value = None if metric.value is None else _finite(sample, f"metric {name}", metric.value, metric.range)
        found[name] = Metric(value, metric.direction, metric.range)
    return found


def _finite(sample: Sample, what: str, value: object, bounds: tuple[float, float] | None) -> float:
    if not isinstance(value, int | float):
        raise VerifierError(f"{sample.id}: {what} is {value!r}, not a number")
    number = float(value)
    if not math.isfinite(number):
        raise VerifierError(f"{sample.id}: {what} is {number}, not a finite number")
    if bounds is not None and not bounds[0] <= number <= bounds[1]:
        raise VerifierError(f"{sample.id}: {what} is {number}, outside [{bounds[0]:g}, {bounds[1]:g}]")
    return number
