"""Gains: the pooled difference of the trained suites on one role, by cluster, with the bounds that decide. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from evalctl.gate import rules
from evalctl.gate.case import Case
from evalctl.gate.decide import FEWEST, Evidence
from evalctl.gate.demands import Demand
from evalctl.gate.findings import unreadable
from evalctl.gate.judgement import ASYMMETRY
from evalctl.gate.pairing import Pairing
from evalctl.ledger import Look
from evalctl.policy import Policy
from evalctl.stats import Clusters, SignFlip
from evalctl.types import Estimate, Role, Run

LOOKS = 20
"""Looks at sealed samples where the policy names no budget; each is decided at alpha / looks."""


@dataclass(frozen=True)
class Pair:
    """One suite on both sides."""

    baseline: Run
    candidate: Run


@dataclass(frozen=True)
class Gain:
    """A pooled difference over the suites that were trained: candidate minus baseline, by cluster."""

    evidence: Evidence
    alpha: float
    faults: tuple[str, ...] = ()

    @property
    def low(self) -> float:
        """L: above 0 exactly where the sign-flip test rejects no change."""
        return self.evidence.gain(self.alpha)

    @property
    def estimate(self) -> Estimate:
        """D with the two one-sided bounds that decide: L by sign flips, U likewise."""
        evidence = self.evidence
        low = self.low if evidence.count >= FEWEST else -1.0
        return Estimate(
            evidence.value, min(low, evidence.value), evidence.high(self.alpha), evidence.clusters.n, evidence.count
        )

    @property
    def resolved(self) -> bool:
        """A gain beyond chance, on evidence without a fault."""
        return not self.faults and self.evidence.count >= FEWEST and self.low > 0

    def told(self) -> str:
        """The figure in words."""
        if self.faults:
            return self.faults[0]
        count = self.evidence.count
        if count < FEWEST:
            return f"{count} clusters; under {FEWEST} nothing can be said"
        return (
            f"{self.evidence.value:+.3f}, lower bound {self.low:+.3f} at level {self.alpha:.3g} over {count} clusters"
        )


def gain(policy: Policy, pairs: Mapping[str, Pair], role: Role, looks: Mapping[str, Look] | None = None) -> Gain:
    """The pooled gain of `pairs` on the samples of one role; every sample weighs the same, a cluster is one unit."""
    cases = [role_case(policy, suite, pair, role, (looks or {}).get(suite)) for suite, pair in pairs.items()]
    alpha = min((case.demand.alpha for case in cases), default=0.05)
    told, readable = [], []
    for case in cases:
        lines = rules.faults(case)
        if not unreadable(lines):
            readable.append(case)
            lines += _asymmetry(case, len(cases))
        told += [f"{case.demand.suite}: {line}" for line in lines]
    return Gain(pooled(readable, alpha), alpha, tuple(told))


def fold_gain(policy: Policy, pairs: Mapping[str, Pair]) -> Gain:
    """The pooled gain on one fold of pools whose rules have been judged on the whole."""
    cases = [role_case(policy, suite, pair, Role.POOL) for suite, pair in pairs.items()]
    alpha = min((case.demand.alpha for case in cases), default=0.05)
    return Gain(pooled([case for case in cases if len(case.pairing.cells.cluster)], alpha), alpha)


def sealed_policy(policy: Policy) -> Policy:
    """The policy with a budget of looks at sealed samples; its own where it names one."""
    if policy.sealed and policy.sealed.looks:
        return policy
    return Policy.model_validate(policy.model_dump(exclude_unset=True) | {"sealed": {"looks": LOOKS}})


def _naming(policy: Policy, suite: str) -> Policy:
    """The policy with the suite named in it. Made anew: a copy would keep the demands that were worked out before."""
    if suite in policy.suites:
        return policy
    said = policy.model_dump(exclude_unset=True)
    return Policy.model_validate(said | {"suites": {**said["suites"], suite: {}}})


def alpha_sealed(policy: Policy, suites: list[str]) -> float:
    """The level that a gain on sealed samples is told at."""
    budgeted = sealed_policy(policy)
    return min(demand_for(budgeted, suite, Role.SEALED).alpha for suite in suites)


def demand_for(policy: Policy, suite: str, role: Role) -> Demand:
    """What the policy demands of a suite's main metric, read on one role; defaults where it does not name the suite."""
    found = next(demand for demand in _naming(policy, suite).demands if demand.suite == suite)
    looks = policy.sealed.looks if policy.sealed and policy.sealed.looks and role is Role.SEALED else None
    # The demand's own level is already divided where the policy reads sealed samples of this suite.
    alpha = found.alpha / looks if looks and Role.SEALED not in found.roles else found.alpha
    return replace(found, roles=frozenset({str(role)}), alpha=alpha, must_pass=())


def role_case(policy: Policy, suite: str, pair: Pair, role: Role, look: Look | None = None) -> Case:
    """One trained suite's pair as the gate reads it, on one role."""
    demand = demand_for(policy, suite, role)
    sides = {"baseline": pair.baseline, "candidate": pair.candidate}
    return Case(demand, "rolling", sides, Pairing(pair.baseline, pair.candidate, demand.roles), look)


def pooled(cases: Iterable[Case], alpha: float) -> Evidence:
    """The clusters of several suites as one evidence, on a range of width 1."""
    totals = [case.differences("left_out") for case in cases]
    sums = np.concatenate([np.zeros(0), *(one.sums for one in totals)])
    sizes = np.concatenate([np.zeros(0), *(one.sizes for one in totals)])
    return Evidence(Clusters(sums, sizes), 1.0, 0.0, alpha, alpha)


def _asymmetry(case: Case, family: int) -> list[str]:
    """The candidate goes unscored significantly more often: what it lacks is not lacking by chance."""
    if case.whole:
        return []
    level = ASYMMETRY / family
    p = SignFlip(case.error_totals(), level).p_upper
    return [f"errors: the candidate goes unscored significantly more often (p {p:.2g})"] if p <= level else []


def in_fold(pair: Pair, places: Mapping[str, int], fold: int) -> Pair:
    """The pair's trials of one fold's clusters."""
    wanted = {cluster for cluster, number in places.items() if number == fold}
    kept = [run.trials[run.trials["cluster"].isin(wanted)] for run in (pair.baseline, pair.candidate)]
    records = [replace(run.record, expected=None) for run in (pair.baseline, pair.candidate)]
    return Pair(*(Run(record, frame) for record, frame in zip(records, kept, strict=True)))
