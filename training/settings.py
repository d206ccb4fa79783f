"""Rates, steps and sizes of a campaign: chosen beforehand on `dev`, shipped, and never searched by a campaign."""

from collections.abc import Mapping
from dataclasses import dataclass

from evalctl.errors import LookupFailed

STAGES = ("sft", "rlvr")
"""What may stand in `--stages`, in this order."""


@dataclass(frozen=True)
class Curation:
    """How many rows are made, and from what."""

    siblings: int = 4
    """Rows a failed sample asks for, at most."""
    kept: float = 0.2
    """Rows of the skills that the model has, as a share of all rows."""
    most_rows: int = 2000
    attempts: int = 8
    """Answers drawn a sibling by the recipe `rejection`; at most two distinct right ones are kept."""
    temperature: float = 0.8


@dataclass(frozen=True)
class Sft:
    """Supervised fine-tuning with LoRA on every linear layer."""

    rate: float
    passes: float = 1.0
    """Times each row is seen."""
    rows: int = 8
    """Rows a step."""
    rank: int = 8
    layers: int | None = None
    """How many of the last layers are adapted; None for all. Fewer is faster: nothing is carried back below them."""
    longest: int = 512
    """Tokens of a row; a longer one is left out and counted."""


@dataclass(frozen=True)
class Rlvr:
    """Reinforcement learning with the suite's own scorer as the reward (GRPO)."""

    rate: float
    steps: int
    prompts: int = 4
    """Prompts a step."""
    group: int = 4
    """Answers a prompt."""
    at_once: int = 64
    """Answers whose gradients are computed together: bounds memory, not what is learned."""
    temperature: float = 1.0
    beta: float = 0.0
    reward_seconds: float = 10.0
    """Time limit of one verification, in a process of its own."""


@dataclass(frozen=True)
class Settings:
    """One named set."""

    name: str
    curation: Curation
    sft: Sft
    rlvr: Rlvr


SETTINGS: Mapping[str, Settings] = {
    "tiny": Settings(
        "tiny",
        Curation(siblings=12, kept=0.55),
        Sft(rate=3e-3, passes=4.0, rows=24, rank=32),
        Rlvr(rate=2e-5, steps=20, prompts=16, group=4),
    ),
    "small": Settings(
        "small",
        Curation(siblings=2, kept=0.15),
        Sft(rate=1e-3, passes=1.0, rows=8, rank=16),
        Rlvr(rate=2e-5, steps=6, prompts=2, group=4, at_once=4),
    ),
}
"""`tiny` for models under ten million parameters, `small` for those of some hundred million."""


def settings_for(parameters: int, name: str | None = None) -> Settings:
    """The set of that name, else the one for a model of this size. Raises LookupFailed with a did-you-mean."""
    if name is None:
        return SETTINGS["tiny" if parameters < 10_000_000 else "small"]
    if name not in SETTINGS:
        raise LookupFailed("settings", name, SETTINGS)
    return SETTINGS[name]
