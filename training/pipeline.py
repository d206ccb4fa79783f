"""The seven steps of a campaign, in order. Each reads the artifacts before it and leaves one of its own."""

from collections.abc import Mapping

from evalctl.digests import digest
from evalctl.errors import EvidenceError, UsageError
from evalctl.lookup import find
from evalctl.types import Json, Role
from suites.load import generator_of

from .campaign import Campaign, Step
from .crossfit import cross_fit
from .curate import Curated, curate, shuffled_answers
from .curated import ROWS, index_of, shown
from .decide import decide
from .evidence import measured
from .failures import Screened, screen
from .final import final
from .measure import in_roles, replicate_of
from .preflight import preflight
from .recipes import Workshop
from .rows import Row, write_rows

SABOTAGES = ("shuffled-answers",)
"""What the demo can spoil: known here, where it is done, and nowhere else."""


def screened(campaign: Campaign, past: Mapping[str, Json]) -> dict[str, Json]:
    """The pool, run once to be read: which failures there are, and which were not the model's."""
    found = {}
    for name, suite in campaign.suites.items():
        pool = in_roles(suite, Role.POOL)
        assert pool is not None
        run = campaign.measuring.run(
            campaign.own, pool, campaign.wanted.checkpoint, replicate_of(campaign.id, "screen")
        )
        one = screen(run)
        found[name] = {"passed": list(one.passed), "failed": dict(one.failed), "left_out": dict(one.left_out)}
    failed = sum(len(one["failed"]) for one in found.values())
    lost = sum(len(one["left_out"]) for one in found.values())
    passed = sum(len(one["passed"]) for one in found.values())
    if not failed and not passed:
        raise EvidenceError(
            f"all {lost} pool trials were lost to the infrastructure or the verifier; nothing was learned"
        )
    artifact: dict[str, Json] = {"suites": found}
    if not failed:
        artifact["stop"] = f"no failures in {passed} pool samples: there is nothing to learn"
    return artifact


def baseline(campaign: Campaign, past: Mapping[str, Json]) -> dict[str, Json]:
    """Fresh trials of the incumbent, all items: a failure that is run again improves by luck alone."""
    if "stop" in past["screen"]:
        return {"skipped": past["screen"]["stop"]}
    return measured(campaign, campaign.wanted.checkpoint, (Role.POOL, Role.SEALED))


def curated(campaign: Campaign, past: Mapping[str, Json]) -> dict[str, Json]:
    """Failures to verified rows, audited against everything that is measured."""
    if "stop" in past["screen"]:
        return {"stop": past["screen"]["stop"]}
    recipe = find("recipes", campaign.wanted.recipe)
    index = index_of(campaign)
    rows: list[Row] = []
    dropped: dict[str, int] = {}
    for name in campaign.suites:
        told = past["screen"]["suites"][name]
        one = curate(
            _workshop(campaign, name),
            recipe,
            Screened(name, told["failed"], tuple(told["passed"]), told["left_out"]),
            index,
        )
        rows += one.rows
        for reason, count in one.dropped.items():
            dropped[reason] = dropped.get(reason, 0) + count
        _tell_leaks(campaign, one)
    if campaign.wanted.sabotage is not None:
        rows = _spoiled(campaign.wanted.sabotage, rows, campaign.wanted.seed)
    artifact: dict[str, Json] = {"rows": len(rows), "dropped": dropped, "by_family": {}, "by_kind": {}}
    for row in rows:
        families = artifact["by_family"].setdefault(row.suite, {})
        families[row.sample.family] = families.get(row.sample.family, 0) + 1
        artifact["by_kind"][row.kind] = artifact["by_kind"].get(row.kind, 0) + 1
    artifact["digest"] = write_rows(campaign.folder / ROWS, rows)
    if not rows:
        reasons = ", ".join(f"{count} {reason}" for reason, count in dropped.items()) or "the recipe made none"
        artifact["stop"] = f"no training row came of the failures ({reasons})"
    return artifact


def _workshop(campaign: Campaign, name: str) -> Workshop:
    suite = campaign.suites[name]
    return Workshop(
        suite=suite,
        generator=generator_of(campaign.names[name]),
        scorer=find("scorers", suite.scorer.name, f"suite {name}")(**suite.scorer.options),
        model=campaign.measuring.model(campaign.wanted.checkpoint, suite),
        seed=int(digest([campaign.wanted.seed, "curate"])[:7], 16),
        curation=campaign.settings.curation,
    )


def _tell_leaks(campaign: Campaign, made: Curated) -> None:
    if made.leaks:
        dropped = made.dropped.get("contaminated", 0)
        campaign.progress.say(f"dropped {dropped} rows that hold a measured sample's text: {shown(made.leaks[0])}")


def _spoiled(sabotage: str, rows: list[Row], seed: int) -> list[Row]:
    if sabotage not in SABOTAGES:
        raise UsageError(f"no sabotage {sabotage!r}; known: {', '.join(SABOTAGES)}")
    return shuffled_answers(rows, seed)


STEPS = (
    Step("preflight", "preflight: verifiers, template, roles, disk", preflight),
    Step("screen", "screen: the pool, to read its failures", screened),
    Step("baseline", "baseline: fresh trials of the incumbent", baseline),
    Step("curate", "curate: failures to verified rows, audited", curated),
    Step("cross-fit", "cross-fit: train without each fold, measure it", cross_fit),
    Step("final", "final: train on the whole pool", final),
    Step("decide", "decide: sealed, bench and replay", decide),
)
"""What a campaign does."""
