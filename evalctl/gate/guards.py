"""Per-sample guards: samples that must be right whatever the mean says."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .case import SIDES, Case
from .pairing import Codes
from .verdict import Decision

Names: TypeAlias = NDArray[np.object_]
ROUNDING = 1e-9
SHOWN = 5
"""Ids named in one line; the rest are counted."""


def must_pass(case: Case) -> list[tuple[Decision, str]]:
    """Each guarded sample of the candidate has the best value of its range in every epoch, or it is said.

    REGRESSED whatever the baseline did; INVALID where one is not scored, or a pattern matches nothing. A pattern that
    is itself a sample's id means that sample alone, on that side: a sample that either side's ids single out is
    guarded by its content, whatever the other side calls it.
    """
    if not case.demand.must_pass or case.against != "rolling":
        return []
    if case.range is None:
        return [(Decision.INVALID, "must_pass: the metric has no declared range, so no value is the best; add `range`")]
    best = case.range[1] if case.direction == "higher" else case.range[0]
    cells = case.pairing.cells
    called = [_called(case, side) for side in SIDES]
    names = np.full(len(cells.cluster), "", dtype=object)
    for units, ids in reversed(called):
        names[units] = ids
    values = cells.spread("candidate", case.values["candidate"])
    who = names[cells.unit]
    found: list[tuple[Decision, str]] = []
    for pattern in case.demand.must_pass:
        guarded = np.unique(np.concatenate([_matched(pattern, units, ids) for units, ids in called]))
        if not len(guarded):
            found.append((Decision.INVALID, f"must_pass: {pattern!r} matches no sample"))
            continue
        kept = np.isin(cells.unit, guarded)
        unscored = set(who[kept & np.isnan(values)])
        lost = set(who[kept & (np.abs(values - best) > ROUNDING)])
        if unscored:
            found.append((Decision.INVALID, f"must_pass: not scored in every epoch: {listed(sorted(unscored))}"))
        if lost:
            found.append((Decision.REGRESSED, f"must_pass: not {best:g} in every epoch: {listed(sorted(lost))}"))
    return found


def _called(case: Case, side: str) -> tuple[Codes, Names]:
    """Unit and sample id of each row of a side, `missing` ones too: what is absent is not scored, not unguarded."""
    pairing = case.pairing
    units = [pairing.coded.unit[slots[side]] for slots in (pairing.coded.where, pairing.coded.gone)]
    ids = [frames[side]["sample_id"].astype(str).to_numpy(object) for frames in (pairing.sides, pairing.gone)]
    return np.concatenate(units), np.concatenate(ids)


def _matched(pattern: str, units: Codes, ids: Names) -> Codes:
    """Units of one side whose id is the pattern; where none is, those whose id fits it."""
    known = set(ids)
    meant = {pattern} if pattern in known else {i for i in known if fnmatchcase(i, pattern)}
    found: Codes = units[np.array([i in meant for i in ids], dtype=bool)]
    return found


def listed(ids: Sequence[str]) -> str:
    """The first few ids, quoted, and how many more there are."""
    more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
    return ", ".join(repr(i) for i in ids[:SHOWN]) + more
