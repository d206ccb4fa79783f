"""From a case's faults and evidence to one Finding: figures, decision and reasons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evalctl.types import Role

from . import rules
from .case import SIDES, Case
from .decide import FEWEST, FEWEST_TO_PASS, Evidence
from .guards import must_pass
from .pairing import Pairing
from .verdict import Decision, Finding

ORDER = tuple(Decision)
"""Worst first."""
UNREADABLE = ("presence:", "same_run:", "ledger:", "empty:", "duplicates:", "metric:", "out_of_range:", "direction:")
"""Faults after which no difference can be told. `ledger` is among them: a refused look shows nothing."""


@dataclass(frozen=True)
class Judged:
    """Evidence by scenario, and the levels that the correction leaves."""

    evidence: Mapping[str, Evidence]
    """`left_out`, `zero` and `worst`."""
    level: float
    """Of U, with what is unscored left out."""
    zero_level: float
    """Of U, with what is unscored counted as 0."""
    gain_level: float
    """Of the bound that IMPROVED needs."""


def unreadable(faults: Sequence[str]) -> bool:
    """Whether the faults leave no difference to compute."""
    return any(line.startswith(UNREADABLE) for line in faults)


def finding(case: Case, faults: Sequence[str], judged: Judged | None) -> Finding:
    """What is said of one case; `judged` None where the faults leave nothing to judge."""
    shown = _bare(case, faults)
    if judged is None:
        return shown
    shown = _figures(shown, case, judged)
    guards = must_pass(case)
    guarded = [line for _, line in guards]
    notes = _notes(case)
    if faults or any(decision is Decision.INVALID for decision, _ in guards):
        return replace(shown, reasons=(*faults, *guarded, *notes))
    decision, reasons = _decide(case, judged)
    decision = min([decision, *(d for d, _ in guards)], key=ORDER.index)
    evidence = judged.evidence["left_out"]
    gain = evidence.gain(judged.gain_level)
    improved = evidence.count >= FEWEST and gain > 0 and decision is not Decision.INVALID
    if improved:
        reasons.append(
            f"improved: lower bound {gain:+.4f} by sign flips at level {judged.gain_level:.3g} "
            f"(the one that PASS needs is {evidence.low:+.4f})"
        )
        shown = _with_gain(shown, decision, gain)
    needed = evidence.needed() if decision is Decision.INCONCLUSIVE else None
    return replace(shown, decision=decision, improved=improved, needed=needed, reasons=(*guarded, *reasons, *notes))


def guard(case: Case, faults: Sequence[str]) -> Finding:
    """`must_pass` alone, beside the metrics that a suite lists: no margin, only the guarded samples decide."""
    shown = replace(_bare(case, faults), slice="must_pass", max_drop=None)
    if unreadable(faults):
        return shown
    alpha = case.demand.alpha
    evidence = Evidence(case.differences("left_out"), case.width, case.margin, alpha, alpha)
    shown = _figures(shown, case, Judged({"left_out": evidence}, alpha, alpha, alpha))
    said = must_pass(case)
    decision = min([Decision.INVALID if faults else Decision.PASS, *(d for d, _ in said)], key=ORDER.index)
    return replace(shown, decision=decision, reasons=(*faults, *(line for _, line in said)))


def trained(case: Case, clusters: frozenset[str]) -> list[Finding]:
    """Clusters in training lineage, shown beside the suite and never deciding."""
    if not clusters or case.shared is None or case.demand.sealed:
        return []
    frames = [run.trials for run in case.runs.values() if run]
    pool = {str(name) for frame in frames for name in frame.loc[frame["role"] == Role.POOL, "cluster"].unique()}
    if not pool & clusters or Role.POOL not in case.demand.roles:
        return []
    alone = Pairing(case.shared.baseline, case.shared.candidate, frozenset({Role.POOL}), frozenset(pool - clusters))
    other = replace(case, shared=alone)
    if unreadable(rules.faults(other)):
        return []
    alpha = case.demand.alpha
    evidence = Evidence(other.differences("left_out"), other.width, other.margin, alpha, alpha)
    line = f"trained: {len(pool & clusters)} clusters stand in training lineage; they decide nothing"
    shown = replace(_bare(other, [line]), slice="trained", tier="advisory", decision=evidence.decide(alpha))
    return [_figures(shown, other, Judged({"left_out": evidence}, alpha, alpha, alpha))]


def _bare(case: Case, faults: Sequence[str]) -> Finding:
    """INVALID, with what the faults leave to be shown."""
    demand = case.demand
    bare = Finding(
        name=demand.suite,
        decision=Decision.INVALID,
        metric=demand.metric,
        tier=demand.tier,
        max_drop=case.margin,
        against=case.against,
        reasons=tuple(faults),
    )
    if any(line.startswith(("presence:", "same_run:", "ledger:", "empty:")) for line in faults):
        return bare
    rates = {side: case.error_rate(side) for side in SIDES}
    shown = replace(bare, errors=rates, not_recorded=rules.not_recorded(case))
    if any(line.startswith("duplicates:") for line in faults):
        return shown
    return replace(shown, coverage=min(case.pairing.cells.coverage(side) for side in SIDES))


def _figures(shown: Finding, case: Case, judged: Judged) -> Finding:
    """The difference, both sides and the three figures of what was not scored."""
    evidence = judged.evidence["left_out"]
    missing = {s: e.value for s, e in judged.evidence.items() if e.count and (s != "worst" or case.range)}
    if not case.whole:
        for side in SIDES:
            missing[f"{side}_left_out"] = case.side(side).value
            missing[f"{side}_zero"] = case.side(side, zero=True).value
    return replace(
        shown,
        difference=evidence.estimate(judged.level) if evidence.count else None,
        baseline=case.side("baseline"),
        candidate=case.side("candidate"),
        missing=missing,
    )


def _with_gain(shown: Finding, decision: Decision, gain: float) -> Finding:
    """Print the bound that IMPROVED was decided by, unless the one that PASS was not given for must be seen."""
    found = shown.difference
    if found is None or (decision is not Decision.PASS and found.clusters >= FEWEST_TO_PASS):
        return shown
    return replace(shown, difference=replace(found, low=max(gain, found.low)))


def _decide(case: Case, judged: Judged) -> tuple[Decision, list[str]]:
    """The decision of the evidence alone, and why."""
    evidence, zero, worst = (judged.evidence[name] for name in ("left_out", "zero", "worst"))
    if not evidence.count:
        return Decision.INVALID, ["coverage: no sample is scored on both sides"]
    decision, other = evidence.decide(judged.level), zero.decide(judged.zero_level)
    if decision is not other:
        line = f"missingness: {decision} with what is unscored left out, {other} with it counted as 0"
        return Decision.INVALID, [line]
    high = evidence.high(judged.level)
    reasons = []
    if decision is Decision.PASS and _needs_worst(case) and worst.decide(worst.alpha) is not Decision.PASS:
        decision = Decision.INCONCLUSIVE
        reasons.append(
            f"missingness: would PASS, but in the worst case of what is unscored the lower bound is {worst.low:+.4f}, "
            f"not above {-case.margin:+.4f}"
        )
    elif decision is Decision.INCONCLUSIVE:
        reasons += _open(case, evidence, high)
    elif decision is Decision.REGRESSED:
        rule = "max_drop" if case.against == "rolling" else "max_total_drop"
        reasons.append(
            f"{rule}: {evidence.value:+.4f} against the {case.against} baseline is a fall of {case.margin:g} or more, "
            f"and its upper bound {high:+.4f} lies below 0"
        )
    if decision is not Decision.REGRESSED and evidence.count >= FEWEST and high < 0:
        reasons.append(f"slipping: worse beyond chance, {evidence.value:+.4f} with the upper bound {high:+.4f}")
    return decision, reasons


def _needs_worst(case: Case) -> bool:
    return case.demand.tier == "critical" and not case.demand.lenient


def _open(case: Case, evidence: Evidence, high: float) -> list[str]:
    """Why the evidence does not decide, and what would."""
    reasons = []
    if evidence.count < FEWEST:
        reasons.append(f"clusters: {evidence.count} clusters; under {FEWEST} nothing can be said")
    elif evidence.count < FEWEST_TO_PASS:
        reasons.append(
            f"clusters: {evidence.count} clusters; PASS needs {FEWEST_TO_PASS}, only REGRESSED or IMPROVED can be said"
        )
    if case.range is None:
        reasons.append(f"range: {case.demand.metric} has no declared range and cannot PASS; add `range: [low, high]`")
    reasons.append(f"margin: the interval [{evidence.low:+.4f}, {high:+.4f}] does not settle a fall of {case.margin:g}")
    needed = evidence.needed()
    if needed is not None:
        reasons.append(f"needed: about {needed:,} further clusters like these would decide")
    return reasons


def _notes(case: Case) -> list[str]:
    """What is told beside the decision: each side's mean with and without the unscored; one run on both sides."""
    lines = []
    for side in SIDES:
        count = case.unscored(side)
        if count:
            left_out, zero = case.side(side).value, case.side(side, zero=True).value
            told = f"{left_out:.4g} with {count} left out, {zero:.4g} with them counted as {case.zero:g}"
            lines.append(f"unscored: {side} {told}")
    keys = {run.record.key for run in case.runs.values() if run is not None}
    if len(keys) == 1:
        lines.append("same_run: both sides are one run, so there is nothing to tell apart")
    return lines
