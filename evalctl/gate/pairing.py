"""Two Runs of one suite side by side, cell by cell: a cell is one (content key, variant, epoch).

Pairing is by content, never by position or by id. What stands on one side only, or was expected and stands on
neither, is a cell without a trial.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evalctl import measures
from evalctl.measures import Floats
from evalctl.stats import Clusters
from evalctl.types import Role, Run

Codes = NDArray[np.int64]
MISSING = "missing"


@dataclass(frozen=True)
class Cells:
    """Every cell of two sides. `units` are (content key, variant); a unit stands in one cluster."""

    unit: Codes
    """Unit of each cell, shape (cells,)."""
    cluster: Codes
    """Cluster of each unit, shape (units,)."""
    rows: Mapping[str, Codes]
    """Side (`baseline`, `candidate`) to the row of each cell in that side's frame, -1 where there is no trial."""
    torn: int
    """Units that the two sides put into different clusters."""

    @property
    def count(self) -> int:
        """Number of cells."""
        return len(self.unit)

    def coverage(self, side: str) -> float:
        """Share of all cells in which `side` has a trial."""
        return float((self.rows[side] >= 0).mean()) if self.count else 0.0

    def spread(self, side: str, values: Floats) -> Floats:
        """`values` of shape (rows of the side,) laid on the cells, NaN where there is no trial."""
        rows = self.rows[side]
        laid = np.full(self.count, np.nan)
        laid[rows >= 0] = values[rows[rows >= 0]]
        return laid

    def unit_means(self, values: Floats) -> Floats:
        """Epochs averaged within a unit, shape (units,); NaN cells left out, NaN where nothing is left."""
        kept = ~np.isnan(values)
        size = len(self.cluster)
        counts = np.bincount(self.unit[kept], minlength=size)
        totals = np.bincount(self.unit[kept], weights=values[kept], minlength=size)
        means: Floats = np.divide(totals, counts, out=np.full(size, np.nan), where=counts > 0)
        return means

    def totals(self, values: Floats) -> Clusters:
        """Cluster totals of unit values of shape (units,), NaN left out."""
        kept = ~np.isnan(values)
        return Clusters.of(values[kept], self.cluster[kept])


@dataclass(frozen=True)
class Coded:
    """Rows as integers: the baseline's, the candidate's, the `missing` ones of both, then what was expected."""

    unit: Codes
    """Unit of each row."""
    cell: Codes
    """Cell of each row."""
    unit_of_cell: Codes
    units: int
    """How many units there are."""
    where: Mapping[str, slice]
    """Side to its rows."""
    gone: Mapping[str, slice]
    """Side to its rows of status `missing`."""


@dataclass(frozen=True)
class Pairing:
    """One suite, two Runs, restricted to what the policy reads."""

    baseline: Run
    candidate: Run
    roles: frozenset[str]
    without: frozenset[str] = frozenset()
    """Pool clusters that are not read: those in either checkpoint's training lineage."""

    @cached_property
    def sides(self) -> dict[str, pd.DataFrame]:
        """Deciding rows of each side, the index from 0. A row of status `missing` is no trial: see `gone`."""
        return {"baseline": self._part(self.baseline), "candidate": self._part(self.candidate)}

    def _part(self, run: Run) -> pd.DataFrame:
        frame = run.trials
        return frame[self._read(frame) & (frame["status"] != MISSING)].reset_index(drop=True)

    def _read(self, frame: pd.DataFrame) -> "pd.Series[bool]":
        kept = frame["role"].isin(self.roles)
        return kept & ~self._out(frame) if self.without else kept

    @cached_property
    def gone(self) -> dict[str, pd.DataFrame]:
        """Rows of status `missing` of each side: cells that were expected and have no trial."""
        runs = {"baseline": self.baseline.trials, "candidate": self.candidate.trials}
        return {s: f[self._read(f) & (f["status"] == MISSING)].reset_index(drop=True) for s, f in runs.items()}

    def _out(self, frame: pd.DataFrame) -> "pd.Series[bool]":
        return (frame["role"] == Role.POOL) & frame["cluster"].isin(self.without)

    @cached_property
    def coded(self) -> "Coded":
        """Units and cells of both sides' rows and of what either run expected, as integers."""
        parts = [*self.sides.values(), *self.gone.values()]
        wanted = self.expected
        names = [measures.unit_names(part) for part in parts]
        names.append(pd.Series([f"{key}\x1f{variant}" for key, variant, _ in wanted], dtype=str))
        epochs = [part["epoch"].to_numpy(np.int64) for part in parts]
        epochs.append(np.array([epoch for _, _, epoch in wanted], dtype=np.int64))
        # Sorted, so that the order of rows changes no last digit of any sum.
        unit, units = pd.factorize(pd.concat(names, ignore_index=True), sort=True)
        epoch, seen = pd.factorize(np.concatenate(epochs), sort=True)
        width = max(len(seen), 1)
        cell, keys = pd.factorize(unit * width + epoch, sort=True)
        ends = np.cumsum([len(part) for part in parts])
        slots = [slice(int(end) - len(part), int(end)) for part, end in zip(parts, ends, strict=True)]
        sides = dict(zip(self.sides, slots, strict=False))
        return Coded(unit, cell, keys // width, len(units), sides, dict(zip(self.gone, slots[2:], strict=True)))

    @cached_property
    def cells(self) -> Cells:
        """The union of both sides' trials and of what either run expected. Needs rows without duplicates."""
        coded = self.coded
        rows = {}
        for side, slot in coded.where.items():
            rows[side] = np.full(len(coded.unit_of_cell), -1, np.int64)
            rows[side][coded.cell[slot]] = np.arange(slot.stop - slot.start)
        units = [coded.unit[slot] for slot in (*coded.where.values(), *coded.gone.values())]
        cluster, torn = _clusters([*self.sides.values(), *self.gone.values()], units, coded.units)
        return Cells(coded.unit_of_cell, cluster, rows, torn)

    @cached_property
    def expected(self) -> list[tuple[str, str, int]]:
        """Cells that either run's own list names, within the policy's roles and outside training lineage.

        The list holds no roles: they are read from the trials; what no trial tells is expected.
        """
        wanted = {*(self.baseline.record.expected or ()), *(self.candidate.record.expected or ())}
        if not wanted:
            return []
        dropped: set[str] = set()
        for run in (self.baseline, self.candidate):
            frame = run.trials
            out = ~frame["role"].isin(self.roles) | self._out(frame)
            dropped.update(measures.unit_names(frame[out]).unique())
        return [cell for cell in wanted if f"{cell[0]}\x1f{cell[1]}" not in dropped]

    @cached_property
    def duplicates(self) -> dict[str, list[str]]:
        """Side to the sample ids of cells that stand there more than once."""
        found = {}
        for side, frame in self.sides.items():
            cell = self.coded.cell[self.coded.where[side]]
            twice = np.bincount(cell, minlength=1)[cell] > 1
            found[side] = sorted(frame.loc[twice, "sample_id"].astype(str).unique())
        return found


def _clusters(parts: Iterable[pd.DataFrame], units: Iterable[Codes], size: int) -> tuple[Codes, int]:
    """The cluster of each unit, and how many units the sides put into different ones.

    A unit that was expected and is nowhere stands alone.
    """
    labels = [measures.cluster_names(part) for part in parts]
    codes, names = pd.factorize(pd.concat(labels, ignore_index=True), sort=True)
    cluster = np.arange(len(names), len(names) + size, dtype=np.int64)
    torn = np.zeros(size, bool)
    known = np.zeros(size, bool)
    start = 0
    for label, unit in zip(labels, units, strict=True):
        given = codes[start : start + len(label)]
        torn[unit[known[unit] & (cluster[unit] != given)]] = True
        cluster[unit] = given
        known[unit] = True
        torn[unit[cluster[unit] != given]] = True
        start += len(label)
    return cluster, int(torn.sum())
