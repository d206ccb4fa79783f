"""Deterministic stand-ins shared by tests: runs and verdicts made of numbers, not of a model."""

import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

import pandas as pd

from evalctl.digests import canonical, digest
from evalctl.types import Run, RunRecord, Trial


@dataclass(frozen=True)
class Synthetic:
    """A run to be made: `rate` right of `clusters` x `per_cluster` samples over `families`."""

    suite: str = "tooluse"
    checkpoint: str = "base"
    rate: float = 0.5
    clusters: int = 40
    per_cluster: int = 2
    families: Sequence[str] = ("refund", "search", "booking", "weather")
    started: str = "2026-03-01T09:00:00+00:00"
    errors: int = 0
    """How many of the trials ended in `infra_error`."""
    role: str = "bench"
    version: str = "1"
    complete: bool = True
    metrics: Sequence[str] = ("format",)
    engine: dict[str, object] = field(
        default_factory=lambda: {"name": "transformers", "version": "5.24.0", "dtype": "bfloat16", "batch": 32}
    )

    def trials(self) -> list[Trial]:
        """Whether a sample is solved depends on its content and the rate alone: a higher rate solves a superset."""
        made = []
        for i in range(self.clusters * self.per_cluster):
            cluster, sample = f"c{i // self.per_cluster}", f"{self.suite}-{i}"
            skill = random.Random(f"{self.suite} {sample} {cluster}").random()
            failed = i < self.errors
            right = None if failed else float(skill < self.rate)
            formed = {"value": 1.0 if right else float(skill < 0.8), "direction": "higher", "range": [0, 1]}
            made.append(
                Trial(
                    suite=self.suite,
                    suite_digest=self.digest,
                    sample_id=sample,
                    content_key=digest(sample),
                    family=self.families[(i // self.per_cluster) % len(self.families)] if self.families else "",
                    cluster=cluster,
                    role=self.role,
                    pair_id=sample,
                    status="infra_error" if failed else "ok",
                    score=right,
                    range=(0.0, 1.0),
                    metrics={} if failed else dict.fromkeys(self.metrics, formed),
                    answer=f"answer {i}",
                    output_tokens=None if failed else 12 + i % 9,
                    input_tokens=None if failed else 100,
                )
            )
        return made

    @property
    def digest(self) -> str:
        """Of the suite's version."""
        return digest([self.suite, self.version])

    def run(self) -> Run:
        """Record and trials."""
        trials = self.trials()
        weights = digest(self.checkpoint)
        record = RunRecord(
            key=digest([self.suite, self.version, weights, self.started, self.rate, self.role]),
            suite={
                "name": self.suite,
                "version": self.version,
                "digest": self.digest,
                "n": len(trials),
                "roles": [self.role],
            },
            checkpoint={
                "name": self.checkpoint,
                "weights_digest": weights,
                "parent": None,
                "kind": "double",
                "reference": f"double:{self.checkpoint}",
                "verified": True,
            },
            prompt_digest=digest("prompt"),
            sampling={"temperature": 0.0, "top_p": 1.0, "max_tokens": 48},
            judge={"scorer": "tool_calls", "digest": digest("scorer")},
            limits={"seconds": 30.0},
            scorer_digest=digest("scorer"),
            engine=self.engine,
            seed=0,
            complete=self.complete,
            expected=tuple((t.content_key, canonical(dict(t.variant)), t.epoch) for t in trials),
            started=self.started,
            seconds=83.0,
        )
        return Run(record, frame(trials))


def frame(trials: Sequence[Trial]) -> pd.DataFrame:
    """The columns of the store: nested fields as canonical JSON text, metrics flattened too."""
    rows = []
    for trial in trials:
        row = asdict(trial)
        for name in ("variant", "metrics", "metadata"):
            row[name] = canonical(row[name])
        row |= {f"metrics.{name}": spec["value"] for name, spec in json.loads(row["metrics"]).items()}
        rows.append(row)
    return pd.DataFrame(rows)
