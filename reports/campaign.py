"""A campaign as people read it: one frozen view of its record, and how it is said. Pure.

Every figure is the record's own (see campaign_record); nothing is computed here, and what a record lacks is not shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from evalctl.types import Estimate, Json

from .figures import Difference
from .words import Unit, change, count, points, seconds, value


class State(StrEnum):
    """How a campaign stands."""

    PROMOTED = "promoted"
    REFUSED = "refused"
    STOPPED = "stopped"
    """The evidence itself is missing or faulty, so nothing was decided."""
    RUNNING = "running"
    INTERRUPTED = "interrupted"
    """Begun, not finished, and no process works on it."""


MARKS = {
    State.PROMOTED: "✓",
    State.REFUSED: "■",
    State.STOPPED: "✕",
    State.RUNNING: "▸",
    State.INTERRUPTED: "?",
}
"""A shape beside each word, so that no colour is needed to tell them apart."""
TONES = {
    State.PROMOTED: "pass",
    State.REFUSED: "regressed",
    State.STOPPED: "invalid",
    State.RUNNING: "none",
    State.INTERRUPTED: "inconclusive",
}
"""The tone of the page's style that each is drawn in."""
RESUME = "△ Nothing works on it now; the command that began it goes on with --resume."
HELD = {True: "✓ held", False: "✕ failed", None: "– not judged"}


@dataclass(frozen=True)
class Condition:
    """One thing that promotion asks, in its order."""

    name: str
    held: bool | None
    text: str


@dataclass(frozen=True)
class Moved:
    """One measured family beside whether it was trained: a row of the interference matrix."""

    role: str
    trained: bool
    row: Difference


@dataclass(frozen=True)
class Stage:
    """One training stage that ran."""

    kind: str
    """`sft` or `rlvr`."""
    fold: int | None
    """Held out while it ran; None for the final."""
    steps: int
    rows: int
    tokens: int
    left_out: Mapping[str, Json]
    figures: Mapping[str, Json]

    @property
    def name(self) -> str:
        """`sft, fold 0`."""
        return f"{self.kind}, {'final' if self.fold is None else f'fold {self.fold}'}"


@dataclass(frozen=True)
class Doing:
    """What an unfinished campaign was last seen at."""

    step: str = ""
    number: int = 0
    of: int = 0
    stage: str = ""
    fold: int | None = None
    done: int = 0
    total: int = 0
    left: float | None = None
    """Seconds that the stage needs yet."""
    updated: str = ""


@dataclass(frozen=True)
class CampaignView:
    """One `train-on-failures`."""

    id: str
    state: State
    checkpoint: str
    candidate: str | None = None
    suites: tuple[str, ...] = ()
    created: str = ""
    exit: int | None = None
    reason: str = ""
    spoiled: str | None = None
    """What a demo spoilt on purpose."""
    base: tuple[tuple[str, Estimate], ...] = ()
    gains: tuple[Difference, ...] = ()
    """Each fold's, the folds' together, then sealed: one-sided bounds, those that decide."""
    moved: tuple[Moved, ...] = ()
    conditions: tuple[Condition, ...] = ()
    screened: tuple[tuple[str, int, str, str], ...] = ()
    """Suite, passed, failures by kind, what was left out by status."""
    rows: int | None = None
    data: tuple[tuple[str, str], ...] = ()
    """What the training rows are, and what was dropped."""
    stages: tuple[Stage, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    made: tuple[tuple[str, str], ...] = ()
    """What it was made from, enough to make it again."""
    doing: Doing | None = None

    @property
    def word(self) -> str:
        """`✓ PROMOTED`."""
        return f"{MARKS[self.state]} {self.state.upper()}"


def headline(view: CampaignView) -> str:
    """The whole of it in one sentence."""
    if view.state is State.PROMOTED:
        told = "; ".join(f"{row.label}, {gained(row)}" for row in decisive(view))
        return f"{view.candidate} is promoted over {view.checkpoint}: {told}."
    if view.state in (State.REFUSED, State.STOPPED):
        return f"{view.checkpoint} stays: {view.reason or 'no reason was recorded'}."
    return f"{view.checkpoint} is being trained on its failures in {', '.join(view.suites)}: {going(view)}."


def decisive(view: CampaignView) -> list[Difference]:
    """The figures that decide: the folds' together, and the sealed ones."""
    return [row for row in view.gains if row.metric != "fold"]


def gained(row: Difference) -> str:
    """`+41.2 points (lower bound +31.0)`."""
    if row.difference is None:
        return row.note or "no figure"
    return f"{points(row.difference.value, row.unit)} (lower bound {change(row.difference.low, row.unit)})"


def going(view: CampaignView) -> str:
    """What an unfinished campaign is at: step, stage, fold, how far, how long yet."""
    doing = view.doing
    if doing is None:
        return "just begun" if view.state is State.RUNNING else "interrupted before its first step"
    parts = [f"step {doing.number} of {doing.of}, {doing.step}" if doing.of else doing.step]
    if doing.stage:
        # A training stage names its fold itself; a run does not.
        told = doing.fold is None or f"fold-{doing.fold}" in doing.stage
        fold = "" if told else f", fold {doing.fold}"
        parts.append(f"{doing.stage}{fold}, {doing.done:,} of {doing.total:,}")
    if view.state is State.RUNNING and doing.left is not None:
        parts.append(f"about {seconds(doing.left)} left of it")
    return "; ".join(part for part in parts if part)


def base_score(view: CampaignView) -> str:
    """`tooluse 31.3% of 84 samples`, from fresh trials on the pool."""
    return "; ".join(f"{name} {value(one.value, Unit.SHARE)} of {count(one.n, 'sample')}" for name, one in view.base)


def remarks(view: CampaignView) -> list[str]:
    """What a reader must know beside the sentence, the warnings last."""
    base = base_score(view)
    found = [f"Base score: {base}, fresh trials on the pool."] if base else []
    found += [f"Skipped {name}: {why}." for name, why in view.skipped]
    certified = {one.kind for one in view.stages if one.fold is not None}
    added = dict.fromkeys(one.kind for one in view.stages if one.fold is None and one.kind not in certified)
    found += [f"{name} ran in the final alone: sealed, bench and replay judge it, the folds do not." for name in added]
    found += [f"△ The data were spoilt on purpose: {view.spoiled}."] if view.spoiled else []
    return found + ([RESUME] if view.state is State.INTERRUPTED else [])


def counts(given: Mapping[str, Json]) -> str:
    """`40 wrong, 20 format`, most first."""
    found = sorted(((str(name), int(number)) for name, number in given.items()), key=lambda one: (-one[1], one[0]))
    return ", ".join(f"{number:,} {name}" for name, number in found)


def plain_figures(figures: Mapping[str, Json], most: int = 6) -> str:
    """`first loss 2.31, last loss 0.84`: the numbers of a stage, in its own order."""
    found: Sequence[str] = [
        f"{name.replace('_', ' ')} {number:.3g}"
        for name, number in figures.items()
        if isinstance(number, int | float) and not isinstance(number, bool)
    ]
    return ", ".join(found[:most])
