"""The gate: a policy, two checkpoints' runs, one Verdict. Pure: no file, no clock, no randomness of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from evalctl.ledger import Look
from evalctl.policy import Policy
from evalctl.stats import SignFlip, holm_levels
from evalctl.types import Run

from . import rules
from .case import SCENARIOS, SIDES, Against, Case
from .decide import Evidence
from .findings import ORDER, Judged, finding, guard, trained, unreadable
from .pairing import Pairing
from .verdict import Decision, Finding, Verdict

ASYMMETRY = 0.01
"""Level at which the candidate is said to err more often than the baseline."""
EXITS = {Decision.PASS: 0, Decision.REGRESSED: 1, Decision.INCONCLUSIVE: 3, Decision.INVALID: 4}


@dataclass(frozen=True)
class GateContext:
    """What the gate must know beside the two sides' runs."""

    baseline: str = ""
    candidate: str = ""
    anchor: Mapping[str, Run] | None = None
    """Suite to the anchor's run, where the policy has an anchor."""
    looks: Mapping[tuple[str, Against], Look] = field(default_factory=dict)
    """(suite, `rolling` or `anchor`) to the look at sealed samples that was counted before this call."""
    trained: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Suite to clusters in either checkpoint's training lineage; pool rows of these are shown and never decide."""


def judge(
    policy: Policy, baseline: Mapping[str, Run], candidate: Mapping[str, Run], context: GateContext | None = None
) -> Verdict:
    """Decide on `candidate`. The runs are suite name to Run; suites the policy does not name are not read.

    Every suite x metric is judged against the rolling baseline and, where the policy has one, the anchor; the worst
    of what blocks decides: INVALID > REGRESSED > INCONCLUSIVE > PASS.
    """
    context = context or GateContext()
    cases = _cases(policy, baseline, candidate, context)
    faults = _faults(cases)
    judged = _judged(cases, faults)
    found: list[Finding] = []
    for case, lines, one in zip(cases, faults, judged, strict=True):
        found.append(finding(case, lines, one))
        found += trained(case, context.trained.get(case.demand.suite, frozenset()))
    found += [guard(case, rules.faults(case)) for case in _guards(policy, cases)]
    return _overall(policy, found, context)


def _guards(policy: Policy, cases: Sequence[Case]) -> list[Case]:
    """A case of `must_pass` for each suite that lists metrics, on the metric that the baseline's score is of."""
    firsts = {case.demand.suite: case for case in reversed(cases) if case.against == "rolling"}
    found = []
    for suite in dict.fromkeys(case.demand.suite for case in cases):
        shared = firsts[suite].shared
        names = set() if shared is None else set(shared.sides["baseline"]["metric"].astype(str))
        demand = policy.guard(suite, names.pop() if len(names) == 1 else "correct")
        found += [replace(firsts[suite], demand=demand)] if demand else []
    return found


def _cases(
    policy: Policy, baseline: Mapping[str, Run], candidate: Mapping[str, Run], context: GateContext
) -> list[Case]:
    others: list[tuple[Against, Mapping[str, Run]]] = [("rolling", baseline)]
    if policy.anchor:
        others.append(("anchor", context.anchor or {}))
    cases, shared = [], dict[tuple[str, Against], Pairing | None]()
    for demand in policy.demands:
        for against, runs in others:
            if against == "anchor" and demand.max_total_drop is None:
                continue
            key = (demand.suite, against)
            first, second = runs.get(demand.suite), candidate.get(demand.suite)
            if key not in shared:
                trained = context.trained.get(demand.suite, frozenset())
                shared[key] = Pairing(first, second, demand.roles, trained) if first and second else None
            sides = {"baseline": first, "candidate": second}
            cases.append(Case(demand, against, sides, shared[key], context.looks.get(key)))
    return cases


def _faults(cases: Sequence[Case]) -> list[list[str]]:
    """Each case's faults, the asymmetry of errors included, which is judged over all suites at once."""
    faults = [rules.faults(case) for case in cases]
    whole = [i for i, case in enumerate(cases) if not unreadable(faults[i])]
    flips = {i: SignFlip(cases[i].error_totals(), ASYMMETRY / max(len(whole), 1)) for i in whole if not cases[i].whole}
    p_values = [flips[i].p_upper if i in flips else 1.0 for i in whole]
    for i, p, level in zip(whole, p_values, holm_levels(p_values, [ASYMMETRY] * len(whole)), strict=True):
        if p <= level:
            rates = ", ".join(f"{side} {1 - cases[i].scored_share(side):.3g}" for side in SIDES)
            faults[i] += [
                f"errors: the candidate goes unscored significantly more often ({rates}; p {p:.2g} at {level:.2g})",
                "missingness: what the candidate lacks is not lacking by chance, so no figure of it can be compared",
            ]
    return faults


def _judged(cases: Sequence[Case], faults: Sequence[Sequence[str]]) -> list[Judged | None]:
    """Evidence and levels of each case, None where it cannot be read."""
    blocking = sum(case.demand.blocking for case in cases)
    found: list[Mapping[str, Evidence] | None] = []
    for case, lines in zip(cases, faults, strict=True):
        found.append(None if unreadable(lines) else _scenarios(case, blocking if case.demand.blocking else 1))
    worse = _levels(cases, [None if f is None else f["left_out"].flips.p_lower for f in found])
    zero = _levels(cases, [None if f is None else f["zero"].flips.p_lower for f in found])
    better = _levels(cases, [None if f is None else f["left_out"].flips.p_upper for f in found])
    return [None if one is None else Judged(one, worse[i], zero[i], better[i]) for i, one in enumerate(found)]


def _scenarios(case: Case, family: int) -> Mapping[str, Evidence]:
    """The evidence with what was not scored left out, counted as 0, and in the worst case."""
    alpha = case.demand.alpha
    made: dict[str, Evidence] = {}
    for scenario in SCENARIOS:
        if made and case.whole:
            made[scenario] = made["left_out"]
        else:
            made[scenario] = Evidence(case.differences(scenario), case.width, case.margin, alpha, alpha / family)
    return made


def _levels(cases: Sequence[Case], p_values: Sequence[float | None]) -> list[float]:
    """The level of each case's sign-flip bound: Holm over everything that blocks, its own alpha for what does not.

    A blocking case that cannot be read (None) keeps its place in the family.
    """
    levels = [case.demand.alpha for case in cases]
    family = [i for i, case in enumerate(cases) if case.demand.blocking]
    known = [1.0 if (p := p_values[i]) is None else p for i in family]
    for i, level in zip(family, holm_levels(known, [levels[i] for i in family]), strict=True):
        levels[i] = level
    return levels


def _overall(policy: Policy, found: Sequence[Finding], context: GateContext) -> Verdict:
    deciding = [one for one in found if one.decides]
    decision = min((one.decision for one in deciding), key=ORDER.index, default=Decision.INVALID)
    allowed = {(d.suite, d.metric) for d in policy.demands if d.allow_inconclusive}
    open_ones = [f for f in deciding if f.decision is Decision.INCONCLUSIVE]
    status = EXITS[decision]
    if decision is Decision.INCONCLUSIVE and all((f.name, f.metric) in allowed for f in open_ones):
        status = 0
    looks = [
        {"suite": look.suite, "against": against, "number": look.number, "budget": look.budget, "refused": look.refused}
        for (_, against), look in sorted(context.looks.items())
    ]
    return Verdict(
        decision=decision,
        exit=status,
        findings=tuple(found),
        baseline=context.baseline,
        candidate=context.candidate,
        policy_digest=policy.digest,
        improved=decision in (Decision.PASS, Decision.INCONCLUSIVE) and any(one.improved for one in deciding),
        ledger={"looks": looks} if looks else {},
        reasons=tuple(f"{f.name}: {line}" for f in deciding if f.decision is decision for line in f.reasons[:1]),
    )


def with_older(verdict: Verdict, older: Mapping[str, Sequence[str]]) -> Verdict:
    """The verdict with older runs that would have been comparable named under the suites that were not.

    They are listed and never taken: which run is meant is for the user to say.
    """
    found = []
    for one in verdict.findings:
        keys = older.get(one.name, ())
        if keys and any(line.startswith("comparability:") for line in one.reasons):
            line = f"older: runs that would fit: {', '.join(keys)} (name one to use it)"
            found.append(replace(one, reasons=(*one.reasons, line)))
        else:
            found.append(one)
    return replace(verdict, findings=tuple(found))
