"""A name to the object: the tables that this and other packages publish as entry points.

Every table is a plain dict published under the group `evalctl.tables`
(`scorers = "scorers:SCORERS"`); several packages may publish a table of one name and the
tables are joined. The ground imports nothing above it: what stands above is found here, at
run time, by name.
"""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from .errors import LookupFailed, UsageError

GROUP = "evalctl.tables"
KINDS = {"scorers": "scorer", "sandboxes": "sandbox", "suites": "suite", "agents": "agent", "recipes": "recipe"}
"""Table name to the noun used in messages."""


@cache
def table(name: str) -> Mapping[str, Any]:
    """The joined table `name` of every installed package.

    Raises UsageError when two packages publish one name: which of them is meant cannot be guessed.
    """
    joined: dict[str, Any] = {}
    owner: dict[str, str] = {}
    for point in sorted(entry_points(group=GROUP, name=name), key=lambda p: (p.value, p.name)):
        for key, value in point.load().items():
            if key in joined and owner[key] != point.value:
                kind = KINDS.get(name, name)
                raise UsageError(f"{kind} {key!r} is published by both {owner[key]} and {point.value}; uninstall one")
            joined[key] = value
            owner[key] = point.value
    return joined


def find(table_name: str, name: str, where: str = "") -> Any:
    """The object called `name`; raises LookupFailed (with a did-you-mean) when no table holds it."""
    known = table(table_name)
    if name not in known:
        raise LookupFailed(KINDS.get(table_name, table_name), name, known, where)
    return known[name]
