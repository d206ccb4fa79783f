"""Every figure a page shows, in one frozen Overview: computed once, said in HTML, Markdown and the app.

The arithmetic is `evalctl.stats` and `evalctl.gate.comparison`; what stands here chooses and arranges.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evalctl import measures
from evalctl.errors import EvalctlError
from evalctl.gate.comparison import compare
from evalctl.types import PLAIN_ROLES, Estimate, Run

from .cells import Cell, Place, further_names, measure, metric_of, unit_of
from .verdicts import FindingView, VerdictView, read
from .words import Unit

if TYPE_CHECKING:
    import pandas as pd

    from .campaign import CampaignView

COUNTED = ("output_tokens",)
"""Columns of a trial that are compared beside its metrics."""
SECONDS = len("2026-03-01T09:00:00")
"""Records and verdicts write their times, all UTC, to different fractions of a second."""


@dataclass(frozen=True)
class Side:
    """One side of a comparison: a name and its runs, by suite."""

    name: str
    runs: Mapping[str, Run]


@dataclass(frozen=True)
class Difference:
    """Candidate minus baseline, sign turned so that higher is better."""

    suite: str
    label: str
    metric: str = "correct"
    unit: Unit = Unit.SHARE
    baseline: Estimate | None = None
    candidate: Estimate | None = None
    difference: Estimate | None = None
    flips_up: int | None = None
    flips_down: int | None = None
    finding: FindingView | None = None
    """What the gate said, where the figure is the gate's own (one-sided bounds)."""
    note: str = ""
    """Why there is no figure."""


@dataclass(frozen=True)
class Overview:
    """All that a page shows."""

    places: tuple[Place, ...]
    """Checkpoints, newest first."""
    suites: tuple[str, ...]
    cells: Mapping[tuple[Place, str], Cell]
    baseline: str | None = None
    candidate: str | None = None
    pair: tuple[Cell, ...] = ()
    """The runs that were compared, baseline first, suite by suite."""
    differences: tuple[Difference, ...] = ()
    """The headline metric: the gate's own figures where it has judged this pair."""
    metrics: tuple[Difference, ...] = ()
    families: tuple[Difference, ...] = ()
    verdict: VerdictView | None = None
    """The newest verdict on this very pair."""
    history: tuple[VerdictView, ...] = ()
    """Every verdict, newest first."""
    campaign: "CampaignView | None" = None
    """The newest campaign of the store."""

    def line(self, suite: str) -> tuple[Cell, ...]:
        """The time line of one suite: its cells, oldest first."""
        return tuple(self.cells[(place, suite)] for place in reversed(self.places) if (place, suite) in self.cells)

    def tag(self, place: Place) -> str | None:
        """`baseline` or `candidate`, where a checkpoint is one of the pair."""
        for name, cells in (("candidate", self.pair[1::2]), ("baseline", self.pair[::2])):
            if any(cell.place == place for cell in cells):
                return name
        return None

    @property
    def stale(self) -> bool:
        """The verdict was given before one of the runs shown beside it began."""
        made = self.verdict.created[:SECONDS] if self.verdict else ""
        return bool(made) and any(cell.record.started[:SECONDS] > made for cell in self.pair)

    def label(self, place: Place) -> str:
        """The checkpoint's name, with the digest's head where two checkpoints share the name."""
        name, weights = place
        twins = sum(1 for other, _ in self.places if other == name)
        return f"{name} ({weights[:8]})" if twins > 1 else name


def overview(
    cells: Sequence[Cell],
    verdicts: Sequence[Mapping[str, object]] = (),
    baseline: Side | None = None,
    candidate: Side | None = None,
) -> Overview:
    """Arrange measured runs and stored verdicts (both newest first) and one pair into what a page shows."""
    chosen: dict[tuple[Place, str], Cell] = {}
    for cell in cells:
        key = (cell.place, cell.suite)
        if key not in chosen or (cell.record.complete and not chosen[key].record.complete):
            chosen[key] = cell
    history = tuple(read(stored) for stored in verdicts)
    page = Overview(
        places=tuple(dict.fromkeys(cell.place for cell in cells)),
        suites=tuple(sorted({cell.suite for cell in cells})),
        cells=chosen,
        history=history,
    )
    if baseline is None or candidate is None:
        return page
    verdict = next((v for v in history if (v.baseline, v.candidate) == (baseline.name, candidate.name)), None)
    return _with_pair(page, baseline, candidate, verdict)


def _with_pair(page: Overview, baseline: Side, candidate: Side, verdict: VerdictView | None) -> Overview:
    shared = sorted(set(baseline.runs) & set(candidate.runs))
    pairs = {name: (_shown(baseline.runs[name]), _shown(candidate.runs[name])) for name in shared}
    plain = [_difference(name, name, *pair) for name, pair in pairs.items()]
    flips = {d.suite: d for d in plain}
    judged = [_judged(f, flips.get(f.name)) for f in verdict.findings] if verdict else []
    named = {d.suite for d in judged}
    return replace(
        page,
        baseline=baseline.name,
        candidate=candidate.name,
        pair=tuple(measure(run) for pair in pairs.values() for run in pair),
        differences=(*judged, *(d for d in plain if d.suite not in named)),
        metrics=tuple(
            _difference(name, f"{name} · {metric}", *pair, metric=metric)
            for name, pair in pairs.items()
            for metric in _shared_metrics(*pair)
        ),
        families=tuple(
            _difference(name, family, _only(pair[0], family), _only(pair[1], family))
            for name, pair in pairs.items()
            for family in _families(*pair)
        ),
        verdict=verdict,
    )


def _judged(finding: FindingView, plain: Difference | None) -> Difference:
    whole = plain if plain is not None and finding.slice is None and finding.metric == plain.metric else None
    return Difference(
        suite=finding.name,
        label=finding.label,
        metric=finding.metric,
        unit=finding.unit,
        baseline=finding.baseline,
        candidate=finding.candidate,
        difference=finding.difference,
        flips_up=whole.flips_up if whole else None,
        flips_down=whole.flips_down if whole else None,
        finding=finding,
        note="" if finding.difference else next(iter(finding.reasons), "no figure"),
    )


def _difference(suite: str, label: str, baseline: Run, candidate: Run, metric: str | None = None) -> Difference:
    name = metric or metric_of(candidate.trials)
    empty = Difference(suite=suite, label=label, metric=name, unit=unit_of(candidate.trials, name))
    if baseline.record.suite.get("digest") != candidate.record.suite.get("digest"):
        return replace(empty, note="not comparable: the two runs are of different versions of the suite")
    try:
        found = compare(baseline, candidate, metric=name)
    except EvalctlError as error:
        return replace(empty, note=str(error))
    return replace(
        empty,
        baseline=found.baseline,
        candidate=found.candidate,
        difference=found.difference,
        flips_up=found.flips_up,
        flips_down=found.flips_down,
    )


def _shown(run: Run) -> Run:
    return _where(run, lambda trials: trials["role"].isin(PLAIN_ROLES))


def _only(run: Run, family: str) -> Run:
    return _where(run, lambda trials: trials["family"] == family)


def _where(run: Run, mask: "Callable[[pd.DataFrame], pd.Series[bool]]") -> Run:
    kept = run.trials[mask(run.trials)]
    return run if len(kept) == len(run.trials) else Run(replace(run.record, expected=None), kept)


def _families(baseline: Run, candidate: Run) -> list[str]:
    both = set(baseline.trials["family"]) & set(candidate.trials["family"])
    return sorted(str(name) for name in both if name) if len(both) > 1 else []


def _shared_metrics(baseline: Run, candidate: Run) -> list[str]:
    names = [*further_names(candidate.trials), *COUNTED]
    return [name for name in names if _recorded(baseline, name) and _recorded(candidate, name)]


def _recorded(run: Run, metric: str) -> bool:
    return bool(np.isfinite(measures.raw_values(run.trials, metric)).any())
