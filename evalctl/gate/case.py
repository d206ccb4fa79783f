"""One judged thing: a suite x metric against one baseline, with everything the rules and the decision read of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from evalctl import measures
from evalctl.ledger import Look
from evalctl.measures import Floats
from evalctl.stats import Clusters, mean
from evalctl.types import Direction, Estimate, Run

from .demands import Demand
from .pairing import Pairing

Against = Literal["rolling", "anchor"]
SIDES = ("baseline", "candidate")
SCENARIOS = ("left_out", "zero", "worst")
"""What was not scored for reasons that are not the model's: left out; counted as 0; the candidate's at its worst
and the baseline's at its best."""


@dataclass(frozen=True)
class Case:
    """A demand, the two Runs it is judged on, and what is known of the look at sealed samples."""

    demand: Demand
    against: Against
    runs: Mapping[str, Run | None]
    """`baseline` and `candidate`."""
    shared: Pairing | None
    """The same object for every metric of a suite; None where a run is absent."""
    look: Look | None = None

    @property
    def margin(self) -> float:
        """The fall that is not accepted: against the rolling baseline or the anchor."""
        total = self.demand.max_total_drop
        return self.demand.max_drop if self.against == "rolling" or total is None else total

    @property
    def pairing(self) -> Pairing:
        """The two sides; only where both are there."""
        assert self.shared is not None
        return self.shared

    @cached_property
    def declared(self) -> dict[str, measures.Declared]:
        """What each side's rows say about the metric."""
        return {side: measures.declared(self.pairing.sides[side], self.demand.metric) for side in SIDES}

    @cached_property
    def directions(self) -> frozenset[str]:
        """Every direction that rows name, and the policy's; without one that of a metric whose name says it."""
        said = {d for side in SIDES for d in self.declared[side].directions}
        return frozenset(said | {self.told_direction} if self.told_direction else said)

    @property
    def told_direction(self) -> Direction | None:
        """What is known apart from the rows: the policy's word, else the metric's name."""
        known: Direction | None = "higher" if measures.default_range(self.demand.metric) else None
        return self.demand.direction or known

    @property
    def direction_fault(self) -> str | None:
        """Why it is not known which way is better: a few rows of one side must not turn the metric round."""
        name = self.demand.metric
        if len(self.directions) > 1:
            return f"policy, rows and name do not agree on which way {name} is better; make them agree"
        if not self.directions:
            return f"neither policy nor rows say which way {name} is better; add `direction: higher|lower`"
        if self.told_direction is None and (alone := self._alone("directions")):
            return f"only the {alone} says which way {name} is better; state `direction` in the policy"
        return None

    @property
    def range_fault(self) -> str | None:
        """Why no range can be taken: several, stated by one side alone, without a width, or within the margin."""
        name, shown = self.demand.metric, ", ".join(f"[{low:g}, {high:g}]" for low, high in sorted(self.ranges))
        if len(self.ranges) > 1:
            return f"{shown} are all said of {name}; state one in the policy"
        if self.ranges and self.range is None:
            return f"{shown} is no range of a width up to {measures.WIDEST:g}; state one in the policy"
        if not self.demand.range and not measures.default_range(name) and (alone := self._alone("ranges")):
            return f"only the {alone} says that {name} lies in {shown}; state `range` in the policy"
        if self.width is not None and self.margin >= self.width:
            return f"a fall of {self.margin:g} is all of {shown}, the range of {name}, so nothing could fail"
        return None

    def _alone(self, what: Literal["directions", "ranges"]) -> str | None:
        """The side that alone says something."""
        speak = [side for side in SIDES if getattr(self.declared[side], what)]
        return speak[0] if len(speak) == 1 else None

    @property
    def direction(self) -> Direction:
        """Which way is better; `higher` where that is a fault of its own."""
        return "lower" if self.directions == {"lower"} else "higher"

    @cached_property
    def ranges(self) -> frozenset[tuple[float, float]]:
        """The policy's range; else every range the rows declare, a silent side's being that of the metric's name."""
        if self.demand.range:
            return frozenset({self.demand.range})
        known = measures.default_range(self.demand.metric)
        default = frozenset({known} if known else ())
        return frozenset(r for side in SIDES for r in self.declared[side].ranges or default)

    @property
    def range(self) -> tuple[float, float] | None:
        """Lowest and highest value; None where nobody declared it, or not one."""
        low, high = next(iter(self.ranges)) if len(self.ranges) == 1 else (0.0, 0.0)
        return (low, high) if 0 < high - low <= measures.WIDEST else None

    @property
    def width(self) -> float | None:
        """The largest difference there can be."""
        return None if self.range is None else self.range[1] - self.range[0]

    @cached_property
    def zero(self) -> float:
        """What the model's own failure counts as."""
        seen = [measures.raw_values(self.pairing.sides[side], self.demand.metric) for side in SIDES]
        return measures.zero_of(self.direction, self.range, np.concatenate(seen))

    @cached_property
    def values(self) -> dict[str, Floats]:
        """Counted value of each row of each side, NaN where unscored or not finite."""
        found = {}
        for side, frame in self.pairing.sides.items():
            values = measures.counted_values(frame, self.demand.metric, self.zero)
            values[measures.not_finite(frame, self.demand.metric)] = np.nan
            found[side] = values
        return found

    def unscored(self, side: str) -> int:
        """Rows of a side without a value for reasons that are not the model's."""
        return int(np.isnan(self.values[side]).sum())

    def error_rate(self, side: str) -> float:
        """Their share of the side's rows."""
        return self.unscored(side) / max(len(self.values[side]), 1)

    def scored_share(self, side: str) -> float:
        """Share of all cells, absent ones included, that have a value on a side."""
        cells = self.pairing.cells
        return float((~np.isnan(cells.spread(side, self.values[side]))).mean()) if cells.count else 0.0

    def error_totals(self) -> Clusters:
        """By cluster, how much more the candidate's cells lack a value than the baseline's, absent cells included."""
        cells = self.pairing.cells
        gone = {side: np.isnan(cells.spread(side, self.values[side])).astype(float) for side in SIDES}
        return cells.totals(cells.unit_means(gone["candidate"]) - cells.unit_means(gone["baseline"]))

    def side(self, side: str, *, zero: bool = False) -> Estimate:
        """Mean of one side over its own rows, what was not scored left out or counted as 0."""
        values, cells = self.values[side], self.pairing.cells
        means = cells.unit_means(cells.spread(side, np.where(np.isnan(values), self.zero, values) if zero else values))
        kept = ~np.isnan(means)
        return mean(means[kept], cells.cluster[kept], self.range)

    @cached_property
    def whole(self) -> bool:
        """Whether every cell has a value on both sides: the three scenarios are then one."""
        cells = self.pairing.cells
        return all(not np.isnan(cells.spread(side, self.values[side])).any() for side in SIDES)

    def differences(self, scenario: str) -> Clusters:
        """Cluster totals of candidate minus baseline per unit, epochs averaged first, higher is better."""
        cells = self.pairing.cells
        means = {}
        for side in SIDES:
            laid = cells.spread(side, self.values[side])
            if scenario != "left_out":
                laid = np.where(np.isnan(laid), self._filling(side, scenario), laid)
            means[side] = cells.unit_means(laid)
        sign = -1.0 if self.direction == "lower" else 1.0
        return cells.totals(sign * (means["candidate"] - means["baseline"]))

    def _filling(self, side: str, scenario: str) -> float:
        if scenario == "zero" or self.range is None:
            return self.zero
        good, bad = (self.range[1], self.range[0]) if self.direction == "higher" else self.range
        return bad if side == "candidate" else good
