"""A finished campaign's decision again, from its trials alone: all that `checkpoints promote` believes."""

import math
from collections.abc import Mapping
from pathlib import Path

from evalctl.digests import digest
from evalctl.errors import EvidenceError
from evalctl.models import checkpoint_for
from evalctl.policy import Policy
from evalctl.store import Store
from evalctl.store.files import read_json
from evalctl.types import Estimate, Json

from .decide import Keys, budget_of, released
from .errors import PromotionRefused
from .evidence import pool_pairs
from .lineage import find_record, promote
from .promote import Condition, crossfit_conditions, outcome, release_conditions


def replay(store: Store, campaign: str) -> dict[str, Json]:
    """Promote what a campaign found worth it: only a record in which every condition held, and holds again.

    Raises PromotionRefused for a record that was not promoted, EvidenceError where the trials no longer say what
    the record says or the weights are not those that were judged.
    """
    folder, record = find_record(store, campaign)
    if record["status"] != "promoted":
        raise PromotionRefused(f"campaign {record['id']} was {record['status']}: {record['reason']}")
    conditions = recompute(store, folder, record)
    if outcome(conditions)["status"] != "promoted":
        raise EvidenceError(f"campaign {record['id']}: its trials no longer say so: {outcome(conditions)['reason']}")
    made = checkpoint_for(str(folder / "models" / "final"), record["candidate"]["name"])
    if made.weights_digest != record["candidate"]["weights_digest"]:
        raise EvidenceError(f"{folder / 'models' / 'final'}: these are not the weights that were judged")
    saved = store.checkpoints.get(made.name)
    if saved is None or saved.weights_digest != made.weights_digest:
        raise EvidenceError(
            f"checkpoint {made.name!r} is not in {store.home}; `evalctl store check` says what else is not"
        )
    promote(store, record)
    return record


def recompute(store: Store, folder: Path, record: Mapping[str, Json]) -> list[Condition]:
    """Every condition of a record, from the policy and folds that were fixed first and the trials alone."""
    begun = read_json(folder / "campaign.json")
    policy = Policy.model_validate(begun["policy"])
    if policy.digest != record["policy_digest"] or digest(begun["folds"]) != record["digests"]["folds"]:
        raise EvidenceError(f"{folder / 'campaign.json'}: policy or folds are not those that the record was decided by")
    runs, own = record["runs"], Store(folder)
    keys = Keys(runs["baseline"], runs["folds"], runs["candidate"])
    pool = pool_pairs(own, keys.baseline["pool"], keys.folds)
    conditions, _, _ = crossfit_conditions(policy, pool, begun["folds"])
    if not keys.candidate:
        return conditions
    told = {
        "budget": budget_of(policy),
        "policy_suites": list(policy.suites),
        "leaks": record["leaks"],
        "unauditable": record["unauditable"],
        "names": [record["checkpoint"]["name"], record["candidate"]["name"]],
    }
    held = released(own, store, keys, told, _estimate(record["drift"]["kl"]))
    return conditions + release_conditions(policy, held)[0]


def _estimate(told: Mapping[str, Json] | None) -> Estimate | None:
    if told is None:
        return None
    low, high = (
        math.copysign(math.inf, sign) if told[end] is None else told[end] for end, sign in (("low", -1), ("high", 1))
    )
    return Estimate(told["value"], low, high, told["n"], told["clusters"])
