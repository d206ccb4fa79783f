"""From a store and three references to a Verdict: which runs are read, which looks are spent, what is kept."""

from collections.abc import Mapping
from dataclasses import dataclass

from evalctl.ledger import Ledger, Look
from evalctl.policy import Policy
from evalctl.store import Store
from evalctl.store.resolve import Side, resolve
from evalctl.types import Json, Run

from . import rules
from .case import Against, Case
from .judgement import GateContext, judge, with_older
from .pairing import Pairing
from .verdict import Verdict
from .verdict_json import to_json

OLDER = 5
"""Older runs that are looked at, a side and suite."""


@dataclass(frozen=True)
class Gated:
    """A verdict and the form of it that was kept."""

    verdict: Verdict
    json: dict[str, Json]


def gate(store: Store, policy: Policy, baseline: str, candidate: str) -> Gated:
    """Judge `candidate` against `baseline` (and the policy's anchor), count the looks, keep the verdict.

    Raises UsageError for a reference that means nothing. A suite that a side lacks is INVALID in the verdict.
    """
    sides = {
        name: resolve(store, reference, suites=policy.roles)
        for name, reference in (("baseline", baseline), ("candidate", candidate))
    }
    runs = {name: _load(store, policy, side) for name, side in sides.items()}
    anchor = None
    if policy.anchor:
        anchor = _load(store, policy, resolve(store, policy.anchor.baseline, suites=policy.roles))
    context = GateContext(
        baseline=sides["baseline"].name,
        candidate=sides["candidate"].name,
        anchor=anchor,
        looks=_looks(store, policy, runs, anchor),
        trained=_trained(store, policy, [*runs.values(), anchor or {}]),
    )
    verdict = judge(policy, runs["baseline"], runs["candidate"], context)
    verdict = with_older(verdict, _older(store, policy, runs, verdict))
    kept = to_json(verdict)
    store.save_verdict(kept)
    return Gated(verdict, kept)


def look(store: Store, suite: str, baseline: Run, candidate: Run, budget: int | None = None) -> Look:
    """Count a look at the sealed samples of `suite`, before anything is read of them."""
    return Ledger(store.home).take(suite, _looked_at(candidate), _looked_at(baseline), budget)


def _looked_at(run: Run) -> str:
    """What a look is counted by: the weights; the run where none was read (served, imported): a name bears any."""
    checkpoint = run.record.checkpoint
    read = checkpoint.get("verified", True) and run.record.source is None
    return _weights(run) if read else run.record.key


def _load(store: Store, policy: Policy, side: Side) -> dict[str, Run]:
    return {suite: store.load(key) for suite, key in side.runs.items() if suite in policy.suites}


def _looks(
    store: Store, policy: Policy, runs: Mapping[str, Mapping[str, Run]], anchor: Mapping[str, Run] | None
) -> dict[tuple[str, Against], Look]:
    """One look for each sealed suite and baseline, counted before anything is read of it."""
    found: dict[tuple[str, Against], Look] = {}
    others: list[tuple[Against, Mapping[str, Run]]] = [("rolling", runs["baseline"]), ("anchor", anchor or {})]
    for suite in dict.fromkeys(demand.suite for demand in policy.demands if demand.sealed):
        for against, first in others:
            if suite in first and suite in runs["candidate"]:
                budget = policy.sealed.looks if policy.sealed else None
                found[suite, against] = look(store, suite, first[suite], runs["candidate"][suite], budget)
    return found


def _weights(run: Run) -> str:
    return str(run.record.checkpoint.get("weights_digest"))


def _trained(store: Store, policy: Policy, sides: list[Mapping[str, Run]]) -> dict[str, frozenset[str]]:
    """Suite to every cluster in the training lineage of the checkpoints that are compared on it."""
    found = {}
    for suite in policy.suites:
        weights = {_weights(side[suite]) for side in sides if suite in side}
        found[suite] = frozenset(c for digest in weights for c in store.checkpoints.trained_clusters(digest, suite))
    return found


def _older(
    store: Store, policy: Policy, runs: Mapping[str, Mapping[str, Run]], verdict: Verdict
) -> dict[str, list[str]]:
    """Suite to older runs of either side that would have been comparable, where those that were taken are not."""
    found: dict[str, list[str]] = {}
    for finding in verdict.findings:
        if finding.against != "rolling" or not any(line.startswith("comparability:") for line in finding.reasons):
            continue
        demand = next(d for d in policy.demands if d.suite == finding.name)
        pair = {side: runs[side][finding.name] for side in ("baseline", "candidate")}
        keys = []
        for side, other in (("baseline", "candidate"), ("candidate", "baseline")):
            rows = store.find(suite=finding.name, weights_digest=_weights(pair[side]))
            taken = {run.record.key for run in pair.values()}
            for row in [r for r in rows if r.complete and r.key not in taken][:OLDER]:
                tried = {side: store.load(row.key), other: pair[other]}
                case = Case(demand, "rolling", tried, Pairing(tried["baseline"], tried["candidate"], demand.roles))
                keys += [] if rules.comparability(case) else [f"{side} {row.key[:12]}"]
        found[finding.name] = keys
    return found
