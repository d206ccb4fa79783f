"""The runs that a campaign is decided on: measured by steps, read back by key, by the decision and by its replay."""

from collections.abc import Mapping, Sequence

from evalctl.store import Store
from evalctl.types import PLAIN_ROLES, Checkpoint, Json, Role

from .campaign import Campaign
from .gains import Pair
from .measure import in_roles, joined, replicate_of

OPEN = PLAIN_ROLES - {Role.POOL}
"""Bench and replay: what anyone may look at, and training never sees."""


def measured(campaign: Campaign, checkpoint: Checkpoint, own: Sequence[Role]) -> dict[str, Json]:
    """Role to suite to run key: `own` roles of the trained suites in the campaign's store, `open` ones of all in the
    main store, where a gate finds them."""
    keys: dict[str, dict[str, str]] = {}
    for role in own:
        keys[str(role)] = {}
        for name, suite in campaign.suites.items():
            held = in_roles(suite, role)
            assert held is not None, "a campaign refuses suites without pool or sealed samples when it is made"
            run = campaign.measuring.run(campaign.own, held, checkpoint, replicate_of(campaign.id, str(role)))
            keys[str(role)][name] = run.record.key
    keys["open"] = {}
    for name, suite in campaign.judged.items():
        held = in_roles(suite, *sorted(OPEN))
        if held is not None:
            run = campaign.measuring.run(campaign.store, held, checkpoint, replicate_of(campaign.id, "open"))
            keys["open"][name] = run.record.key
    return dict(keys)


def pairs(store: Store, baseline: Mapping[str, str], candidate: Mapping[str, str]) -> dict[str, Pair]:
    """Suite to both sides, for the suites that both have."""
    return {
        suite: Pair(store.load(baseline[suite]), store.load(candidate[suite]))
        for suite in baseline
        if suite in candidate
    }


def pool_pairs(store: Store, baseline: Mapping[str, str], folds: Sequence[Mapping[str, str]]) -> dict[str, Pair]:
    """Suite to the incumbent's pool run and the fold models', each on its own held-out fold."""
    return {
        suite: Pair(
            store.load(key), joined({fold: store.load(keys[suite]) for fold, keys in enumerate(folds) if suite in keys})
        )
        for suite, key in baseline.items()
    }
