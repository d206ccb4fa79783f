"""One `train-on-failures`: its identity, its folder, and the plain list of steps. Resume lives only here.

A campaign's id is the digest of everything that could change its outcome, so the same command finds the same
campaign. Each step leaves one artifact, `N-name.json`, with the digest of what it was made from: a step whose
artifact is there is not done again, and one whose inputs have changed since is refused.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from evalctl.digests import digest
from evalctl.errors import EvidenceError, UsageError
from evalctl.gate.decide import FEWEST
from evalctl.lookup import find
from evalctl.policy import Policy
from evalctl.splits import draw_folds, strata_of
from evalctl.store import Store
from evalctl.store.files import locked, make_folder, read_json, write_json
from evalctl.types import Checkpoint, Json, Role, Suite
from suites import load_suite

from .gains import alpha_sealed
from .lineage import chain_of
from .measure import Measuring
from .progress import CampaignWatch, Progress
from .settings import STAGES, Settings, settings_for
from .stages import Stages

RECORD = "record.json"


@dataclass(frozen=True)
class Wanted:
    """What a person asked for."""

    checkpoint: Checkpoint
    suites: tuple[str, ...]
    """Names or folders of what is trained for."""
    policy: Policy
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Samples by suite, where not the suite's own size."""
    folds: int = 3
    stages: tuple[str, ...] = STAGES
    recipe: str = "demonstration"
    settings: str | None = None
    seed: int = 0
    sabotage: str | None = None
    """What the demo spoils on purpose; only the step that spoils it reads this."""


@dataclass(frozen=True)
class Step:
    """One step: what it does with the artifacts of those before it."""

    name: str
    text: str
    run: Callable[["Campaign", Mapping[str, Json]], dict[str, Json]]


class Campaign:
    """Everything the steps share. Roles and folds are fixed here, before any failure is read."""

    def __init__(self, wanted: Wanted, store: Store, stages: Stages, watch: CampaignWatch) -> None:
        self.wanted = wanted
        self.store = store
        self.stages = stages
        _check(wanted)
        loaded = {name: load_suite(name, samples=wanted.sizes.get(name)) for name in wanted.suites}
        self.suites = {suite.name: suite for suite in loaded.values()}
        self.names = {suite.name: name for name, suite in loaded.items()}
        """Suite to the name or folder it was asked for by."""
        self.judged = dict(self.suites)
        """The trained suites and those of the policy."""
        for name in wanted.policy.suites:
            if name not in self.judged:
                self.judged[name] = load_suite(name, samples=wanted.sizes.get(name))
        self.start = Path(wanted.checkpoint.reference)
        self.settings: Settings = settings_for(stages.parameters(self.start), wanted.settings)
        self.id = digest(self.identity)[:12]
        self.folder = store.home / "campaigns" / self.id
        self.own = Store(self.folder)
        """Runs that belong to the campaign alone: the pool, the folds, dev and sealed."""
        self.progress = Progress(self.folder / "progress.json", watch)
        self.measuring = Measuring(self.progress)
        # A sign-flip test of n clusters cannot reach a level under 2 ** -n.
        fewest = max(FEWEST, math.ceil(-math.log2(alpha_sealed(wanted.policy, list(self.suites)))))
        self.folds = {name: _folds(suite, wanted.folds, self.id, fewest) for name, suite in self.suites.items()}

    @cached_property
    def identity(self) -> dict[str, Json]:
        """Everything that could change the outcome."""
        wanted = self.wanted
        return {
            "weights": wanted.checkpoint.weights_digest,
            "suites": {name: suite.digest for name, suite in self.judged.items()},
            "trained": list(self.suites),
            "policy": wanted.policy.digest,
            "folds": wanted.folds,
            "stages": list(wanted.stages),
            "recipe": wanted.recipe,
            "settings": asdict(self.settings),
            "seed": wanted.seed,
            "sabotage": wanted.sabotage,
        }

    def candidate_name(self) -> str:
        """What the checkpoint it makes is called."""
        return f"{self.wanted.checkpoint.name}-{self.id[:8]}"


def train_on_failures(
    wanted: Wanted, store: Store, watch: CampaignWatch, *, resume: bool = False, stages: Stages | None = None
) -> dict[str, Json]:
    """Run the campaign and return its record; a finished one is returned as it is. Its exit status is `exit`.

    Raises UsageError where an interrupted campaign of exactly this is there and `resume` is not asked for.
    """
    from .local_stages import LocalStages
    from .pipeline import STEPS

    campaign = Campaign(wanted, store, stages or LocalStages(), watch)
    path = campaign.folder / RECORD
    if path.is_file():
        watch.say(f"campaign {campaign.id}: already there; another --seed makes a fresh one")
        return _read(path)
    begun = campaign.folder / "campaign.json"
    if begun.is_file() and not resume:
        raise UsageError(
            f"an interrupted campaign of exactly this is there ({campaign.id}); --resume goes on with it, "
            "another --seed makes a fresh one"
        )
    make_folder(campaign.folder)
    with locked(campaign.folder / "campaign.lock", f"campaign {campaign.id}", wait=1.0):
        if not begun.is_file():
            _begin(campaign, begun)
        return _go(campaign, STEPS)


def _begin(campaign: Campaign, path: Path) -> None:
    write_json(
        path,
        {
            "schema": 1,
            "id": campaign.id,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "checkpoint": asdict(campaign.wanted.checkpoint),
            "identity": campaign.identity,
            "policy": campaign.wanted.policy.model_dump(mode="json", exclude_unset=True),
            "names": campaign.names,
            "sizes": dict(campaign.wanted.sizes),
            "folds": campaign.folds,
        },
    )


def _go(campaign: Campaign, steps: "tuple[Step, ...]") -> dict[str, Json]:
    """Every step in order; what is there is read, what is not is done."""
    past: dict[str, Json] = {}
    spent = 0.0
    for number, step in enumerate(steps, 1):
        path = campaign.folder / f"{number}-{step.name}.json"
        inputs = digest([campaign.identity, campaign.folds, past])
        campaign.progress.step(number, len(steps), step.text)
        if path.is_file():
            kept = read_json(path)
            if kept.get("inputs") != inputs or kept.get("digest") != digest(kept.get("artifact")):
                raise EvidenceError(
                    f"{path}: was made from other data than is there now, so what follows it could not be believed; "
                    "a campaign is never mended by hand: start one with another --seed"
                )
        else:
            began = time.monotonic()
            made = step.run(campaign, past)
            kept = {"step": step.name, "inputs": inputs, "artifact": made, "digest": digest(made)}
            kept["seconds"] = round(time.monotonic() - began, 1)
            write_json(path, kept)
        past[step.name] = kept["artifact"]
        spent += float(kept["seconds"])
    record: dict[str, Json] = {
        **past[steps[-1].name],
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(spent, 1),
    }
    write_json(campaign.folder / RECORD, record)
    return record


def _read(path: Path) -> dict[str, Json]:
    """A record, as it was written. Raises EvidenceError where it was changed."""
    record = read_json(path)
    if record.get("chain") != chain_of(record):
        raise EvidenceError(f"{path}: changed after it was written (its chain does not match)")
    return record


def _check(wanted: Wanted) -> None:
    """Names and numbers that mean something."""
    find("recipes", wanted.recipe)
    unknown = [stage for stage in wanted.stages if stage not in STAGES]
    if unknown or not wanted.stages or wanted.stages[0] != "sft" or len(set(wanted.stages)) < len(wanted.stages):
        raise UsageError(f"--stages {','.join(wanted.stages)}: give sft, or sft,rlvr")
    if wanted.checkpoint.kind not in ("folder", "double"):
        raise UsageError(
            f"checkpoint {wanted.checkpoint.name!r} is {wanted.checkpoint.kind}: "
            "only weights in a folder can be trained"
        )
    if wanted.policy.anchor is not None:
        raise UsageError("the policy names an anchor, which a campaign does not judge; leave it to `evalctl gate`")
    if any(demand.sealed for demand in wanted.policy.demands):
        raise UsageError(
            "the policy reads sealed samples; a campaign reads them itself: remove `sealed` from its roles"
        )
    if any(demand.epochs > 1 for demand in wanted.policy.demands):
        raise UsageError("the policy demands epochs, and a campaign runs greedy, where one is all; remove `epochs`")
    if not wanted.suites:
        raise UsageError("no suite to train for; give --suite NAME")


def _folds(suite: Suite, folds: int, salt: str, fewest: int) -> dict[str, int]:
    """Cluster of the pool to its fold. Raises UsageError where the suite cannot carry a campaign."""
    pool = [sample for sample in suite.samples if sample.role is Role.POOL]
    if not pool:
        raise UsageError(f"suite {suite.name} has no pool samples: nothing of it may be trained on")
    if any(not sample.cluster for sample in suite.samples):
        raise UsageError(f"suite {suite.name}: a sample declares no cluster, so no fold can hold it; declare it")
    sealed = {sample.cluster for sample in suite.samples if sample.role is Role.SEALED}
    if len(sealed) < fewest:
        raise UsageError(
            f"suite {suite.name} has {len(sealed)} sealed clusters, and under {fewest} no gain could be told at "
            "the level that the budget of looks leaves; give it more samples, or the policy fewer looks"
        )
    try:
        drawn = draw_folds(strata_of(pool), folds, salt)
    except UsageError as error:
        raise UsageError(f"suite {suite.name}: {error}") from None
    if len(drawn) < FEWEST * folds:
        raise UsageError(
            f"suite {suite.name}: {len(drawn)} pool clusters in {folds} folds leave fewer than {FEWEST} in one, and "
            "nothing can be said of such a fold; take fewer folds or more samples"
        )
    return drawn
