"""The demo: a real small model, a damaged variant and a copy, evaluated and gated on this machine.

Nothing here knows what the answer should be: the same runs, policy and gate as for any checkpoint
decide, and what they say is what is printed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from evalctl.errors import EvalctlError, EvidenceError
from evalctl.gate.from_store import Gated, gate
from evalctl.gate.verdict import Decision
from evalctl.models import convert
from evalctl.models.damage import damaged_copy, identical_copy
from evalctl.policy import load_policy
from evalctl.store import Store
from evalctl.store.resolve import resolve
from evalctl.types import Role
from reports import html

from .files import write
from .gather import gather
from .present import Display
from .running import RunRequest, run_all

BASELINE = "demo"
"""The pinned runs of the undamaged model, as `baseline:demo`."""
HEAD = """\
# The demo's policy: what `evalctl gate` demanded of the variants. Change a margin and gate again.
version: 1
defaults: {tier: critical, max_drop: 0.10, alpha: 0.05, roles: [bench, replay]}
suites:
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
    parts: tuple[Part, ...]

    @property
    def policy(self) -> str:
        """The text of the policy file."""
        return HEAD + "".join(f"  {part.name}: {part.rules}\n" for part in self.parts)

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
    (
        # Sized for two cores: margins of 0.10 are resolved, and no more than that.
        Part("tooluse", 240),
        Part("arithmetic", 240),
        Part("terminal", 12, "{tier: advisory}     # shown, never decides: so few tasks cannot"),
    ),
)
QUICK = Cast("tiny-0.9m", 2, _tiny, (Part("arithmetic", 720),))


@dataclass(frozen=True)
class Told:
    """How the demo ended."""

    gates: tuple[Gated, ...]
    damaged: str
    report: Path
    policy: Path

    @property
    def exit(self) -> int:
        """4 where a verdict is INVALID; else 0: a REGRESSED variant is a finding, not a failure of the demo."""
        return 4 if any(one.verdict.decision is Decision.INVALID for one in self.gates) else 0

    def next_steps(self) -> list[str]:
        """What to look at next, each a line that runs as it stands."""
        return [
            f"The report: {self.report}",
            "Look next at:",
            f"  evalctl compare baseline:{BASELINE} {self.damaged}     the samples that flipped",
            f"  evalctl gate --policy {self.policy} --baseline baseline:{BASELINE} --candidate {self.damaged}",
            f"  evalctl plan --policy {self.policy} --baseline baseline:{BASELINE}     what these sizes can resolve",
            "  evalctl runs list     every run, and evalctl app for the dashboard",
        ]


def run_demo(cast: Cast, display: Display) -> Told:
    """Make the checkpoints, run the suites on each, gate both variants, write the report."""
    store = Store.open()
    models = store.home / "models"
    display.step(1, 5, f"make {cast.base}, a variant rounded to {cast.bits} bits, and an identical copy")
    base = cast.make(models / cast.base)
    damaged = damaged_copy(base, models / f"{cast.base}-{cast.bits}bit", cast.bits)
    copy = identical_copy(base, models / f"{cast.base}-copy")
    display.step(2, 5, f"run {cast.names} on {base.name}")
    _runs(cast, base, 0, display)
    store.baselines.set(BASELINE, base.name, resolve(store, base.name).runs)
    display.step(3, 5, f"run them on {damaged.name}")
    _runs(cast, damaged, 0, display)
    # The copy has the model's own weights: only a replicate of its own makes its trials fresh.
    display.step(4, 5, f"run them on {copy.name}, afresh")
    _runs(cast, copy, 1, display)
    display.step(5, 5, "gate both variants against the model, and write the report")
    policy = store.home / "reports" / "demo-policy.yaml"
    write(policy, cast.policy)
    gates = tuple(gate(store, load_policy(policy), f"baseline:{BASELINE}", each.name) for each in (copy, damaged))
    report = store.home / "reports" / "demo.html"
    page = gather(store, f"baseline:{BASELINE}", damaged.name)
    write(report, html.page(page, datetime.now(UTC).isoformat(timespec="seconds")))
    return Told(gates, damaged.name, report, policy)


def _runs(cast: Cast, folder: Path, replicate: int, display: Display) -> None:
    """The suites on one checkpoint; what was interrupted goes on, what is there is kept."""
    sizes = {part.name: part.samples for part in cast.parts}
    request = RunRequest(str(folder), sizes=sizes, roles=ROLES, replicate=replicate, resume=True)
    for outcome in run_all(sizes, request, display):
        if isinstance(outcome, EvalctlError):
            raise EvidenceError(f"the demo cannot go on: {outcome}") from outcome
