"""The checkpoint that may be released: trained on the whole pool, stage by stage, and merged."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace

from evalctl.digests import digest
from evalctl.models import checkpoint_for
from evalctl.store.files import read_json, write_json
from evalctl.types import Checkpoint, Json, Message, Role

from .campaign import Campaign
from .curated import curated_rows
from .errors import NothingToLearn
from .gains import Gain, Pair, gain
from .measure import in_roles, replicate_of
from .rows import Row
from .staged import Stage, train

PARITY_PROMPTS = 8


def final(campaign: Campaign, past: Mapping[str, Json]) -> dict[str, Json]:
    """SFT on the whole pool, then RLVR where the SFT gain on `dev` is resolved; the last stage is merged."""
    fitted = past["cross-fit"]
    if "skipped" in fitted:
        return {"skipped": fitted["skipped"]}
    if not fitted["held"]:
        return {"skipped": "the recipe did not hold on its folds, so there is nothing to release"}
    rows = curated_rows(campaign, past["curate"]["digest"])
    seed = int(digest([campaign.wanted.seed, "final"])[:7], 16)
    model, told = train(campaign, Stage("sft", "final", campaign.start), rows, seed)
    stages, skipped, last = [told], {}, "final-sft"
    if "rlvr" in campaign.wanted.stages:
        found = dev_gain(campaign, model)
        if not found.resolved:
            skipped["rlvr"] = f"the SFT gain on dev is not resolved: {found.told()}"
        else:
            try:
                start = campaign.folder / "models" / last
                model, told = train(campaign, Stage("rlvr", "final", start), rows, seed)
                stages.append(told)
                last = "final-rlvr"
            except NothingToLearn as error:
                skipped["rlvr"] = str(error)
    parity = _merged(campaign, last, rows)
    return {"stages": stages, "skipped_stages": skipped, "last": last, "parity": parity}


def dev_gain(campaign: Campaign, model: Checkpoint) -> Gain:
    """The gain of a stage on `dev`, which chooses and is never a result."""
    found = {}
    for name, suite in campaign.suites.items():
        held = in_roles(suite, Role.DEV)
        if held is None:
            continue
        runs = [
            campaign.measuring.run(campaign.own, held, checkpoint, replicate_of(campaign.id, "dev"))
            for checkpoint in (campaign.wanted.checkpoint, model)
        ]
        found[name] = Pair(*runs)
    return gain(campaign.wanted.policy, found, Role.DEV)


def candidate(campaign: Campaign) -> Checkpoint:
    """The merged checkpoint, with the incumbent as its parent."""
    made = checkpoint_for(campaign.stages.reference(campaign.folder / "models" / "final"), campaign.candidate_name())
    return replace(made, parent=campaign.wanted.checkpoint.weights_digest)


def _merged(campaign: Campaign, last: str, rows: Sequence[Row]) -> dict[str, Json]:
    """Merge the last stage's adapter; parity and change are asserted before anything of it is measured."""
    models = campaign.folder / "models"
    kept, target = models / "final.json", models / "final"
    if not kept.is_file():
        campaign.measuring.release()
        shutil.rmtree(target, ignore_errors=True)
        prompts: list[tuple[Message, ...]] = [row.prompt for row in rows[:PARITY_PROMPTS]]
        write_json(kept, dict(campaign.stages.merge(models / last, target, prompts)))
    return read_json(kept)
