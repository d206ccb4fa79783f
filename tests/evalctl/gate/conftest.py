"""Runs made of given scores, and the gate over them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from evalctl.digests import digest
from evalctl.gate import GateContext, judge
from evalctl.gate.verdict import Verdict
from evalctl.policy import parse_policy
from evalctl.store.frames import to_frame
from evalctl.types import Run, RunRecord, Trial


def trials_of(scores: Sequence[float | None], suite: str = "s", **fields: Any) -> list[Trial]:
    """One trial a score, one cluster a sample; a list in `fields` gives a value a row."""
    made = []
    for i, score in enumerate(scores):
        own = {name: value[i] if isinstance(value, list) else value for name, value in fields.items()}
        own.setdefault("sample_id", f"q{i}")
        own.setdefault("content_key", digest(own["sample_id"]))
        own.setdefault("cluster", own["sample_id"])
        own.setdefault("status", "ok" if score is not None else "verifier_error")
        made.append(Trial(suite=suite, suite_digest="d", score=score, **own))
    return made


def run_of(trials: Sequence[Trial], checkpoint: str = "base", **record: Any) -> Run:
    """A complete run of the trials."""
    suite = trials[0].suite if trials else "s"
    made = RunRecord(
        key=digest([checkpoint, suite, len(trials), str(record)]),
        suite={"name": suite, "version": "1", "digest": "d", "n": len(trials), "roles": ["bench"]},
        checkpoint={"name": checkpoint, "weights_digest": digest(checkpoint), "kind": "double"},
        prompt_digest="p",
        sampling={"temperature": 0.0},
        judge={"scorer": "exact"},
        limits={"seconds": 30.0},
        complete=True,
    )
    return Run(replace(made, **record), to_frame(trials))


@pytest.fixture
def trials() -> Callable[..., list[Trial]]:
    return trials_of


@pytest.fixture
def run() -> Callable[..., Run]:
    """Scores (or trials) to a Run; `record` holds what differs in its record."""

    def make(given: Sequence[Any], checkpoint: str = "base", record: Mapping[str, Any] | None = None, **f: Any) -> Run:
        rows = list(given) if given and isinstance(given[0], Trial) else trials_of(given, **f)
        return run_of(rows, checkpoint, **(record or {}))

    return make


@pytest.fixture
def gate() -> Callable[..., Verdict]:
    """Policy text and two runs (or suite to run) to a Verdict."""

    def decide(policy: str, baseline: Any, candidate: Any, context: GateContext | None = None) -> Verdict:
        sides = [side if isinstance(side, Mapping) else {"s": side} for side in (baseline, candidate)]
        return judge(parse_policy(policy), *sides, context)

    return decide
