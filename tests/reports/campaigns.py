"""Campaign records for the tests of pages, as a campaign writes them."""

from evalctl.types import Json

CONDITIONS = (
    "cross-fit gain",
    "no fold worse",
    "sealed gain",
    "groups agree",
    "suites non-inferior",
    "replay non-inferior",
    "drift within limit",
    "audit clean",
    "invalid trials",
)


def figure(value: float, half: float = 0.1, n: int = 40) -> dict[str, Json]:
    return {"value": value, "low": value - half, "high": value + half, "n": n, "clusters": n // 2}


def pair(baseline: float, gain: float) -> dict[str, Json]:
    return {"baseline": figure(baseline), "candidate": figure(baseline + gain), "difference": figure(gain)}


def conditions(failing: str | None = None) -> list[dict[str, Json]]:
    """All held up to `failing`, which is not; those after it not judged."""
    at = CONDITIONS.index(failing) if failing else len(CONDITIONS)
    held = [True if i < at else False if i == at else None for i in range(len(CONDITIONS))]
    return [
        {"name": name, "held": ok, "text": f"figure of {name}", "figure": None}
        for name, ok in zip(CONDITIONS, held, strict=True)
    ]


def stage(kind: str, fold: int | None) -> dict[str, Json]:
    figures = {"first_loss": 2.31, "last_loss": 0.25}
    return {
        "stage": kind,
        "fold": fold,
        "steps": 20,
        "rows": 120,
        "trained_tokens": 3000,
        "left_out": {"too long": 2},
        "figures": figures,
        "weights_digest": "d1",
    }


def record(**changes: Json) -> dict[str, Json]:
    """A campaign that was promoted."""
    made: dict[str, Json] = {
        "schema": 1,
        "id": "a1b2c3d4e5f6",
        "status": "promoted",
        "exit": 0,
        "created": "2026-03-02T10:00:00+00:00",
        "seconds": 812.0,
        "reason": "all 9 conditions hold",
        "checkpoint": {"name": "base", "weights_digest": "w-base"},
        "candidate": {"name": "base-a1b2c3d4", "weights_digest": "w-trained"},
        "suites": ["tooluse"],
        "policy_digest": "p0",
        "settings": {"name": "small"},
        "recipe": "demonstration",
        "stages": ["sft", "rlvr"],
        "folds": 3,
        "seed": 0,
        "sabotage": None,
        "screened": {"tooluse": {"passed": 24, "failed": {"format": 20, "wrong": 40}, "left_out": {"infra_error": 1}}},
        "data": {
            "rows": 180,
            "digest": "d0",
            "dropped": {"duplicate": 3},
            "by_family": {"tooluse": {"list": 100, "no_call": 80}},
            "by_kind": {"wrong": 150, "kept": 30},
        },
        "stage_results": [*(stage("sft", fold) for fold in range(3)), stage("sft", None), stage("rlvr", None)],
        "skipped": {},
        "base": {"tooluse": figure(0.3, n=84)},
        "crossfit": {
            "difference": figure(0.412),
            "low": 0.312,
            "alpha": 0.05,
            "folds": [{"fold": fold, "clusters": 28, "high": 0.5, **pair(0.3, 0.4)} for fold in range(3)],
        },
        "sealed": {
            "tooluse": {**pair(0.31, 0.35), "low": 0.25, "alpha": 0.0025, "look": {"number": 1, "budget": 20}},
        },
        "families": [
            {"suite": "tooluse", "role": "bench", "family": "list", "trained": True, **pair(0.2, 0.5)},
            {"suite": "arithmetic", "role": "replay", "family": "tens", "trained": False, **pair(0.8, -0.04)},
        ],
        "drift": {"kl": figure(0.2), "limit": 0.5},
        "conditions": conditions(),
        "digests": {"template": "t0", "verifiers": {"tooluse": "v0"}},
        "chain": "c0",
        "parent_chain": None,
        "runs": {},
    }
    return made | changes


def refused() -> dict[str, Json]:
    """Refused by its folds: nothing was released."""
    return record(
        status="refused",
        exit=1,
        reason="cross-fit gain: -0.024, lower bound -0.095",
        candidate=None,
        sealed={},
        families=[],
        conditions=conditions("cross-fit gain"),
        stage_results=[stage("sft", fold) for fold in range(3)],
        sabotage="shuffled-answers",
    )


def progress(**changes: Json) -> dict[str, Json]:
    """In the second fold."""
    made: dict[str, Json] = {
        "step": "cross-fit: train without each fold, measure it",
        "number": 5,
        "of": 7,
        "stage": "sft fold-1",
        "fold": 1,
        "done": 12,
        "total": 40,
        "left_seconds": 80.0,
        "began": "2026-03-03T09:00:00+00:00",
        "updated": "2026-03-03T09:06:00+00:00",
        "pid": 123,
    }
    return made | changes


def begun(**changes: Json) -> dict[str, Json]:
    """`campaign.json`: what stands there before anything is run."""
    made: dict[str, Json] = {
        "schema": 1,
        "id": "0f0f0f0f0f0f",
        "created": "2026-03-03T09:00:00+00:00",
        "checkpoint": {"name": "base", "weights_digest": "w-base"},
        "identity": {"trained": ["tooluse"], "sabotage": None},
    }
    return made | changes


def unfinished(status: str = "running", **changes: Json) -> dict[str, Json]:
    """What a reader of the store makes of `begun` and `progress`."""
    known = begun()
    return {
        **{key: known[key] for key in ("id", "created", "checkpoint")},
        "status": status,
        "suites": ["tooluse"],
        "progress": progress(**changes),
    }
