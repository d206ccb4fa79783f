"""One run measured: what stands at one checkpoint x suite, and how its metrics are written.

Trials of the roles `sealed` and `dev` are left out: a view of sealed scores is a look that the
ledger must count, and `dev` is never reported as a result.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evalctl import measures
from evalctl.stats import summary
from evalctl.types import PLAIN_ROLES, Estimate, Run, RunRecord

from .words import Unit

if TYPE_CHECKING:
    import pandas as pd

UNSCORED = ("infra_error", "verifier_error")
PREFIX = "metrics."

Place = tuple[str, str]
"""A checkpoint in the matrix: (name, weights digest)."""


@dataclass(frozen=True)
class Figure:
    """An estimate, how it is written, and what better means."""

    estimate: Estimate
    unit: Unit = Unit.SHARE
    direction: str = "higher"


@dataclass(frozen=True)
class Cell:
    """One run, measured: what stands at one checkpoint x suite."""

    record: RunRecord
    figure: Figure | None
    """Unscored trials left out; None where nothing is scored."""
    as_zero: Figure | None
    """The same with unscored trials counted as 0; None where every trial is scored."""
    counts: Mapping[str, int]
    """Trials by status, `missing` included."""
    withheld: int
    """Trials of roles that no page shows."""
    metrics: Mapping[str, Figure] = field(default_factory=dict)

    @property
    def suite(self) -> str:
        """The suite's name."""
        return str(self.record.suite["name"])

    @property
    def place(self) -> Place:
        """Where it stands in the matrix."""
        return (str(self.record.checkpoint["name"]), str(self.record.checkpoint["weights_digest"]))

    @property
    def unscored(self) -> int:
        """Trials not scored for reasons that are not the model's."""
        return sum(self.counts.get(status, 0) for status in ("infra_error", "verifier_error", "missing"))


def measure(run: Run) -> Cell:
    """The figures of one run; a run never changes, so neither does its Cell."""
    trials = run.trials
    shown = trials[trials["role"].isin(PLAIN_ROLES)]
    counts = Counter(str(status) for status in shown["status"])
    if run.record.expected is not None and len(shown) == len(trials):
        seen = set(zip(trials["content_key"], trials["variant"], trials["epoch"], strict=True))
        absent = sum(1 for key in run.record.expected if tuple(key) not in seen)
        counts["missing"] += absent
    unscored = sum(counts[status] for status in UNSCORED)
    return Cell(
        record=run.record,
        figure=_figure(shown, metric_of(shown)),
        as_zero=_figure(_as_failed(shown), metric_of(shown)) if unscored else None,
        counts={status: counts[status] for status in sorted(counts) if counts[status]},
        withheld=len(trials) - len(shown),
        metrics=_further(shown),
    )


def _figure(trials: "pd.DataFrame", metric: str) -> Figure | None:
    estimate = summary(trials, metric)
    if not math.isfinite(estimate.value):
        return None
    directions = measures.declared(trials, metric).directions
    return Figure(estimate, unit_of(trials, metric), next(iter(directions)) if len(directions) == 1 else "higher")


def _further(trials: "pd.DataFrame") -> dict[str, Figure]:
    found = {name: _figure(trials, name) for name in further_names(trials)}
    return {name: figure for name, figure in found.items() if figure is not None}


def further_names(trials: "pd.DataFrame") -> list[str]:
    """Every metric beside the score itself, by name."""
    names = sorted(column.removeprefix(PREFIX) for column in trials.columns if column.startswith(PREFIX))
    return [name for name in names if name != metric_of(trials)]


def _as_failed(trials: "pd.DataFrame") -> "pd.DataFrame":
    """Unscored trials as failures of the model: status `limit` without a score counts as 0."""
    unscored = trials["status"].isin(UNSCORED)
    return trials.assign(status=trials["status"].where(~unscored, "limit"), score=trials["score"].where(~unscored))


def metric_of(trials: "pd.DataFrame") -> str:
    """The name of what `score` holds."""
    return str(trials["metric"].iloc[0]) if len(trials) else "correct"


def unit_of(trials: "pd.DataFrame", metric: str) -> Unit:
    """A share where [0, 1] is declared, or the name says so and nothing else is."""
    ranges = measures.declared(trials, metric).ranges
    return Unit.SHARE if (ranges or {measures.default_range(metric)}) == {(0.0, 1.0)} else Unit.NUMBER
