"""From what happened to one sample to its Trial, the exchange form."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from .digests import trial_seed
from .types import Completion, Json, Sample, Score, Status, Suite, Trial


@dataclass(frozen=True)
class Member:
    """One expected trial: a sample in one epoch."""

    sample: Sample
    epoch: int

    @property
    def key(self) -> tuple[str, str, int]:
        """(content key, variant key, epoch): what pairs and what may stand once only."""
        return (self.sample.content_key, self.sample.variant.key, self.epoch)

    @property
    def inspect_id(self) -> str:
        """The sample's id in an Inspect log: variants of one sample stay apart."""
        varied = self.sample.variant.key
        return self.sample.id if varied == "{}" else f"{self.sample.id} {varied}"

    def seed(self, run_seed: int) -> int:
        """The member's own sampling seed."""
        return trial_seed(run_seed, *self.key)


def members(suite: Suite, epochs: int) -> list[Member]:
    """Every expected trial, epoch by epoch, in the order of the sample list."""
    return [Member(sample, epoch) for epoch in range(1, epochs + 1) for sample in suite.samples]


def status_of(completion: Completion, judged: Status) -> Status:
    """What the model's own work ended with counts before the judge, and the score is kept.

    Out of turns or time is `limit`; a prompt that does not fit the model's window is `model_error`. A judge that
    could not judge stays what it is.
    """
    ended = {"limit": Status.LIMIT, "error": Status.MODEL_ERROR}.get(completion.stop_reason, Status.OK)
    return ended if judged is Status.OK else judged


@dataclass(frozen=True)
class Outcome:
    """How one trial went."""

    status: Status
    score: Score
    completion: Completion | None = None
    error: str | None = None
    seconds: float = 0.0
    context_tokens: int | None = None
    """Tokens of the longest prompt of the trial."""


def make_trial(suite: Suite, member: Member, outcome: Outcome, transcript: str | None) -> Trial:
    """The Trial of `member`: its place from the sample, its figures from the outcome."""
    sample, completion, score = member.sample, outcome.completion, outcome.score
    return Trial(
        suite=suite.name,
        suite_digest=suite.digest,
        sample_id=sample.id,
        content_key=sample.content_key,
        family=sample.family,
        cluster=sample.cluster or sample.id,
        band=sample.band,
        role=str(sample.role),
        shard=sample.shard,
        pair_id=sample.pair_id or sample.id,
        variant={k: v for k, v in asdict(sample.variant).items() if v is not None},
        context_tokens=outcome.context_tokens,
        epoch=member.epoch,
        status=str(outcome.status),
        score=score.value,
        range=(0.0, 1.0),
        metrics={name: _metric(asdict(metric)) for name, metric in score.metrics.items()},
        answer=score.answer if score.answer is not None or completion is None else completion.text,
        stop_reason=completion.stop_reason if completion else None,
        truncated=bool(completion and completion.truncated),
        input_tokens=completion.input_tokens if completion else None,
        output_tokens=completion.output_tokens if completion else None,
        turns=completion.turns if completion else None,
        tool_calls=completion.commands if completion else None,
        seconds=round(outcome.seconds, 4),
        failure=score.metadata.get("failure"),
        error=outcome.error,
        transcript=transcript,
        metadata={k: v for k, v in score.metadata.items() if k != "failure"},
    )


def _metric(metric: Mapping[str, Json]) -> dict[str, Json]:
    bounds = metric["range"]
    return {**metric, "range": None if bounds is None else list(bounds)}
