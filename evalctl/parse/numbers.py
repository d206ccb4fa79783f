"""Numbers as they stand in text: value, sign, scale, percent and unit kept apart, nothing evaluated.

    1,234.50 · 1 234.5 · $5.2 million · 12.5% · 1e3 · 3 × 10^5 · 3/4 · 1½ · 3 hundredths · \\frac{3}{4}

Digits are read in the document's locale. Without one, `1,234.5` is English, and what reads as a number only in
another convention (`1.234,50`, `1,5`) is Ambiguous. Words (`twenty-five`) are in `number_words`, the choice of the
number that a sentence states in `stated`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from ..errors import LookupFailed
from .beside import MONEY, left, scale_after, unit_after
from .text import MAX_CHARS, normalise

_COMMA = "bg cs da de el es et fi fr hr hu id it lt lv nb nl nn no pl pt ro ru sk sl sr sv tr uk vi"
COMMA_LOCALES = frozenset(_COMMA.split())
POINT_LOCALES = frozenset(("en", "he", "hi", "ja", "ko", "th", "zh", "de-ch", "de-li", "it-ch", "es-mx"))
MAX_NUMBERS = 2_000
"""How many numbers of one text are read; who states an answer needs fewer."""
_MAX_DIGITS = 400
"""Longer digit strings and larger exponents are no measurement, and their arithmetic is not cheap."""


@dataclass(frozen=True, slots=True)
class Number:
    """One number as stated. `amount` is what it says; percent is a unit here, never a division."""

    text: str
    start: int
    """Offset in `clean(text)`."""
    end: int
    value: Fraction
    """Face value, sign included: 543 in `543 million`, 12.5 in `12.5%`."""
    decimals: int = 0
    """Decimals as stated: 2 in `1.50`."""
    scale: int | Fraction = 1
    percent: bool = False
    unit: str | None = None
    """Its one name in `units`, or None where no known unit stands beside it."""
    weak: bool = False
    """A list marker or an ordinal: a number only where there is no other."""

    @property
    def amount(self) -> Fraction:
        """Value times scale; a percentage stays in percent."""
        return self.value if self.scale == 1 else self.value * self.scale

    @property
    def meaning(self) -> tuple[Fraction, bool, str | None]:
        """Two numbers of equal meaning are one answer stated twice."""
        return self.amount, self.percent, self.unit


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """What cannot be read as one number, and why: told, never guessed."""

    text: str
    reason: str
    start: int = 0
    end: int = 0


_START = re.compile(r"[0-9½⅓⅔¼¾⅕-⅞⅐-⅒]")
_LATEX = re.compile(
    r"\\[dtc]?frac\s?\{([^{}]{1,60})\}\s?\{([^{}]{1,60})\}|\\[dtc]?frac([0-9])([0-9])"
    r"|\\(?:text|mathrm|mathbf|textbf|mbox|operatorname)\{([^{}]{0,200})\}"
    r"|\\(times|cdot)(?![a-zA-Z])|\\([$%#&])|\{,\}|\\(?:[,;:! ]|left|right|displaystyle|quad|,)"
)
_VULGAR = {
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5), "⅗": (3, 5), "⅘": (4, 5),
    "⅙": (1, 6), "⅚": (5, 6), "⅐": (1, 7), "⅑": (1, 9), "⅒": (1, 10), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8),
    "⅞": (7, 8),
}  # fmt: skip
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_TOKEN = re.compile(
    r"(?P<skip>[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?![0-9])|[0-9]{1,4}([/.])[0-9]{1,2}\2[0-9]{2,4}(?![0-9]|\.[0-9])"
    r"|[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?![0-9:]))"
    r"|(?P<digits>[0-9]{1,3}(?: [0-9]{3})+(?![0-9])(?:[.,][0-9]+)?|[0-9]+(?:[.,'][0-9]+)*|(?<![0-9a-zA-Z.])\.[0-9]+)"
    r"(?:(?P<exp>[eE][+-]?[0-9]+(?![0-9a-zA-Z]))"
    r"|\s?[x×*·]\s?10\s?(?:\^\s?\{?(?P<ten>[+-]?[0-9]+)\}?|(?P<sup>[⁺⁻]?[⁰¹²³⁴-⁹]{1,5})))?"
    r"(?P<over>\s?[/⁄]\s?[0-9]{1,40}(?![0-9]|[.,/][0-9]))?"
    r"(?P<mixed>(?: [0-9]{1,9}[/⁄][0-9]{1,9}(?![0-9]|[.,/][0-9]))|\s?[½⅓⅔¼¾⅕-⅞⅐-⅒])?"
    r"|(?P<vulgar>[½⅓⅔¼¾⅕-⅞⅐-⅒])"
)
_ORDINAL = re.compile(r"(?:st|nd|rd|th)(?![a-zA-Z])")
_DOTTED = re.compile(r"[0-9]+(?:\.[0-9]+){2,}")
_POINT_GROUPS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})+")
_POINT_FORM = re.compile(r"(?:[0-9]{1,3}(?:([, '])[0-9]{3})(?:\1[0-9]{3})*|[0-9]*)(?:\.([0-9]+))?")
_COMMA_FORM = re.compile(r"(?:[0-9]{1,3}(?:([. '])[0-9]{3})(?:\1[0-9]{3})*|[0-9]*)(?:,([0-9]+))?")


def clean(text: str) -> str:
    """Normalised text with LaTeX reduced to plain signs; offsets of numbers refer to this."""
    text = normalise(text)
    return _LATEX.sub(_plain_latex, text) if "\\" in text or "{,}" in text else text


def _plain_latex(match: re.Match[str]) -> str:
    above, below, one, two, words, _, sign = match.groups()
    if above or one:
        return f" {above or one}/{below or two} "
    if match[6]:
        return "×"
    if words is not None:
        return words
    return sign or ("," if match[0] == "{,}" else "")


@lru_cache(64)
def decimal_comma(locale: str | None) -> bool:
    """Whether `locale` writes 1.234,50. LookupFailed for a locale that is not known here."""
    if locale is None:
        return False
    name = locale.split(".")[0].replace("_", "-").lower()
    for key in (name, name.split("-")[0]):
        if key in COMMA_LOCALES or key in POINT_LOCALES:
            return key in COMMA_LOCALES
    raise LookupFailed("locale", locale, COMMA_LOCALES | POINT_LOCALES)


def _digits(token: str, comma: bool) -> tuple[Fraction, int] | str:
    """Value and decimals of a token of digits and separators, or why it is none."""
    if len(token) > _MAX_DIGITS:
        return f"longer than {_MAX_DIGITS} digits"
    if token.isdigit():
        return Fraction(int(token)), 0
    match = _COMMA_FORM.fullmatch(token) if comma else None
    # Where a comma locale is declared, 1234.50 can be read in one way only: the English one.
    match = match or _POINT_FORM.fullmatch(token)
    if match is None or (match[1] in (",", ".") and token[0] == "0"):
        return "digits grouped in no way this locale groups them; declare the sample's `locale`"
    decimals = len(match[2] or "")
    plain = token[: len(token) - decimals - 1] if decimals else token
    whole = re.sub(r"[^0-9]", "", plain)
    return Fraction(int(whole + (match[2] or "")), 10**decimals), decimals


def _fraction(text: str) -> Fraction | None:
    above, _, below = text.strip().replace("⁄", "/").partition("/")
    return Fraction(int(above), int(below)) if int(below) else None


def _value(match: re.Match[str], comma: bool) -> tuple[Fraction, int] | str:
    """Value and decimals of a whole token: digits, exponent, fraction."""
    if match["vulgar"]:
        return Fraction(*_VULGAR[match["vulgar"]]), 0
    read = _digits(match["digits"], comma)
    if isinstance(read, str):
        return read
    value, decimals = read
    power = match["exp"] or match["ten"] or match["sup"]
    if power:
        exponent = int(power.translate(_SUPERSCRIPT).lstrip("eE")) if len(power) < 8 else _MAX_DIGITS + 1
        if abs(exponent) > _MAX_DIGITS:
            return "exponent out of range"
        value, decimals = value * Fraction(10) ** exponent, max(0, decimals - exponent)
    if match["over"]:
        whole = _fraction(f"{value.numerator}{match['over']}") if value.denominator == 1 else None
        return "not a fraction of whole numbers" if whole is None else (whole, 0)
    if match["mixed"]:
        mixed = match["mixed"].strip()
        part = Fraction(*_VULGAR[mixed]) if mixed in _VULGAR else _fraction(mixed)
        if part is None or part >= 1 or value.denominator != 1:
            return "two numbers side by side"
        value += part
    return value, decimals


def _is_marker(text: str, match: re.Match[str]) -> bool:
    """Whether the digits number a list item: `1. Take five`."""
    end = match.end()
    if len(match[0]) > 2 or text[end : end + 1] not in (".", ")") or not text[end + 1 : end + 2].isspace():
        return False
    before = text[max(0, match.start() - 9) : match.start()]
    line = before[before.rfind("\n") + 1 :]
    return (len(line) < 9) and not line.strip(" *#>-") and bool(text[end + 1 : end + 3].strip())


def read_numbers(text: str, locale: str | None = None, accounting: bool = False) -> list[Number | Ambiguous]:
    """Every number of a text in order, digits only; dates, clock times and names such as Q3 are none.

    `accounting` reads `(42)` as -42. A text longer than MAX_CHARS is one Ambiguous.

    >>> [str(n.amount) for n in read_numbers("Loss of (1,234) on $5.2 million", accounting=True)]
    ['-1234', '5200000']
    """
    if len(text) > MAX_CHARS:
        return [Ambiguous(text[:40], f"longer than {MAX_CHARS} characters")]
    return scan(clean(text), locale, accounting)


def _tokens(text: str) -> Iterator[re.Match[str]]:
    """The matches of _TOKEN; a plain search for a first digit is several times quicker than the pattern itself."""
    at = 0
    while hit := _START.search(text, at):
        start = hit.start()
        match = _TOKEN.match(text, start - 1) if start > at and text[start - 1] == "." else None
        match = match or _TOKEN.match(text, start)
        assert match is not None  # a digit always begins a token
        yield match
        at = match.end()


def scan(text: str, locale: str | None, accounting: bool) -> list[Number | Ambiguous]:
    """As `read_numbers`, for text that is already clean."""
    comma = decimal_comma(locale)
    found: list[Number | Ambiguous] = []
    for match in _tokens(text):
        start = match.start()
        if len(found) == MAX_NUMBERS:
            return [*found, Ambiguous("…", f"more than {MAX_NUMBERS} numbers", start, match.end())]
        before = text[start - 1] if start else " "
        named = before.isalpha() or (before in "-_" and text[max(0, start - 2) : start - 1].isalpha())
        if match["skip"] or (named and not left(text, start)[2]):
            continue
        read = _value(match, comma)
        if isinstance(read, str):
            if not _DOTTED.fullmatch(match[0]) or _POINT_GROUPS.fullmatch(match[0]):
                found.append(Ambiguous(match[0][:60], read, start, match.end()))
            continue
        found.append(_dressed(text, match, read, accounting))
    return found


def _dressed(text: str, match: re.Match[str], read: tuple[Fraction, int], accounting: bool) -> Number | Ambiguous:
    """The number of a token with everything that stands around it."""
    value, decimals = read
    begin, minus, unit, paren = left(text, match.start())
    end = match.end()
    weak = bool(_ORDINAL.match(text, end)) or _is_marker(text, match)
    closed = paren and text[end : end + 1] == ")"
    end += closed
    end, scale = scale_after(text, end, unit in MONEY, value == 1 or value == -1, not closed)
    end, percent, unit = unit_after(text, end, unit)
    if paren and not closed and text[end : end + 1] == ")":
        closed, end = True, end + 1
    if accounting and closed:
        if minus:
            return Ambiguous(text[begin:end], "both a minus and accounting parentheses", begin, end)
        minus = True
    return Number(text[begin:end], begin, end, -value if minus else value, decimals, scale, percent, unit, weak)
