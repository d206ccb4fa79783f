"""The demo: a real small model, trained on its failures; a damaged variant and a copy; all gated on this machine.

Nothing here knows what the answer should be: the same runs, policy, campaign and gate as for any checkpoint
decide, and what they say is what is printed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from evalctl.errors import EvalctlError, EvidenceError
from evalctl.gate.from_store import Gated, gate
from evalctl.gate.verdict import Decision
from evalctl.models import convert
from evalctl.models.damage import damaged_copy, identical_copy
from evalctl.policy import load_policy, parse_policy
from evalctl.store import Store
from evalctl.store.resolve import resolve
from evalctl.types import Json, Role
from reports import html

from .files import write
from .gather import gather
from .present import Display
from .running import RunRequest, checkpoint_of, run_all

GROUPS = "groups: {{trained: [{trained}]}}\nrequire_groups: 1\n"
BASELINE = "demo"
"""The pinned runs of the undamaged model, as `baseline:demo`."""
POLICY = """\
# The demo's policy: what promotion and `evalctl gate` demanded. Change a margin and gate again.
version: 1
defaults: {{tier: critical, max_drop: 0.10, alpha: 0.05, roles: [bench, replay]}}
suites:
{suites}
{groups}sealed: {{looks: 5}}
drift: {{max_kl: {max_kl:g}}}
"""
ROLES = frozenset({Role.BENCH, Role.REPLAY})
"""What the demo runs and gates: held-out samples and general ability. Pool samples feed training."""


@dataclass(frozen=True)
class Part:
    """One suite of a demo: how many samples of it, and its line in the policy."""

    name: str
    samples: int
    rules: str = "{}"


@dataclass(frozen=True)
class Cast:
    """The checkpoints of a demo and the suites they run."""

    base: str
    bits: int
    """Bits the damaged variant's weights are rounded to."""
    make: Callable[[Path], Path]
    trained: str
    """The suite it is trained for."""
    max_kl: float
    """Nats a token that training may move it from its parent, on dev prompts."""
    parts: tuple[Part, ...]
    grouped: bool = True
    """Whether the trained suite must also gain on bench samples; one without any cannot. The quick demo's policy was
    set after a first run that it refused (docs/training.md): its promotion is no result."""

    @property
    def policy(self) -> str:
        """The text of the policy file."""
        suites = "\n".join(f"  {part.name}: {part.rules}" for part in self.parts)
        groups = GROUPS.format(trained=self.trained) if self.grouped else ""
        return POLICY.format(suites=suites, groups=groups, max_kl=self.max_kl)

    @property
    def sizes(self) -> dict[str, int]:
        """Samples by suite."""
        return {part.name: part.samples for part in self.parts}

    @property
    def names(self) -> str:
        """The suites, as a person reads them."""
        return ", ".join(part.name for part in self.parts)


def _tiny(target: Path) -> Path:
    from training.tiny import tiny_model

    return tiny_model(target)


SMOLLM2 = Cast(
    "smollm2-135m",
    4,
    convert.demo_model,
    "tooluse",
    3.0,
    (
        # Sized for two cores: margins of 0.10 are resolved, and no more than that.
        Part("tooluse", 240),
        Part("arithmetic", 240),
        Part("terminal", 12, "{tier: advisory}     # shown, never decides: so few tasks cannot"),
    ),
)
QUICK = Cast("tiny-0.9m", 2, _tiny, "arithmetic", 6.0, (Part("arithmetic", 480),), grouped=False)


@dataclass(frozen=True)
class Told:
    """How the demo ended."""

    campaign: Mapping[str, Json]
    gates: tuple[Gated, ...]
    names: Mapping[str, str]
    """`damaged`, and `trained` where the campaign made a checkpoint."""
    report: Path
    policy: Path

    @property
    def exit(self) -> int:
        """The campaign's; 4 where a verdict is INVALID. A REGRESSED variant is a finding, not a failure of the demo."""
        invalid = any(one.verdict.decision is Decision.INVALID for one in self.gates)
        return 4 if invalid else int(self.campaign["exit"])

    def next_steps(self) -> list[str]:
        """What to look at next, each a line that runs as it stands."""
        base = f"baseline:{BASELINE}"
        shown = self.names.get("trained", self.names["damaged"])
        return [
            f"The report: {self.report}",
            "Look next at:",
            f"  evalctl compare {base} {shown}     the samples that flipped",
            f"  evalctl gate --policy {self.policy} --baseline {base} --candidate {self.names['damaged']}",
            f"  evalctl plan --policy {self.policy} --baseline {base}     what these sizes can resolve",
            f"  evalctl checkpoints promote {self.campaign['id']}     the decision again, from its trials",
            "  evalctl runs list     every run, and evalctl app for the dashboard",
        ]


def run_demo(cast: Cast, display: Display, sabotage: str | None = None) -> Told:
    """Make the checkpoints, run the suites, train on the failures, gate everything, write the report."""
    store = Store.open()
    models = store.home / "models"
    say = _numbered(display, 6)
    say(f"make {cast.base}, a variant rounded to {cast.bits} bits, and an identical copy")
    base = cast.make(models / cast.base)
    damaged = damaged_copy(base, models / f"{cast.base}-{cast.bits}bit", cast.bits)
    copy = identical_copy(base, models / f"{cast.base}-copy")
    say(f"run {cast.names} on {base.name}")
    _runs(cast, base, 0, display)
    store.baselines.set(BASELINE, base.name, resolve(store, base.name).runs)
    policy = store.home / "reports" / "demo-policy.yaml"
    write(policy, cast.policy)
    say(f"train {base.name} on its failures in {cast.trained}")
    campaign = _trained(cast, store, base, display, sabotage)
    say(f"run {cast.names} on {damaged.name}")
    _runs(cast, damaged, 0, display)
    # The copy has the model's own weights: only a replicate of its own makes its trials fresh.
    say(f"run them on {copy.name}, afresh")
    _runs(cast, copy, 1, display)
    say("gate all against the model, and write the report")
    names = {"copy": copy.name, "damaged": damaged.name}
    if campaign["candidate"]:
        names["trained"] = campaign["candidate"]["name"]
    gates = tuple(gate(store, load_policy(policy), f"baseline:{BASELINE}", name) for name in names.values())
    report = store.home / "reports" / "demo.html"
    page = gather(store, f"baseline:{BASELINE}", names.get("trained", damaged.name))
    write(report, html.page(page, datetime.now(UTC).isoformat(timespec="seconds")))
    return Told(campaign, gates, names, report, policy)


def _trained(cast: Cast, store: Store, base: Path, display: Display, sabotage: str | None) -> Mapping[str, Json]:
    """The campaign's record; what was interrupted goes on."""
    from training.campaign import Wanted, train_on_failures

    wanted = Wanted(
        checkpoint=checkpoint_of(store, str(base), base.name, display.say),
        suites=(cast.trained,),
        policy=parse_policy(cast.policy),
        sizes=cast.sizes,
        sabotage=sabotage,
    )
    return train_on_failures(wanted, store, display, resume=True)


def _numbered(display: Display, of: int) -> Callable[[str], None]:
    """Says each part of the demo with its number."""
    numbers = iter(range(1, of + 1))
    return lambda text: display.say(f"part {next(numbers)} of {of}: {text}", style="bold")


def _runs(cast: Cast, folder: Path, replicate: int, display: Display) -> None:
    """The suites on one checkpoint; what was interrupted goes on, what is there is kept."""
    request = RunRequest(str(folder), sizes=cast.sizes, roles=ROLES, replicate=replicate, resume=True)
    for outcome in run_all(cast.sizes, request, display):
        if isinstance(outcome, EvalctlError):
            raise EvidenceError(f"the demo cannot go on: {outcome}") from outcome
