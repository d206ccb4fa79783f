"""Before anything is spent: verifiers that tell right from wrong, templates that round-trip, roles without leaks."""

import asyncio
import shutil
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from evalctl.errors import EvidenceError, ResourceError, UsageError
from evalctl.judging import judge
from evalctl.lookup import find
from evalctl.stats import clusters_needed
from evalctl.types import Completion, Json, Role, Sample, Scorer, Status, Suite
from suites.checks import check_data
from suites.load import generator_of

from .campaign import Campaign
from .recipes import trainable
from .rows import Row

T = TypeVar("T")
PROVED = 40
"""Pool samples of each suite whose known answers go through the verifier."""


def preflight(campaign: Campaign, past: Mapping[str, Json]) -> dict[str, Json]:
    """Known-good answers score 1, known-bad ones 0, through the very verifiers that will judge and reward."""
    needed = campaign.stages.bytes_needed(campaign.start, len(campaign.wanted.stages) + campaign.wanted.folds)
    free = shutil.disk_usage(campaign.folder).free
    if free < needed:
        raise ResourceError(
            f"{campaign.folder}: the campaign needs {needed >> 20} MiB and {free >> 20} MiB are free; make room"
        )
    told = {}
    for name, suite in campaign.suites.items():
        trainable(suite)
        leaks = [str(problem) for problem in check_data(suite) if problem.rule == "leak"]
        if leaks:
            raise EvidenceError(f"{leaks[0]} ({len(leaks)} in all); nothing measured on it could be believed")
        pool = [sample for sample in suite.samples if sample.role is Role.POOL][:PROVED]
        proved = prove(suite, pool)
        campaign.stages.round_trip(campaign.start, _examples(campaign.names[name], suite, pool[:4]))
        told[name] = {**proved, **_power(suite)}
    return {"suites": told}


def prove(suite: Suite, samples: Sequence[Sample]) -> dict[str, Json]:
    """How many known answers were judged; EvidenceError for the first that is judged wrongly."""
    if suite.reference is None or suite.wrong is None:
        raise UsageError(f"suite {suite.name}: has no known answers to prove its verifier by")
    scorer = find("scorers", suite.scorer.name, f"suite {suite.name}")(**suite.scorer.options)
    wrong = 0
    for sample in samples:
        right = _score(scorer, sample, _known(suite, sample, suite.reference))
        if right != 1:
            raise EvidenceError(
                f"suite {suite.name}, sample {sample.id}: the verifier gives the known-good answer {_said(right)}, "
                "not 1, and every reward would be false: mend the scorer or the reference (evalctl suites validate)"
            )
        for answer in _known(suite, sample, suite.wrong):
            wrong += 1
            if (given := _score(scorer, sample, answer)) is None or given > 0:
                raise EvidenceError(
                    f"suite {suite.name}, sample {sample.id}: the verifier gives the known-bad answer {answer!r:.60} "
                    f"{_said(given)}, not 0; mend the scorer (evalctl suites validate)"
                )
    if not wrong:
        raise EvidenceError(
            f"suite {suite.name}: knows no wrong answer, so nothing proves that its verifier can say no"
        )
    return {"right": len(samples), "wrong": wrong}


def _known(suite: Suite, sample: Sample, give: Callable[[Sample], T]) -> T:
    """What the suite's own code knows of a sample; a generator is anyone's code."""
    try:
        return give(sample)
    except Exception as error:
        raise EvidenceError(
            f"suite {suite.name}, sample {sample.id}: its generator failed: {type(error).__name__}: {error}"
        ) from error


def _score(scorer: Scorer, sample: Sample, text: str) -> float | None:
    status, score, _ = asyncio.run(judge(scorer, sample, Completion(text), None))
    return score.value if status is Status.OK else None


def _said(value: float | None) -> str:
    return "no score" if value is None else f"{value:g}"


def _examples(name: str, suite: Suite, samples: Sequence[Sample]) -> list[Row]:
    """Rows as recipes make them, for the round trip."""
    generator = generator_of(name)
    made = [one for sample in samples for one in _known(suite, sample, lambda asked: generator.siblings(asked, 0, 1))]
    return [
        Row(suite.name, (*suite.prefix, *one.messages), generator.reference(one), one, (), (), "preflight", "")
        for one in made
    ]


def _power(suite: Suite) -> dict[str, Json]:
    """How much evidence there is: clusters by role, and how many identical ones a margin of 0.10 needs."""
    counts = {str(role): len({s.cluster for s in suite.samples if s.role is role}) for role in Role}
    return {"clusters": {role: n for role, n in counts.items() if n}, "for_margin_0.10": clusters_needed(0.10, 0.05)}
