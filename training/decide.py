"""The last step: measure what may be released, judge every condition in order, and write the record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalctl.gate.from_store import look
from evalctl.gate.verdict import Verdict
from evalctl.gate.verdict_json import estimate_json, to_json
from evalctl.policy import Policy
from evalctl.store import Store
from evalctl.types import Checkpoint, Estimate, Json, Message, Role
from suites.contamination.exact import Index

from .campaign import Campaign
from .curate import audit_rows
from .curated import curated_rows, index_of
from .evidence import measured, pairs, pool_pairs
from .families import families
from .final import candidate
from .gains import Gain, gain, sealed_policy
from .lineage import chained, keep_candidate, promote
from .promote import Condition, Released, crossfit_conditions, ended, outcome, release_conditions
from .record import conditions_json, folds_json, heading, sealed_json
from .rows import clusters_of

RELEASE = (
    "sealed gain",
    "groups agree",
    "suites non-inferior",
    "replay non-inferior",
    "drift within limit",
    "audit clean",
    "invalid trials",
)
"""What is judged of the released checkpoint, in order."""
MEASURED = (Role.SEALED, Role.BENCH)
"""Roles that a gain is shown on."""
DRIFT_PROMPTS = 32
DRIFT_TOKENS = 48


@dataclass(frozen=True)
class Keys:
    """Where the evidence lies: role to suite to run key, of both sides and of the fold models."""

    baseline: Mapping[str, Mapping[str, str]]
    folds: Sequence[Mapping[str, str]]
    candidate: Mapping[str, Mapping[str, str]]


def decide(campaign: Campaign, past: Mapping[str, Json]) -> dict[str, Json]:
    """The record, with every figure it was decided by; the checkpoint is promoted where all conditions hold."""
    record = heading(campaign, past)
    stop = past["screen"].get("stop") or past["curate"].get("stop") or past["cross-fit"].get("skipped")
    if stop:
        return _closed(campaign, record | ended("refused", 1, str(stop)) | {"conditions": []})
    policy = campaign.wanted.policy
    pool = pool_pairs(campaign.own, past["baseline"]["pool"], past["cross-fit"]["runs"])
    conditions, whole, parts = crossfit_conditions(policy, pool, campaign.folds)
    record["crossfit"] = folds_json(pool, campaign.folds, whole, parts)
    record["runs"] = {"baseline": past["baseline"], "folds": past["cross-fit"]["runs"], "candidate": {}}
    if "skipped" in past["final"]:
        conditions += [Condition(name, None, "not judged: the recipe did not hold on its folds") for name in RELEASE]
    else:
        released, told = _release(campaign, past)
        conditions += released
        record |= told
    record["conditions"] = conditions_json(conditions)
    return _closed(campaign, record | outcome(conditions))


def released(
    campaign_store: Store, main: Store, keys: Keys, told: Mapping[str, Json], drift: Estimate | None
) -> Released:
    """What the released checkpoint is judged on, read back by key; each look at sealed samples is counted first."""
    sealed = pairs(campaign_store, keys.baseline["sealed"], keys.candidate["sealed"])
    budget = told["budget"]
    looks = {suite: look(main, suite, pair.baseline, pair.candidate, budget) for suite, pair in sealed.items()}
    open_pairs = pairs(main, keys.baseline["open"], keys.candidate["open"])
    named = {suite: pair for suite, pair in open_pairs.items() if suite in told["policy_suites"]}
    return Released(
        sealed, looks, named, drift, int(told["leaks"]), float(told["unauditable"]), names=tuple(told["names"])
    )


def _release(campaign: Campaign, past: Mapping[str, Json]) -> tuple[list[Condition], dict[str, Json]]:
    """The release conditions, with the part of the record they were told by."""
    policy, made = campaign.wanted.policy, candidate(campaign)
    rows = curated_rows(campaign, past["curate"]["digest"])
    lineage = {"digest": past["curate"]["digest"], "clusters": clusters_of(rows)}
    keep_candidate(campaign.store, made, campaign.id, lineage)
    keys = Keys(past["baseline"], past["cross-fit"]["runs"], measured(campaign, made, (Role.SEALED,)))
    index = index_of(campaign)
    told = {
        "budget": budget_of(policy),
        "policy_suites": list(policy.suites),
        "leaks": len(audit_rows(rows, index)),
        "unauditable": _unauditable(campaign, index),
        "names": [campaign.wanted.checkpoint.name, made.name],
    }
    held = released(campaign.own, campaign.store, keys, told, _drift(campaign, made))
    conditions, gained, verdict = release_conditions(policy, held)
    return conditions, {
        "candidate": {"name": made.name, "weights_digest": made.weights_digest},
        "sealed": sealed_json(held, gained, _each(policy, held)),
        "families": families(policy, held.open, past["curate"]["by_family"]),
        "verdict": _told(verdict),
        "drift": {"kl": estimate_json(held.drift), "limit": policy.drift.max_kl if policy.drift else None},
        "leaks": held.leaks,
        "unauditable": held.unauditable,
        "runs": {"baseline": keys.baseline, "folds": list(keys.folds), "candidate": keys.candidate},
    }


def budget_of(policy: Policy) -> int | None:
    """Looks at sealed samples that the policy allows."""
    sealed = sealed_policy(policy).sealed
    return sealed.looks if sealed else None


def _unauditable(campaign: Campaign, index: Index) -> float:
    """Share of the measured samples of trained suites that the audit cannot find."""
    beyond = set(index.unauditable)
    judged = [(name, s.id) for name, suite in campaign.suites.items() for s in suite.samples if s.role in MEASURED]
    return round(sum(one in beyond for one in judged) / max(1, len(judged)), 4)


def _each(policy: Policy, held: Released) -> dict[str, Gain]:
    """The sealed gain of each suite alone."""
    budgeted = sealed_policy(policy)
    return {suite: gain(budgeted, {suite: pair}, Role.SEALED, held.looks) for suite, pair in held.sealed.items()}


def _told(verdict: Verdict) -> dict[str, Json]:
    """The verdict as the gate tells it, without its time, which says nothing here."""
    return {key: value for key, value in to_json(verdict).items() if key != "created"}


def _drift(campaign: Campaign, made: Checkpoint) -> Estimate | None:
    campaign.measuring.release()
    prompts: list[tuple[str, tuple[Message, ...]]] = []
    for suite in campaign.suites.values():
        dev = [sample for sample in suite.samples if sample.role is Role.DEV]
        prompts += [(sample.cluster, (*suite.prefix, *sample.messages)) for sample in dev[:DRIFT_PROMPTS]]
    folder = campaign.folder / "models" / "final"
    return campaign.stages.drift(campaign.start, folder, prompts, DRIFT_TOKENS) if prompts else None


def _closed(campaign: Campaign, record: Mapping[str, Json]) -> dict[str, Json]:
    """The record, chained; a promotion is kept beside its checkpoint."""
    whole = chained(campaign.store, record)
    if whole["status"] == "promoted":
        promote(campaign.store, whole)
    return whole
