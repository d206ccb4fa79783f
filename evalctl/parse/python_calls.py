"""Python-style calls, `[f(a=1, b="x"), g.h([1, 2])]`, read as data: nothing is evaluated or compiled.

>>> read_python('[f(a=1, b="x"), g.h(None)]', {"g.h": {"properties": {"q": {}}}}).calls
(ToolCall(name='f', arguments={'a': 1, 'b': 'x'}), ToolCall(name='g.h', arguments={'q': None}))
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..types import Json, ToolCall
from .scanner import Fault, Scanner, Unreadable

_NAME = re.compile(r"[A-Za-z_][\w.-]{0,120}")
_KEYWORD = re.compile(r"([A-Za-z_]\w{0,120})\s*=(?!=)")
MAX_CALLS = 100


@dataclass(frozen=True)
class PythonRead:
    """Calls and what was not clean about them."""

    calls: tuple[ToolCall, ...]
    faults: frozenset[Fault]


def read_python(text: str, schemas: Mapping[str, Mapping[str, Json]]) -> PythonRead | None:
    """The calls that the whole text is: one, or some in a list or one after another; None where it is none.

    `schemas` (tool name to parameters schema) names positional arguments; without it they cannot be read.
    """
    scanner = Scanner(text, python=True)
    calls: list[ToolCall] = []
    try:
        bracket = scanner.space() == "["
        scanner.at += bracket
        while True:
            calls.append(_call(scanner, schemas))
            separator = scanner.space()
            if separator in (",", ";") and separator:
                scanner.at += 1
                separator = scanner.space()
            if len(calls) == MAX_CALLS or separator in ("", "]") or not (bracket or _NAME.match(text, scanner.at)):
                break
        if bracket:
            if scanner.space() != "]":
                return None
            scanner.at += 1
        if scanner.space():
            return None
    except Unreadable:
        return None
    return PythonRead(tuple(calls), frozenset(scanner.faults))


def _call(scanner: Scanner, schemas: Mapping[str, Mapping[str, Json]]) -> ToolCall:
    """The call that begins here; raises Unreadable."""
    scanner.space()
    name = _NAME.match(scanner.text, scanner.at)
    if name is None or scanner.text[name.end() : name.end() + 1] != "(":
        raise Unreadable(scanner.at, "no call")
    scanner.at = name.end() + 1
    properties = schemas.get(name[0], {}).get("properties")
    order = list(properties) if isinstance(properties, Mapping) else []
    arguments: dict[str, Json] = {}
    place = 0
    while scanner.space() != ")":
        if arguments or place:
            if scanner.space() != ",":
                raise Unreadable(scanner.at, "a comma is missing")
            scanner.at += 1
            if scanner.space() == ")":
                break
        keyword = _KEYWORD.match(scanner.text, scanner.at)
        if keyword:
            scanner.at = keyword.end()
            key = keyword[1]
        else:
            if place >= len(order):
                raise Unreadable(scanner.at, "an argument without a name")
            key = order[place]
            place += 1
            scanner.faults.add(Fault.POSITIONAL)
        if key in arguments:
            scanner.faults.add(Fault.DUPLICATE)
        arguments[key] = scanner.value()
    scanner.at += 1
    return ToolCall(name[0], arguments)
