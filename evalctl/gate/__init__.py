"""The gate: a policy and two checkpoints' runs in, one Verdict out."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .judgement import GateContext, judge

__all__ = ["GateContext", "judge"]


def __getattr__(name: str) -> object:
    # On first use: what only reads verdicts (words, lists, reports) must not wait for the statistics.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import judgement

    return getattr(judgement, name)
