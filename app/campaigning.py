"""From the options of `train-on-failures` to its campaigns, one after another."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evalctl.policy import Policy, load_policy, parse_policy
from evalctl.store import Store
from evalctl.types import Json
from suites.load import find_folder
from suites.schema import read_suite_form
from training.campaign import Wanted, train_on_failures
from training.settings import STAGES

from .present import Display
from .running import checkpoint_of

GUARD = "arithmetic"
"""The suite that comes along with replay samples: what a promotion without a policy is guarded by."""
DEFAULT_POLICY = """\
version: 1
defaults: {{roles: [bench, replay]}}
suites: {{{suites}}}
groups: {{trained: [{trained}]}}
require_groups: 1
"""


@dataclass(frozen=True)
class Asked:
    """What a person asked for, as the options name it."""

    reference: str
    suites: tuple[str, ...]
    name: str | None = None
    policy: Path | None = None
    rounds: int = 1
    folds: int = 3
    stages: tuple[str, ...] = STAGES
    recipe: str = "demonstration"
    settings: str | None = None
    samples: int | None = None
    seed: int = 0
    resume: bool = False


def campaigns(asked: Asked, store: Store, display: Display) -> Iterator[Mapping[str, Json]]:
    """The record of each campaign as it ends: each round on what the one before promoted, none after another end."""
    policy = policy_of(asked.policy, asked.suites, display)
    wanted = Wanted(
        checkpoint=checkpoint_of(store, asked.reference, asked.name, display.say),
        suites=asked.suites,
        policy=policy,
        sizes={} if asked.samples is None else dict.fromkeys(asked.suites, asked.samples),
        folds=asked.folds,
        stages=asked.stages,
        recipe=asked.recipe,
        settings=asked.settings,
        seed=asked.seed,
    )
    for number in range(1, asked.rounds + 1):
        if asked.rounds > 1:
            display.say(f"round {number} of at most {asked.rounds}, on {wanted.checkpoint.name}", style="bold")
        record = train_on_failures(wanted, store, display, resume=asked.resume)
        yield record
        if record["status"] != "promoted":
            return
        promoted = checkpoint_of(store, record["candidate"]["name"], None, display.say)
        wanted = replace(wanted, checkpoint=promoted)


def policy_of(path: Path | None, suites: Sequence[str], display: Display) -> Policy:
    """The file's policy, else one that guards the trained suites and general ability with the usual margins."""
    if path is not None:
        return load_policy(path)
    trained = [read_suite_form(find_folder(suite) / "suite.yaml").name for suite in suites]
    judged = list(dict.fromkeys((*trained, GUARD)))
    named = ", ".join(f"{_quoted(name)}: {{}}" for name in judged)
    text = DEFAULT_POLICY.format(suites=named, trained=", ".join(map(_quoted, trained)))
    display.say(f"no --policy: {', '.join(judged)} must not fall by 0.05 or more, on bench and replay samples")
    return parse_policy(text, "the default policy")


def _quoted(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"
