"""How a model is driven through one sample: one table, name to a factory that takes the Suite."""

from collections.abc import Callable

from evalctl.types import Agent, Suite

from .shell import Shell
from .single_turn import SingleTurn

__all__ = ["AGENTS", "Shell", "SingleTurn"]


def _single_turn(_: Suite) -> Agent:
    return SingleTurn()


def _shell(suite: Suite) -> Agent:
    return Shell(max_turns=suite.max_turns)


AGENTS: dict[str, Callable[[Suite], Agent]] = {"single_turn": _single_turn, "shell": _shell}
