"""Cross-fitting: for each fold, train on the other folds' failures and measure this one, all items of it."""

from collections.abc import Mapping, Sequence

from evalctl.digests import digest
from evalctl.errors import EvidenceError
from evalctl.types import Checkpoint, Json, Role, Suite

from .campaign import Campaign
from .curated import curated_rows
from .evidence import pool_pairs
from .measure import part, replicate_of
from .promote import crossfit_conditions
from .rows import Row
from .staged import Stage, train


def cross_fit(campaign: Campaign, past: Mapping[str, Json]) -> dict[str, Json]:
    """Fold models by SFT, each measured on the fold it has not seen."""
    if "stop" in past["curate"]:
        return {"skipped": past["curate"]["stop"]}
    rows = curated_rows(campaign, past["curate"]["digest"])
    stages: list[Json] = []
    runs: list[dict[str, str]] = []
    for fold in range(campaign.wanted.folds):
        learned = [row for row in rows if learns(campaign.folds, row, fold)]
        if not learned:
            return {"skipped": f"without fold {fold} there is no row left to train on", "stages": stages}
        model, told = train(
            campaign, Stage("sft", f"fold-{fold}", campaign.start, fold), learned, _seed(campaign, fold)
        )
        stages.append(told)
        campaign.progress.fold(fold)
        runs.append(_measured(campaign, fold, model, learned))
    artifact: dict[str, Json] = {"stages": stages, "runs": runs}
    pool = pool_pairs(campaign.own, past["baseline"]["pool"], runs)
    conditions, _, _ = crossfit_conditions(campaign.wanted.policy, pool, campaign.folds)
    return artifact | {"held": all(condition.held for condition in conditions)}


def learns(folds: Mapping[str, Mapping[str, int]], row: Row, held_out: int) -> bool:
    """Whether a row may be learned while a fold is held out: none of its parents' clusters lies in that fold."""
    return all(folds[row.suite][cluster] != held_out for cluster in row.clusters)


def _measured(campaign: Campaign, fold: int, model: Checkpoint, learned: Sequence[Row]) -> dict[str, str]:
    """Run keys by suite of a fold model on its fold."""
    keys = {}
    for name, suite in campaign.suites.items():
        held = _held_out(campaign, suite, fold)
        seen = {cluster for row in learned if row.suite == name for cluster in row.clusters}
        if overlap := seen & {sample.cluster for sample in held.samples}:
            raise EvidenceError(
                f"fold {fold}: {len(overlap)} measured clusters were trained on, first {min(overlap)!r}"
            )
        run = campaign.measuring.run(campaign.own, held, model, replicate_of(campaign.id, f"fold-{fold}"))
        keys[name] = run.record.key
    return keys


def _held_out(campaign: Campaign, suite: Suite, fold: int) -> Suite:
    places = campaign.folds[suite.name]
    return part(suite, (s for s in suite.samples if s.role is Role.POOL and places[s.cluster] == fold))


def _seed(campaign: Campaign, fold: int) -> int:
    return int(digest([campaign.wanted.seed, "fold", fold])[:7], 16)
