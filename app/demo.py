"""The demo: a real small model, a damaged variant and a copy, evaluated and gated on this machine.

Nothing here knows what the answer should be: the same runs, policy and gate as for any checkpoint
decide, and what they say is what is printed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from evalctl.errors import EvalctlError, EvidenceError
from evalctl.models.convert import demo_model
from evalctl.models.damage import damaged_copy, identical_copy
from evalctl.store import Store
from evalctl.types import Run
from evalctl.verdict import Decision, Verdict

from .gather import gather
from .gating import gate
from .present import Display
from .running import RunRequest, run_all

POLICY = """\
# The demo's policy: what `evalctl gate` demanded of the variants. Change a margin and gate again.
version: 1
defaults: {tier: critical, max_drop: 0.10, alpha: 0.05}
suites:
  tooluse: {}
  arithmetic: {}
  terminal: {tier: advisory}     # shown, never decides: 24 tasks are too few to decide on
"""


@dataclass(frozen=True)
class Cast:
    """The checkpoints of a demo and the suites they run."""

    base: str
    suites: tuple[str, ...]
    bits: int
    """Bits the damaged variant's weights are rounded to."""
    make: Callable[[Path], Path]
    policy: str


SMOLLM2 = Cast("smollm2-135m", ("tooluse", "arithmetic", "terminal"), 4, demo_model, POLICY)


@dataclass(frozen=True)
class Told:
    """How the demo ended."""

    verdicts: tuple[Verdict, ...]
    report: Path
    policy: Path

    @property
    def exit(self) -> int:
        """4 where a verdict is INVALID; else 0: a REGRESSED variant is a finding, not a failure of the demo."""
        return 4 if any(verdict.decision is Decision.INVALID for verdict in self.verdicts) else 0


def run_demo(cast: Cast, display: Display) -> Told:
    """Make the checkpoints, run the suites on each, gate both variants, write the report."""
    store = Store.open()
    models = store.home / "models"
    display.step(1, 5, f"the model: {cast.base}, a copy rounded to {cast.bits} bits, an identical copy")
    base = cast.make(models / cast.base)
    damaged = damaged_copy(base, models / f"{cast.base}-{cast.bits}bit", cast.bits)
    copy = identical_copy(base, models / f"{cast.base}-copy")
    policy = store.home / "reports" / "demo-policy.yaml"
    policy.parent.mkdir(parents=True, exist_ok=True)
    policy.write_text(cast.policy, encoding="utf-8")
    for number, (folder, replicate) in enumerate(((base, 0), (damaged, 0), (copy, 1)), 2):
        display.step(number, 5, f"run {', '.join(cast.suites)} on {folder.name}")
        _runs(cast, folder, replicate, display)
    display.step(5, 5, "gate both variants against the model, and write the report")
    verdicts = tuple(gate(store, policy, str(base), str(folder)) for folder in (copy, damaged))
    return Told(verdicts, _report(store, str(base), str(damaged)), policy)


def _runs(cast: Cast, folder: Path, replicate: int, display: Display) -> list[Run]:
    """The suites on one checkpoint. A copy has the same weights: a replicate of its own makes its trials fresh."""
    request = RunRequest(str(folder), replicate=replicate, resume=True)
    finished = []
    for outcome in run_all(cast.suites, request, display):
        if isinstance(outcome, EvalctlError):
            raise EvidenceError(f"the demo cannot go on: {outcome}") from outcome
        finished.append(outcome)
    return finished


def _report(store: Store, baseline: str, candidate: str) -> Path:
    from datetime import UTC, datetime

    from reports import html

    from .cli.report import write

    path = store.home / "reports" / "demo.html"
    write(path, html.page(gather(store, baseline, candidate), datetime.now(UTC).isoformat(timespec="seconds")))
    return path
