"""What a policy can resolve, before anyone runs it: samples needed, smallest visible drop, joint chance to pass.

The differences of an unchanged candidate are its own noise twice over: variance 2 w / e for a sample, with w the
variance within a sample and e its epochs (Miller 2024, arXiv 2411.00640, section 5).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .gate.case import Case
from .gate.demands import Demand
from .gate.pairing import Codes, Pairing
from .measures import Floats, default_range
from .policy import Policy
from .stats import clusters_for_pass, pass_power, visible_drop
from .types import Run

POWER = 0.8
WITHIN = 2 / 3
"""Share of all variance that is within a sample, where it cannot be measured: that of success rates spread evenly
over [0, 1] (1/6 of 1/4)."""


@dataclass(frozen=True)
class Planned:
    """One suite x metric x baseline."""

    suite: str
    metric: str
    tier: str
    against: str
    margin: float
    alpha: float
    epochs: int
    deviation: float | None
    """Of a cluster's difference under an unchanged candidate; None without a range."""
    per_cluster: float
    """Samples a cluster."""
    clusters: int | None
    """There now; None without a baseline."""
    power: float | None
    """Chance that an unchanged candidate PASSes at today's size, or at the needed one without a baseline."""
    visible: float | None
    """Smallest true drop that is called REGRESSED with 80% chance at that size."""
    needed: int | None
    """Samples for 80%; None where no number is enough."""
    needed_jointly: int | None
    """Samples at which all blocking tests together pass with 80% chance."""
    assumption: str

    @property
    def blocking(self) -> bool:
        """Whether it decides."""
        return self.tier != "advisory"

    @property
    def samples(self) -> int | None:
        """There now; None without a baseline."""
        return None if self.clusters is None else round(self.clusters * self.per_cluster)

    @property
    def resolved(self) -> bool:
        """Whether an unchanged candidate passes with 80% chance."""
        return self.power is not None and self.power >= POWER


@dataclass(frozen=True)
class Plan:
    """The whole policy."""

    rows: tuple[Planned, ...]
    joint: float | None
    """Chance that an unchanged candidate passes everything that blocks, suites independent; None where not known."""
    problems: tuple[str, ...]
    """A line for each margin that cannot be resolved."""

    @property
    def exit(self) -> int:
        """3 where a margin cannot be resolved, else 0."""
        return 3 if self.problems else 0


def plan(policy: Policy, baseline: Mapping[str, Run] | None = None) -> Plan:
    """Plan every suite x metric of `policy`, with sizes and noise read from `baseline` (suite to Run) where given."""
    blocking = sum((2 if d.max_total_drop is not None else 1) for d in policy.demands if d.blocking)
    rows = []
    for demand in policy.demands:
        against = [("rolling", demand.max_drop)]
        if demand.max_total_drop is not None:
            against.append(("anchor", demand.max_total_drop))
        run = None if baseline is None else baseline.get(demand.suite)
        noise = _assumed(demand, baseline is not None) if run is None else _measured(demand, run)
        family = blocking if demand.blocking else 1
        rows += [_planned(demand, name, margin, noise, family) for name, margin in against]
    deciding = [row for row in rows if row.blocking]
    chances = [row.power for row in deciding]
    joint = None if None in chances else math.prod(c for c in chances if c is not None)
    return Plan(tuple(rows), joint, tuple(_problems(rows, joint, baseline is not None)))


def _planned(demand: Demand, against: str, margin: float, noise: "_Noise", family: int) -> Planned:
    alpha, width = demand.alpha, noise.width
    needed = jointly = power = visible = clusters = None
    if noise.deviation is not None and width is not None:
        least = clusters_for_pass(noise.deviation, alpha, margin, width, POWER)
        all_together = clusters_for_pass(noise.deviation, alpha, margin, width, POWER ** (1 / family))
        needed = None if least is None else math.ceil(least * noise.per_cluster)
        jointly = None if all_together is None else math.ceil(all_together * noise.per_cluster)
        clusters = least if noise.clusters is None else noise.clusters
        if clusters is not None:
            power = pass_power(noise.deviation, clusters, alpha, margin, width)
            visible = visible_drop(noise.deviation, clusters, alpha / family, margin, POWER)
    return Planned(
        suite=demand.suite,
        metric=demand.metric,
        tier=demand.tier,
        against=against,
        margin=margin,
        alpha=alpha,
        epochs=noise.epochs,
        deviation=noise.deviation,
        per_cluster=noise.per_cluster,
        clusters=noise.clusters,
        power=power if width is not None else 0.0,
        visible=visible,
        needed=needed,
        needed_jointly=jointly,
        assumption=noise.assumption,
    )


def _problems(rows: Sequence[Planned], joint: float | None, measured: bool) -> list[str]:
    """One line each; then, where several tests share the blame, what would let them pass together."""
    lines = []
    for row in rows:
        where = f"{row.suite} ({row.metric}, {row.against})"
        if row.deviation is None:
            lines.append(f"{where}: {row.assumption}, so it cannot PASS")
        elif row.needed is None:
            lines.append(f"{where}: no number of samples resolves a margin of {row.margin:g}; widen it")
        elif measured and not row.resolved and row.samples is not None:
            lines.append(
                f"{where}: a margin of {row.margin:g} cannot be resolved with {row.samples:,} samples "
                f"(chance {row.power:.2f} to pass unchanged); {row.needed:,} would, or a wider margin or pooled suites"
            )
    deciding = [row for row in rows if row.blocking and row.needed_jointly is not None]
    if measured and len(deciding) > 1 and joint is not None and joint < POWER:
        most = max(row.needed_jointly or 0 for row in deciding)
        lines.append(
            f"all {len(deciding)} together: an unchanged candidate passes with chance {joint:.2f}; "
            f"for {POWER:g} each needs up to {most:,} samples, or fewer blocking suites"
        )
    return lines


@dataclass(frozen=True)
class _Noise:
    width: float | None
    deviation: float | None
    per_cluster: float
    clusters: int | None
    epochs: int
    assumption: str


def _assumed(demand: Demand, given: bool) -> _Noise:
    """Without a run: one sample a cluster, success rates spread evenly over the range."""
    bounds = demand.range or default_range(demand.metric)
    if bounds is None:
        return _Noise(None, None, 1.0, None, demand.epochs, f"{demand.metric} has no declared range")
    width = bounds[1] - bounds[0]
    deviation = width * math.sqrt(2 * WITHIN / 4 / demand.epochs)
    absent = "the baseline has no run of it; " if given else ""
    return _Noise(
        width, deviation, 1.0, None, demand.epochs, f"{absent}success rates spread evenly, one sample a cluster"
    )


def _measured(demand: Demand, run: Run) -> _Noise:
    """From a baseline run: its sizes, clusters and noise within samples."""
    case = Case(demand, "rolling", {"baseline": run, "candidate": run}, Pairing(run, run, demand.roles))
    cells = case.pairing.cells
    values = cells.spread("baseline", case.values["baseline"])
    kept = ~np.isnan(values)
    means = cells.unit_means(values)
    scored = ~np.isnan(means)
    if not scored.any():
        return _Noise(
            case.width, None, 1.0, 0, demand.epochs, "the baseline has no scored sample in the policy's roles"
        )
    if case.width is None:
        return _Noise(None, None, 1.0, None, demand.epochs, f"{demand.metric} has no declared range")
    counts = np.bincount(cells.unit[kept], minlength=len(means))[scored]
    epochs = max(1, int(np.median(counts)))
    within, assumption = _within(values[kept], cells.unit[kept], means, epochs)
    labels = cells.cluster[scored]
    clusters = len(np.unique(labels))
    size = scored.sum() / clusters
    alike = _alike(means[scored], labels)
    variance = 2 * within / epochs / size * (1 + (size - 1) * alike)
    return _Noise(case.width, math.sqrt(variance), float(size), clusters, epochs, assumption)


def _within(values: Floats, unit: Codes, means: Floats, epochs: int) -> tuple[float, str]:
    """Variance within a sample, and how it was come by.

    Epochs that never differ (greedy decoding) say nothing about another checkpoint's noise, so they count as one.
    """
    spread = float(np.square(values - means[unit]).sum())
    free = len(values) - len(np.unique(unit))
    if epochs > 1 and free > 0 and spread > 1e-12:
        return spread / free, "noise within samples as the baseline's epochs show it"
    return WITHIN * float(np.var(values)), "two thirds of the baseline's variance taken as noise within samples"


def _alike(means: Floats, labels: Codes) -> float:
    """Intraclass correlation of sample means by one-way analysis of variance (Donner and Koval 1980)."""
    _, codes = np.unique(labels, return_inverse=True)
    sizes = np.bincount(codes)
    n, groups = len(means), len(sizes)
    if groups < 2 or n == groups:
        return 0.0
    centres = np.bincount(codes, weights=means) / sizes
    between = float((sizes * np.square(centres - means.mean())).sum()) / (groups - 1)
    inside = float(np.square(means - centres[codes]).sum()) / (n - groups)
    size = (n - float(np.square(sizes).sum()) / n) / (groups - 1)
    total = between + (size - 1) * inside
    return min(1.0, max(0.0, (between - inside) / total)) if total > 0 else 0.0
