"""How figures and outcomes are said: percent, points, intervals, one sentence for a verdict."""

import math
import unicodedata
from enum import StrEnum

from evalctl.gate.verdict import Decision
from evalctl.types import Estimate


class Unit(StrEnum):
    """How a figure is written."""

    SHARE = "share"
    """A metric whose declared range is [0, 1]: percent, and differences in points."""
    NUMBER = "number"
    """Anything else: as it is."""


MARKS = {
    Decision.PASS: "✓",
    Decision.REGRESSED: "▼",
    Decision.INCONCLUSIVE: "?",
    Decision.INVALID: "✕",
}
"""A shape beside each word, so that no colour is needed to tell them apart."""

MEANING = {
    Decision.PASS: "not worse by the margin or more",
    Decision.REGRESSED: "worse, by at least the margin",
    Decision.INCONCLUSIVE: "cannot tell yet",
    Decision.INVALID: "this comparison says nothing",
}


def visible(text: str) -> str:
    """Control, bidirectional and other unprintable characters written out; newline and tab as spaces.

    >>> visible("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    return "".join(_shown(char) for char in text)


def _shown(char: str) -> str:
    if char in "\n\t\r":
        return " "
    if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}:
        code = ord(char)
        return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
    return char


def short(text: str, limit: int) -> str:
    """At most `limit` characters, the middle left out: the ends are what tells names apart.

    >>> short("checkpoint-000100", 9)
    'chec…0100'
    """
    text = visible(text)
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{text[: limit - 1 - tail]}…{text[len(text) - tail :]}"


def value(number: float, unit: Unit) -> str:
    """A level: `41.3%`, `12.5`."""
    return f"{_digits(number * 100, 1)}%" if unit is Unit.SHARE else _plain(number)


def change(number: float, unit: Unit) -> str:
    """A difference with its sign: `−12.0`, `+0.8`, in points for a share."""
    text = _digits(number * 100, 1) if unit is Unit.SHARE else _plain(number)
    return text if text.startswith("−") or not any(c in "123456789∞" for c in text) else f"+{text}"


def points(number: float, unit: Unit) -> str:
    """A difference with its sign and its unit: `−12.0 points`."""
    return f"{change(number, unit)} points" if unit is Unit.SHARE else change(number, unit)


def span(estimate: Estimate, unit: Unit) -> str:
    """The interval of a level: `36.1 to 46.5`."""
    return f"{value(estimate.low, unit).removesuffix('%')} to {value(estimate.high, unit).removesuffix('%')}"


def change_span(estimate: Estimate, unit: Unit) -> str:
    """The interval of a difference: `−18.0 to −7.1`."""
    return f"{change(estimate.low, unit)} to {change(estimate.high, unit)}"


def count(number: int, noun: str) -> str:
    """`1 sample`, `1,240 samples`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def seconds(number: float) -> str:
    """`48 s`, `3 min 20 s`, `2 h 05 min`."""
    whole = round(number)
    if whole < 60:
        return f"{number:.1f} s" if number < 10 else f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def moment(iso: str) -> str:
    """`2026-03-01T09:30:11.5+00:00` as `2026-03-01 09:30 UTC`; what is no time as it is."""
    return f"{iso[:10]} {iso[11:16]} UTC" if len(iso) >= 16 and iso[10:11] == "T" else iso


def _digits(number: float, places: int) -> str:
    if not math.isfinite(number):
        return "−∞" if number < 0 else "∞"
    text = f"{abs(number):,.{places}f}"
    negative = number < 0 and any(c in "123456789" for c in text)
    return f"−{text}" if negative else text


def _plain(number: float) -> str:
    if number == 0 or not math.isfinite(number):
        return "0" if number == 0 else _digits(number, 0)
    places = max(0, 2 - math.floor(math.log10(abs(number))))
    return _digits(number, min(places, 4))
