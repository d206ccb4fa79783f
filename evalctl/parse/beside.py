"""Both sides of a number's digits: sign, parenthesis and currency before; scale, percent and unit after."""

import re
from fractions import Fraction

from .units import CURRENCY_CODES, CURRENCY_SIGNS, LETTER_SCALES, SCALES, unit_name

MONEY = frozenset(CURRENCY_SIGNS.values()) | CURRENCY_CODES
"""Every currency by its one name."""
_PERCENT = re.compile(r"\s?(?:%|(?:percent|per cent|pct|prozent)(?![a-zA-Z]))(?!-?point)", re.IGNORECASE)
_POINTS = re.compile(r"\s?-?(?:percentage points?|%-points?|basis points?)(?![a-zA-Z])", re.IGNORECASE)
_BESIDE = re.compile(r"[ -]?([a-zA-Z]+)\.?")
_UNIT = re.compile(r" ?([a-zA-Zµ°Ωk$€£¥₹¢℃℉][a-zA-Z0-9/°²³Ω$]{0,15})")
_NEARBY = re.compile(r"[ -]?[a-zA-Z%µ°Ω€£¥₹$¢℃℉]")
_LEFT_SIGNS = frozenset("-+(") | frozenset(CURRENCY_SIGNS)


def left(text: str, start: int) -> tuple[int, bool, str | None, bool]:
    """What stands before the digits: where it begins, a minus, a currency, an opening parenthesis."""
    at, minus, unit, paren = start, False, None, False
    for _ in range(4):
        gap = at - 1 if at and text[at - 1] == " " else at
        before = text[gap - 1] if gap else ""
        if not (before in _LEFT_SIGNS or before.isalpha()):
            break
        if unit is None and before in CURRENCY_SIGNS:
            unit, at = CURRENCY_SIGNS[before], gap - 1
            if text[max(0, at - 2) : at] == "US":
                at -= 2
        elif unit is None and text[max(0, gap - 3) : gap] in CURRENCY_CODES and not text[gap - 4 : gap - 3].isalpha():
            unit, at = text[gap - 3 : gap], gap - 3
        elif before in ("-", "+") and gap == at and not minus and not _joins(text, gap - 1):
            minus, at = before == "-", gap - 1
        elif before == "(" and gap == at and not paren:
            paren, at = True, gap - 1
        else:
            break
    if not minus and at > 5 and text[at - 1] == " ":
        minus = text[max(0, at - 9) : at].lower().endswith(("minus ", "negative "))
    return at, minus, unit, paren


def _joins(text: str, at: int) -> bool:
    """Whether the sign at `at` stands between two things (a range, a subtraction, a hyphen) and is no sign."""
    return at > 0 and (text[at - 1].isalnum() or text[at - 1] in ")%-")


def scale_after(text: str, at: int, money: bool, one: bool, touching: bool) -> tuple[int, int | Fraction]:
    """The scale words from `at` on: where they end, and what they multiply by. `one`: the digits say 1 or -1."""
    end, scale = at, 1
    for _ in range(3):
        beside = _BESIDE.match(text, end)
        if not beside:
            break
        word, stop = beside[1], beside.end()
        size = SCALES.get(word.lower())
        if size is not None and size > 1:
            scale, end = scale * int(size), stop
        elif size is not None and scale == 1 and _is_part(word, one, text[stop : stop + 1]):
            return stop, size
        elif touching and beside.start(1) == at and (word in LETTER_SCALES or (word == "m" and money)):
            return stop, LETTER_SCALES.get(word, 1_000_000)
        else:
            break
    return end, scale


def _is_part(word: str, one: bool, after: str) -> bool:
    """Whether `word` after a number is the lower half of a fraction: `3 hundredths`, but not `3 third-party tools`."""
    return word not in ("quarter", "quarters") and (word.endswith("s") or one) and after != "-"


def unit_after(text: str, at: int, unit: str | None) -> tuple[int, bool, str | None]:
    """The percent sign or unit from `at` on: where it ends, whether it is percent, the unit."""
    if unit == "USD" and text[at : at + 1] == "$":
        return at + 1, False, None  # LaTeX: $42$
    if not _NEARBY.match(text, at):
        return at, False, unit
    if points := _POINTS.match(text, at):
        return points.end(), False, "bp" if "asis" in points[0] else "pp"
    if percent := _PERCENT.match(text, at):
        return percent.end(), True, unit
    if unit is None and (word := _UNIT.match(text, at)):
        unit = unit_name(word[1])
        at = word.end() if unit else at
    return at, False, unit
