"""JSON as models write it: fenced, wrapped in prose, with trailing commas or NaN. What was not clean is named.

>>> read = read_json('Sure: {"a": [1, 2,], "b": NaN}')
>>> read.value["a"], sorted(fault.value for fault in read.faults)
([1, 2], ['not_finite', 'prose', 'trailing_comma'])
>>> read_json("no json here")
Unread(reason='no JSON value')
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..types import Json
from .scanner import Fault, Scanner, Unreadable
from .text import MAX_CHARS

MAX_VALUES = 100
"""How many values of one text are looked at: who answers with one value, or with some calls, needs fewer."""
MAX_TRIES = 2_000
"""How many brackets of one text may begin no value."""
_FENCE = re.compile(r"```[ \t]*([A-Za-z0-9_+-]*)[^\n`]*\n(.*?)```", re.DOTALL)
_OPEN = re.compile(r"[{\[]")


@dataclass(frozen=True)
class JsonRead:
    """A value and what was not clean about it. A NaN in it is a float that equals nothing."""

    value: Json
    faults: frozenset[Fault] = frozenset()
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Unread:
    """No value, and why."""

    reason: str


def whole(text: str) -> JsonRead | None:
    """The value that the whole text is, if it is one; faults as in the scanner."""
    scanner = Scanner(text)
    try:
        value = scanner.value()
        if scanner.space():
            return None
    except Unreadable:
        return None
    return JsonRead(value, frozenset(scanner.faults), 0, len(text))


def fences(text: str) -> list[tuple[str, str]]:
    """Language and content of every closed code fence; an unclosed last one runs to the end."""
    if "```" not in text:
        return []
    found, end = [], 0
    for match in _FENCE.finditer(text):
        found.append((match[1].lower(), match[2]))
        end = match.end()
    rest = text[end:]
    if "```" in rest and not found:
        head, _, body = rest.partition("```")[2].partition("\n")
        found.append((head.strip().lower(), body))
    return found


def values_in(text: str, opening: str = "{[") -> Iterator[JsonRead]:
    """Every object or list that stands in a text, outermost first; work is linear in its length.

    Ends early once MAX_VALUES were found, MAX_TRIES brackets began none, or four times the text was looked at.
    """
    at = work = tries = found = 0
    while (hit := _OPEN.search(text, at)) is not None:
        at = hit.start()
        if hit[0] not in opening:
            at += 1
            continue
        scanner = Scanner(text, at)
        try:
            value = scanner.value()
        except Unreadable as failed:
            work, tries = work + failed.at - at, tries + 1
            if tries > MAX_TRIES or work > 4 * len(text) + 10_000:
                return
            at = failed.at if failed.deep else at + 1
            continue
        found += 1
        if found > MAX_VALUES:
            return
        yield JsonRead(value, frozenset(scanner.faults), at, scanner.at)
        at = scanner.at


def read_json(text: str, opening: str = "{[") -> JsonRead | Unread:
    """The one JSON value of an answer: the whole text, else its fence, else the one object or list in it.

    `opening` says what is looked for inside prose: `{` objects, `[` lists. Several different values are Unread.
    """
    if len(text) > MAX_CHARS:
        return Unread(f"longer than {MAX_CHARS} characters")
    text = text.strip()
    plain = whole(text)
    if plain is not None:
        return plain
    found: list[JsonRead] = []
    inside = fences(text)
    for _, body in inside[:MAX_VALUES]:
        read = whole(body)
        if read is not None:
            around = Fault.FENCE if text.strip().startswith("```") and text.strip().endswith("```") else Fault.PROSE
            found.append(JsonRead(read.value, read.faults | {Fault.FENCE, around}))
    if not found:
        marks = {Fault.FENCE, Fault.PROSE} if inside else {Fault.PROSE}
        found = [JsonRead(r.value, r.faults | marks, r.start, r.end) for r in values_in(text, opening)]
    different = [read for at, read in enumerate(found) if all(read.value != other.value for other in found[:at])]
    if len(different) != 1:
        many = f"{len(different)} JSON values and no statement which is the answer"
        return Unread(many if different else "no JSON value")
    return different[0]
