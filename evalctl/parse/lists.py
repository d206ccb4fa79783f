"""Lists as people and models write them: JSON, a stringified list, bullets, lines, or commas.

>>> read_list("['a', 'b']"), read_list("- a\\n- b"), read_list("a, 1,234 and b"), read_list("Answer: a; b, c")
(['a', 'b'], ['a', 'b'], ['a', '1,234', 'b'], ['a', 'b, c'])
"""

import re

from ..digests import canonical
from ..types import Json
from .lenient_json import fences
from .scanner import Scanner, Unreadable
from .text import MAX_CHARS, normalise

MAX_ITEMS = 10_000
"""Further items are left out: the list is wrong by then whatever they say."""
_BULLET = re.compile(r"[ \t]*(?:[-*•·–]|[0-9]{1,4}[.)]|\([0-9]{1,4}\))[ \t]+(\S.*)")
_CUE = re.compile(r"\banswers?(?: is\b| are\b|\s?[*_]{0,2}\s?:)[\s*_]*", re.IGNORECASE)
_COMMA = re.compile(r",(?![0-9]{3}(?![0-9]))\s*(?:and |or )?|\s+(?:and|und)\s+")


def _literal(text: str) -> list[Json] | None:
    """The list that the whole text is, in JSON or as Python prints one."""
    scanner = Scanner(text, python=True)
    try:
        if scanner.space() not in ("[", "("):
            return None
        value = scanner.value()
        return value if not scanner.space() and isinstance(value, list) else None
    except Unreadable:
        return None


def item_text(value: Json) -> str:
    """One item as text: strings as they are, numbers as written, everything else as JSON."""
    if isinstance(value, str):
        return value
    try:
        return canonical(value)
    except ValueError:
        return repr(value)


def read_list(text: str) -> list[str]:
    """The items of a list in order, each stripped, none empty. A text that is no list is a list of one."""
    text = normalise(text[:MAX_CHARS]).strip()
    for part in (text, *(body for _, body in fences(text)[:5])):
        literal = _literal(part)
        if literal is not None:
            return [item_text(value).strip() for value in literal[:MAX_ITEMS]]
    opening = text.find("[")
    closing = text.rfind("]")
    inside = _literal(text[opening : closing + 1]) if 0 <= opening < closing else None
    if inside is not None and len(inside) > 1:
        return [item_text(value).strip() for value in inside[:MAX_ITEMS]]
    cues = list(_CUE.finditer(text))
    body = text[cues[-1].end() :] if cues and text[cues[-1].end() :].strip() else text
    lines = [line for line in body.splitlines() if line.strip()]
    bullets = [match[1] for line in lines if (match := _BULLET.fullmatch(line))]
    if bullets:
        parts = bullets
    elif len(lines) > 1:
        parts = lines
    elif ";" in body:
        parts = body.split(";")
    else:
        parts = _COMMA.split(body)
    return [part.strip().rstrip(".") for part in parts if part.strip(" .")][:MAX_ITEMS]
