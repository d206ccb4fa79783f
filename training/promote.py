"""Promotion: the conditions of the policy on held-out evidence, in order. Pure: runs in, conditions out.

Nothing here knows how a checkpoint was made or what the answer should be. Two sets of evidence: the folds certify
the recipe, averaged over fold models (`crossfit_conditions`); sealed, bench and replay judge the checkpoint that is
released (`release_conditions`). A condition that cannot be told is not held.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalctl.gate import rules
from evalctl.gate.case import SIDES, Case
from evalctl.gate.decide import FEWEST, Evidence
from evalctl.gate.findings import unreadable
from evalctl.gate.judgement import GateContext, judge
from evalctl.gate.pairing import Pairing
from evalctl.gate.verdict import Decision, Verdict
from evalctl.ledger import Look
from evalctl.policy import Policy
from evalctl.types import Estimate, Json, Role

from .gains import Gain, Pair, fold_gain, gain, in_fold, pooled, role_case, sealed_policy

MOST_UNAUDITABLE = 0.05
"""Share of measured samples that may be beyond the audit: what it cannot see is not clean."""
EDGE = 0.02
"""A suite whose two means both lie this near to one end of the range can neither agree nor disagree."""


@dataclass(frozen=True)
class Condition:
    """One thing that must hold, with the figure it was told by."""

    name: str
    held: bool | None
    """None where it was not judged, because an earlier one had failed."""
    text: str
    figure: Estimate | None = None
    invalid: bool = False
    """True where the evidence itself is missing or faulty, which is not a refusal."""


@dataclass(frozen=True)
class Released:
    """What the released checkpoint is judged on."""

    sealed: Mapping[str, Pair]
    looks: Mapping[str, Look]
    open: Mapping[str, Pair]
    """The policy's suites on the roles it names."""
    drift: Estimate | None
    leaks: int
    """Places where training rows hold a measured sample's own text."""
    unauditable: float = 0.0
    """Share of measured samples that the audit cannot find: too short, or all template."""
    names: tuple[str, str] = ("", "")
    """Incumbent and candidate, for the verdict."""


def crossfit_conditions(
    policy: Policy, pool: Mapping[str, Pair], folds: Mapping[str, Mapping[str, int]]
) -> tuple[list[Condition], Gain, dict[int, Gain]]:
    """The gain on held-out folds, pooled, and that no fold has got worse; with the gains they were told by."""
    whole = gain(policy, pool, Role.POOL)
    if not whole.evidence.count:
        return [Condition("cross-fit gain", False, whole.told(), None, True)], whole, {}
    parts = {
        fold: fold_gain(policy, {suite: in_fold(pair, folds[suite], fold) for suite, pair in pool.items()})
        for fold in sorted({number for places in folds.values() for number in places.values()})
    }
    worse = {
        fold: part.evidence.high(part.alpha)
        for fold, part in parts.items()
        if part.evidence.count >= FEWEST and part.evidence.high(part.alpha) < 0
    }
    told = "; ".join(f"fold {fold} is worse, upper bound {high:+.3f}" for fold, high in worse.items())
    return (
        [
            Condition("cross-fit gain", whole.resolved, whole.told(), whole.estimate, bool(whole.faults)),
            Condition("no fold worse", not worse, told or f"no upper bound below 0 in {len(parts)} folds"),
        ],
        whole,
        parts,
    )


def release_conditions(policy: Policy, held: Released) -> tuple[list[Condition], Gain, Verdict]:
    """What the released checkpoint must hold on sealed, bench and replay, in the order of the contract."""
    sealed = gain(sealed_policy(policy), held.sealed, Role.SEALED, held.looks)
    verdict = judge(
        policy,
        {suite: pair.baseline for suite, pair in held.open.items()},
        {suite: pair.candidate for suite, pair in held.open.items()},
        GateContext(baseline=held.names[0], candidate=held.names[1]),
    )
    conditions = [
        Condition("sealed gain", sealed.resolved, sealed.told(), sealed.estimate, bool(sealed.faults)),
        _groups(policy, held, verdict),
        _suites(verdict),
        _replay(policy, held),
        _drift(policy, held.drift),
        _audit(held),
        _invalid(sealed, verdict),
    ]
    return conditions, sealed, verdict


def outcome(conditions: Sequence[Condition]) -> dict[str, Json]:
    """All hold: promoted. Else the first that does not says why, and whether the evidence itself is at fault."""
    failing = next((condition for condition in conditions if not condition.held), None)
    if failing is None:
        return ended("promoted", 0, f"all {len(conditions)} conditions hold")
    status, code = ("stopped", 4) if failing.invalid else ("refused", 1)
    return ended(status, code, f"{failing.name}: {failing.text}")


def ended(status: str, code: int, reason: str) -> dict[str, Json]:
    """How a campaign ended."""
    return {"status": status, "exit": code, "reason": reason}


def _groups(policy: Policy, held: Released, verdict: Verdict) -> Condition:
    """A group agrees when its pooled D > 0 by cluster and no member is REGRESSED."""
    needed = policy.require_groups
    if needed is None:
        return Condition("groups agree", True, "the policy requires no group")
    regressed = {f.name for f in verdict.findings if f.decision is Decision.REGRESSED}
    agreed, told = 0, []
    for name, members in policy.groups.items():
        cases = [_open_case(policy, suite, held.open[suite]) for suite in members if suite in held.open]
        cases = [case for case in cases if not unreadable(rules.faults(case))]
        speaking = [case for case in cases if not _at_edge(case)]
        if not speaking:
            told.append(f"{name}: says nothing (at floor or ceiling, or not there)")
            continue
        whole = pooled(speaking, 0.05)
        bad = sorted(regressed & set(members))
        agrees = whole.value > 0 and not bad
        agreed += agrees
        told.append(
            f"{name}: {whole.value:+.3f} over {whole.count} clusters" + (f", {bad[0]} REGRESSED" if bad else "")
        )
    return Condition("groups agree", agreed >= needed, f"{agreed} agree, {needed} required ({'; '.join(told)})")


def _open_case(policy: Policy, suite: str, pair: Pair) -> Case:
    demand = next(one for one in policy.demands if one.suite == suite)
    sides = {"baseline": pair.baseline, "candidate": pair.candidate}
    return Case(demand, "rolling", sides, Pairing(pair.baseline, pair.candidate, demand.roles))


def _at_edge(case: Case) -> bool:
    means = [case.side(side).value for side in SIDES]
    low, high = case.range or (0.0, 1.0)
    return all(mean <= low + EDGE for mean in means) or all(mean >= high - EDGE for mean in means)


def _suites(verdict: Verdict) -> Condition:
    """Every suite that blocks is non-inferior."""
    blocking = [finding for finding in verdict.findings if finding.decides]
    failing = [f"{f.name} {f.decision}" for f in blocking if f.decision is not Decision.PASS]
    told = ", ".join(failing) if failing else f"{len(blocking)} of {len(blocking)} PASS"
    held = bool(blocking) and not failing
    return Condition("suites non-inferior", held, told, None, verdict.decision is Decision.INVALID)


def _replay(policy: Policy, held: Released) -> Condition:
    """General ability must not fall: the replay samples of every suite, each within its margin."""
    told, good, invalid, judged = [], True, False, 0
    for suite, pair in held.open.items():
        if not (pair.baseline.trials["role"] == Role.REPLAY).any():
            continue
        case = role_case(policy, suite, pair, Role.REPLAY)
        if not case.demand.blocking:
            continue
        faults = rules.faults(case)
        judged += 1
        if faults:
            good, invalid = False, True
            told.append(f"{suite}: {faults[0]}")
            continue
        demand = case.demand
        evidence = Evidence(case.differences("left_out"), case.width, case.margin, demand.alpha, demand.alpha)
        decision = evidence.decide(demand.alpha)
        good = good and decision is Decision.PASS
        bound = f"lower bound {evidence.low:+.3f} against {-case.margin:+.3f}"
        told.append(f"{suite} {decision}, {evidence.value:+.3f} with {bound}")
    if not judged:
        return Condition(
            "replay non-inferior", False, "no suite of the policy has replay samples; nothing guards what was there"
        )
    return Condition("replay non-inferior", good, "; ".join(told), None, invalid)


def _drift(policy: Policy, drift: Estimate | None) -> Condition:
    """Drift from the parent lies within the policy's limit, its error included."""
    if policy.drift is None:
        shown = f"{drift.value:.3f} nats a token, up to {drift.high:.3f}" if drift else "not measured"
        return Condition("drift within limit", True, f"the policy sets no limit ({shown})", drift)
    if drift is None:
        return Condition("drift within limit", False, "not measured, and the policy sets a limit", None, True)
    text = f"{drift.value:.3f} nats a token, up to {drift.high:.3f}; the limit is {policy.drift.max_kl:g}"
    return Condition("drift within limit", drift.high < policy.drift.max_kl, text, drift)


def _audit(held: Released) -> Condition:
    """No overlap was found, by a method that could have found it."""
    text = f"{held.leaks} overlaps found (13-grams and whole items)"
    if held.unauditable:
        text += f"; {held.unauditable:.1%} of the measured samples are beyond this audit"
    return Condition("audit clean", held.leaks == 0 and held.unauditable <= MOST_UNAUDITABLE, text)


def _invalid(sealed: Gain, verdict: Verdict) -> Condition:
    """Trials that could not be scored: within budget, and not significantly more than the parent's."""
    lines = [line for line in sealed.faults if "errors:" in line]
    lines += [
        f"{f.name}: {line}" for f in verdict.findings if f.decides for line in f.reasons if line.startswith("errors:")
    ]
    return Condition(
        "invalid trials", not lines, lines[0] if lines else "within budget on both sides", None, bool(lines)
    )
