"""Per-sample guards: samples that must be right whatever the mean says."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

import numpy as np

from .case import Case
from .verdict import Decision

ROUNDING = 1e-9
SHOWN = 5
"""Ids named in one line; the rest are counted."""


def must_pass(case: Case) -> list[tuple[Decision, str]]:
    """Each guarded sample of the candidate has the best value of its range in every epoch, or it is said.

    REGRESSED whatever the baseline did; INVALID where one is not scored, or a pattern matches nothing. A pattern that
    is itself a sample's id means that sample alone.
    """
    if not case.demand.must_pass or case.against != "rolling":
        return []
    if case.range is None:
        return [(Decision.INVALID, "must_pass: the metric has no declared range, so no value is the best; add `range`")]
    best = case.range[1] if case.direction == "higher" else case.range[0]
    cells = case.pairing.cells
    names = np.full(len(cells.cluster), "", dtype=object)
    # The baseline names what the candidate lacks: a guarded sample that is absent is not scored, not unguarded.
    for side in ("baseline", "candidate"):
        rows = cells.rows[side]
        ids = case.pairing.sides[side]["sample_id"].astype(str).to_numpy()
        names[cells.unit[rows >= 0]] = ids[rows[rows >= 0]]
    values = cells.spread("candidate", case.values["candidate"])
    who = names[cells.unit]
    known = set(names)
    found: list[tuple[Decision, str]] = []
    for pattern in case.demand.must_pass:
        matched = {pattern} if pattern in known else {i for i in known if fnmatchcase(i, pattern)}
        if not matched:
            found.append((Decision.INVALID, f"must_pass: {pattern!r} matches no sample"))
            continue
        kept = np.isin(who, sorted(matched))
        unscored = set(who[kept & np.isnan(values)])
        lost = set(who[kept & (np.abs(values - best) > ROUNDING)])
        if unscored:
            found.append((Decision.INVALID, f"must_pass: not scored in every epoch: {listed(sorted(unscored))}"))
        if lost:
            found.append((Decision.REGRESSED, f"must_pass: not {best:g} in every epoch: {listed(sorted(lost))}"))
    return found


def listed(ids: Sequence[str]) -> str:
    """The first few ids, quoted, and how many more there are."""
    more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
    return ", ".join(repr(i) for i in ids[:SHOWN]) + more
