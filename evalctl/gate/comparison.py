"""Two Runs of one suite side by side: both levels, the paired difference, and which samples changed."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evalctl.errors import EvidenceError
from evalctl.measures import Floats
from evalctl.policy import Policy, Settings, SuiteRules
from evalctl.stats import interval
from evalctl.types import PLAIN_ROLES, Estimate, Run

from .case import SIDES, Case
from .pairing import Pairing

ROUNDING = 1e-9


class Flip(NamedTuple):
    """A sample whose epoch mean is not the same on both sides."""

    sample_id: str
    variant: str
    """Canonical JSON of what was varied."""
    baseline: float
    candidate: float
    transcripts: tuple[str | None, str | None]
    """Of the first epoch on each side."""


@dataclass(frozen=True)
class Comparison:
    """Paired by (content key, variant), epochs averaged first; higher is better whatever the metric's direction."""

    suite: str
    metric: str
    baseline: Estimate
    candidate: Estimate
    difference: Estimate
    """Candidate minus baseline, sign turned so that more is better; two-sided at 1 - alpha."""
    flips_up: int
    """Samples that got better."""
    flips_down: int
    """Samples that got worse."""
    unscored: int
    """Samples that have no value on one side or both, and are left out."""
    flips: list[Flip]
    """Those that got worse first, the largest change first."""
    left_out_roles: tuple[str, ...] = ()
    """Roles that the runs hold and that were not read: a view of sealed samples is a look, and `dev` is no result."""


def compare(
    baseline: Run,
    candidate: Run,
    metric: str = "correct",
    alpha: float = 0.05,
    roles: frozenset[str] = PLAIN_ROLES,
) -> Comparison:
    """Compare two runs of one suite on `metric`.

    The interval is the cluster t with one cluster added at each end of the range (see `evalctl.stats.plus_one_low`): it
    describes, and never has a zero width; what decides is the gate. Raises EvidenceError where no figure can be told:
    duplicates, a metric that a side lacks, no direction, nothing paired.
    """
    suite = str(candidate.record.suite["name"])
    demand = Policy(defaults=Settings(metric=metric), suites={suite: SuiteRules()}).demands[0]
    case = Case(demand, "rolling", {"baseline": baseline, "candidate": candidate}, Pairing(baseline, candidate, roles))
    _refuse(case, suite)
    totals = case.differences("left_out")
    if not totals.count:
        raise EvidenceError(f"{suite}: no sample is scored on both sides: pairing is by content key and variant")
    bounds = None if case.width is None else (-case.width, case.width)
    means = {side: case.pairing.cells.unit_means(_laid(case, side)) for side in SIDES}
    sign = -1.0 if case.direction == "lower" else 1.0
    moved = sign * (means["candidate"] - means["baseline"])
    held = {str(role) for run in (baseline, candidate) for role in run.trials["role"].unique()}
    return Comparison(
        suite=suite,
        metric=metric,
        baseline=case.side("baseline"),
        candidate=case.side("candidate"),
        difference=interval(totals, bounds, 1 - alpha),
        flips_up=int((moved > ROUNDING).sum()),
        flips_down=int((moved < -ROUNDING).sum()),
        unscored=int(np.isnan(moved).sum()),
        flips=_flips(case, means, moved),
        left_out_roles=tuple(sorted(held - roles)),
    )


def _refuse(case: Case, suite: str) -> None:
    for side, frame in case.pairing.sides.items():
        if not len(frame):
            raise EvidenceError(f"{suite}: {side} has no trials in the roles that are read")
        if not case.declared[side].found:
            raise EvidenceError(f"{suite}: {side} has no metric {case.demand.metric!r}")
        if case.pairing.duplicates[side]:
            raise EvidenceError(f"{suite}: {side} has a sample more than once in one epoch; the gate names them")
    if case.directions and case.direction_fault:
        raise EvidenceError(f"{suite}: {case.direction_fault}")


def _laid(case: Case, side: str) -> Floats:
    return case.pairing.cells.spread(side, case.values[side])


def _flips(case: Case, means: dict[str, Floats], moved: Floats) -> list[Flip]:
    cells = case.pairing.cells
    changed = np.flatnonzero(np.abs(np.nan_to_num(moved)) > ROUNDING)
    first = {side: np.full(len(cells.cluster), -1) for side in SIDES}
    for side in SIDES:
        rows = cells.rows[side]
        there = np.flatnonzero(rows >= 0)[::-1]
        first[side][cells.unit[there]] = rows[there]
    frames = case.pairing.sides
    transcripts = {side: frames[side]["transcript"].to_numpy(object) for side in SIDES}
    ids, variants = (frames["candidate"][name].to_numpy(object) for name in ("sample_id", "variant"))
    found = []
    for unit in changed:
        seen = [transcripts[side][first[side][unit]] for side in SIDES]
        paths = (seen[0] if isinstance(seen[0], str) else None, seen[1] if isinstance(seen[1], str) else None)
        row = first["candidate"][unit]
        levels = (float(means["baseline"][unit]), float(means["candidate"][unit]))
        found.append((float(moved[unit]), Flip(str(ids[row]), str(variants[row]), *levels, paths)))
    return [flip for _, flip in sorted(found, key=lambda one: (one[0], one[1].sample_id, one[1].variant))]
