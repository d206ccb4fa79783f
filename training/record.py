"""The record's parts as JSON: what reports read, and what a promotion is replayed from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

import pandas as pd

from evalctl.digests import digest
from evalctl.gate.verdict_json import estimate_json, finite
from evalctl.identity import scorer_digest
from evalctl.stats.summary import summary
from evalctl.types import Json, Run

from .campaign import Campaign
from .gains import Gain, Pair
from .promote import Condition, Released


def heading(campaign: Campaign, past: Mapping[str, Json]) -> dict[str, Json]:
    """Everything that stands before the figures."""
    wanted, curated = campaign.wanted, past["curate"]
    stages = [*past["cross-fit"].get("stages", ()), *past["final"].get("stages", ())]
    return {
        "schema": 1,
        "id": campaign.id,
        "checkpoint": {"name": wanted.checkpoint.name, "weights_digest": wanted.checkpoint.weights_digest},
        "candidate": None,
        "suites": list(campaign.suites),
        "policy_digest": wanted.policy.digest,
        "settings": asdict(campaign.settings),
        "recipe": wanted.recipe,
        "stages": list(wanted.stages),
        "folds": wanted.folds,
        "seed": wanted.seed,
        "sabotage": wanted.sabotage,
        "screened": {name: _counted(one) for name, one in past["screen"]["suites"].items()},
        "data": {key: curated[key] for key in ("rows", "digest", "dropped", "by_family", "by_kind") if key in curated},
        "stage_results": stages,
        "skipped": past["final"].get("skipped_stages", {}),
        "parity": past["final"].get("parity"),
        "base": _base(campaign, past["baseline"]),
        "digests": {
            "folds": digest(campaign.folds),
            "template": campaign.stages.template_digest(campaign.start),
            "verifiers": {name: scorer_digest(suite.scorer) for name, suite in campaign.suites.items()},
        },
    }


def conditions_json(conditions: Sequence[Condition]) -> list[dict[str, Json]]:
    """In order."""
    return [
        {"name": one.name, "held": one.held, "text": one.text, "figure": estimate_json(one.figure)}
        for one in conditions
    ]


def folds_json(
    pool: Mapping[str, Pair], folds: Mapping[str, Mapping[str, int]], whole: Gain, parts: Mapping[int, Gain]
) -> dict[str, Json]:
    """The pooled cross-fitted gain, and each fold's."""
    rows = []
    for fold, part in parts.items():
        sides = [_fold_mean(pool, folds, fold, side) for side in ("baseline", "candidate")]
        rows.append(
            {
                "fold": fold,
                "clusters": part.evidence.count,
                "baseline": sides[0],
                "candidate": sides[1],
                "difference": estimate_json(part.estimate),
                "high": finite(part.evidence.high(part.alpha)),
            }
        )
    return {
        "baseline": _mean(pair.baseline.trials for pair in pool.values()),
        "candidate": _mean(pair.candidate.trials for pair in pool.values()),
        "difference": estimate_json(whole.estimate),
        "low": finite(whole.low),
        "alpha": whole.alpha,
        "folds": rows,
    }


def sealed_json(held: Released, gained: Gain, each: Mapping[str, Gain]) -> dict[str, Json]:
    """By suite, with the look it cost; `each` holds the gain of each suite alone."""
    found: dict[str, Json] = {}
    for suite, pair in held.sealed.items():
        look = held.looks[suite]
        found[suite] = {"alpha": gained.alpha, "look": {"number": look.number, "budget": look.budget}}
        if not look.refused:
            found[suite] |= {
                "baseline": estimate_json(summary(pair.baseline.trials)),
                "candidate": estimate_json(summary(pair.candidate.trials)),
                "difference": estimate_json(each[suite].estimate),
                "low": finite(each[suite].low),
            }
    return found


def _counted(one: Mapping[str, Json]) -> dict[str, Json]:
    def by_value(named: Mapping[str, str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for value in named.values():
            found[value] = found.get(value, 0) + 1
        return found

    return {"passed": len(one["passed"]), "failed": by_value(one["failed"]), "left_out": by_value(one["left_out"])}


def _base(campaign: Campaign, baseline: Mapping[str, Json]) -> dict[str, Json]:
    """The incumbent's fresh score on the pool."""
    keys = baseline.get("pool", {})
    return {suite: estimate_json(summary(campaign.own.load(key).trials)) for suite, key in keys.items()}


def _fold_mean(
    pool: Mapping[str, Pair], folds: Mapping[str, Mapping[str, int]], fold: int, side: str
) -> dict[str, Json] | None:
    """Mean of one side over a fold, all trained suites together."""
    kept = []
    for suite, pair in pool.items():
        run: Run = getattr(pair, side)
        wanted = {cluster for cluster, number in folds[suite].items() if number == fold}
        kept.append(run.trials[run.trials["cluster"].isin(wanted)])
    return _mean(kept)


def _mean(frames: Iterable[pd.DataFrame]) -> dict[str, Json] | None:
    """Of several suites' trials together; None where there are none."""
    frame = pd.concat(list(frames), ignore_index=True)
    return estimate_json(summary(frame)) if len(frame) else None
