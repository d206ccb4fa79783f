"""How an answer is judged: one way each, in one table. `SCORERS[name](**options)` gives the scorer."""

from .choice import Choice
from .dates import Date
from .lists import ListF1
from .numeric import Numeric
from .options import Factory
from .schema import JsonSchema
from .text import Anls, Contains, Exact, TextF1
from .toolcalls import ToolCalls
from .unit_tests import UnitTests

_ALL = (
    Factory("exact", Exact, ("aliases", "case")),
    Factory("choice", Choice, ("choices",)),
    Factory("numeric", Numeric, ("tolerance", "unit", "percent", "accounting", "locale")),
    Factory("contains", Contains, ("aliases", "case")),
    Factory("text_f1", TextF1, ("aliases",)),
    Factory("anls", Anls, ("aliases",)),
    Factory("list_f1", ListF1, ("ordered",)),
    Factory("date", Date, ("order",)),
    Factory("json_schema", JsonSchema, ("schema", "fields")),
    Factory("tool_calls", ToolCalls, ("tools", "ordered")),
    Factory("unit_tests", UnitTests, ("tests", "command", "seconds")),
)
SCORERS: dict[str, Factory] = {factory.name: factory for factory in _ALL}
"""Scorer name to its factory."""

__all__ = ["SCORERS", "Factory"]
