"""The number that an answer states, among all that stand in it.

A text states a number, in this order, by its last `\\boxed{}`, by its last `the answer is …`, `answer: …` or `####`, by
holding one number, by the only bold number, by ending in a calculation's `= …`, or by a last line that is a number.
Anything else is Ambiguous: the reader would have to guess.

>>> stated_number("Of the 100 people 80 stayed, so the answer is 20%.").text
'20%'
>>> stated_number("Either 20 or 30").reason
'2 numbers and no statement which is the answer: 20, 30'
"""

import re
from collections.abc import Callable, Sequence

from .number_words import read_words
from .numbers import Ambiguous, Number, clean, scan
from .text import MAX_CHARS

Reading = Number | Ambiguous

_CUE = re.compile(
    r"(?:\banswer(?: is\b| was\b|\s?[*_]{0,2}\s?[:=])|\b(?:antwort|ergebnis)(?: ist\b|\s?[*_]{0,2}\s?[:=])|####)",
    re.IGNORECASE,
)
_GAP = re.compile(
    r"[\s*_`$(\[{:=~≈\"'\\]*(?:(?:is|about|approximately|approx\.?|roughly|around|exactly|equals?|equal to|therefore|"
    r"then|now|simply|just|the|number|value|a total of|[a-z] ?=)[\s*_`$(\[{:=~≈\"'\\]+)*",
    re.IGNORECASE,
)
_STOP = re.compile(r"[.!?;](?:\s|$)")
_OPERATOR = re.compile(
    r"\s?(?:[+*/×÷^=]|- |-(?=[0-9])|(?:or|to|and|plus|minus|times)\b)\s?\$?[-(]?[0-9.]", re.IGNORECASE
)
_BOLD = re.compile(r"\*\*([^*\n]{1,200})\*\*")
_EQUALS = re.compile(r"[=≈]\s?[$*_(\\\[{]*\s?$")
_CLAUSE = re.compile(r"[,;:](?![0-9])|\band\b")
_TIE = re.compile(r"[\s,]*(?:or|to|and|-|/|,|)[\s,]*", re.IGNORECASE)
_TAIL = re.compile(r"[\s.!*_`$)\]}\\]*")


def boxed(text: str) -> str | None:
    """What stands in the last `\\boxed{…}` or `\\fbox{…}` whose braces close, or None.

    >>> boxed(r"so \\boxed{\\frac{1}{2}} it is")
    '\\\\frac{1}{2}'
    """
    at = max(text.rfind("\\boxed{"), text.rfind("\\fbox{"))
    if at < 0:
        return None
    start = text.index("{", at) + 1
    depth = 1
    for brace in re.compile(r"[{}]").finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return text[start : brace.start()]
    return None


def numbers_of(text: str, locale: str | None, accounting: bool) -> list[Reading]:
    """The numbers of a clean text: its digits, or its number words where it holds no digits."""
    found = scan(text, locale, accounting)
    strong = [n for n in found if isinstance(n, Ambiguous) or not n.weak]
    return strong or found or list(read_words(text))


def read_number(text: str, locale: str | None = None, accounting: bool = False) -> Reading:
    """The one number of a text such as a target; Ambiguous where there is none or more than one.

    >>> str(read_number("1.234,50 €", locale="de").amount), read_number("543 million").amount == 543_000_000
    ('2469/2', True)
    >>> read_number("1.234,50 €").reason
    "digits grouped in no way this locale groups them; declare the sample's `locale`"
    """
    if len(text) > MAX_CHARS:
        return Ambiguous(text[:40], f"longer than {MAX_CHARS} characters")
    return _only(numbers_of(clean(text), locale, accounting))


def stated_number(text: str, locale: str | None = None, accounting: bool = False) -> Reading:
    """The number a text states as its answer; Ambiguous, with the reason, where it states none."""
    if len(text) > MAX_CHARS:
        return Ambiguous(text[:40], f"longer than {MAX_CHARS} characters")
    inner = boxed(text)
    if inner is not None:
        return _of_segment(clean(inner), locale, accounting)
    plain = clean(text)
    cue = _last_cue(plain)
    stated = _after_cue(plain, cue, locale, accounting) if cue >= 0 else None
    if stated is not None:
        return stated
    found = numbers_of(plain, locale, accounting)
    if len(found) < 2:
        return _only(found)
    bold = [n for part in _BOLD.findall(plain) for n in numbers_of(part, locale, accounting)]
    if _meanings(bold) == 1:
        return bold[0]
    return _of_segment(plain, locale, accounting, found)


def only_of_kind(text: str, kind: Callable[[Number], bool], locale: str | None, accounting: bool) -> Number | None:
    """The one number of the kind that was asked for (a percentage, a unit), where no `or`, `to` ties it to another.

    >>> only_of_kind("20% of the 50 people", lambda n: n.percent, None, False).text
    '20%'
    >>> only_of_kind("5 or 6% of the people", lambda n: n.percent, None, False)
    """
    if len(text) > MAX_CHARS:
        return None
    plain = clean(text)
    found = numbers_of(plain, locale, accounting)
    fitting = [(at, n) for at, n in enumerate(found) if isinstance(n, Number) and kind(n)]
    if _meanings([n for _, n in fitting]) != 1:
        return None
    for at, number in fitting:
        before = plain[found[at - 1].end : number.start] if at else "."
        after = plain[number.end : found[at + 1].start] if at + 1 < len(found) else "."
        if _TIE.fullmatch(before) or _TIE.fullmatch(after):
            return None
    return fitting[0][1]


def _last_cue(text: str) -> int:
    """Where the last `the answer is` ends, or -1."""
    lower = text.lower()
    if "answer" not in lower and "####" not in lower and "antwort" not in lower and "ergebnis" not in lower:
        return -1
    return max((cue.end() for cue in _CUE.finditer(text)), default=-1)


def _after_cue(text: str, at: int, locale: str | None, accounting: bool) -> Reading | None:
    """What the words after `the answer is` state, within their line and sentence; None where no number follows."""
    body = re.compile(r"\S").search(text, at)
    if body is None:
        return None
    line_end = text.find("\n", body.start())
    line = text[at : line_end if line_end >= 0 else len(text)]
    found = scan(line, locale, accounting)
    gap = _GAP.match(line)
    begin = gap.end() if gap else 0
    first = found[0] if found else None
    if first is not None:
        after = line[first.end :]
        touches = first.start <= begin or (line[begin : first.start].strip("$-+( ") == "")
        if touches and not _OPERATOR.match(after):
            return first
    for stop in _STOP.finditer(line, begin):
        part = line[: stop.start()]
        if numbers_of(part, locale, accounting):
            return _of_segment(part, locale, accounting)
    return _of_segment(line, locale, accounting) if numbers_of(line, locale, accounting) else None


def _of_segment(text: str, locale: str | None, accounting: bool, found: Sequence[Reading] | None = None) -> Reading:
    """The number of a segment: the only one, what its last `=` gives, or its last line."""
    found = numbers_of(text, locale, accounting) if found is None else found
    if _meanings(found) < 2:
        return _only(found)
    last = found[-1]
    if _TAIL.fullmatch(text, last.end) and _is_result(text, last.start):
        return last
    line_start = text.rstrip().rfind("\n") + 1
    on_line = [n for n in found if n.start >= line_start]
    if (
        line_start
        and len(on_line) == 1
        and not text[line_start : last.start].strip(" *_`$(\\[")
        and _TAIL.fullmatch(text, last.end)
    ):
        return last
    return _only(found)


def _is_result(text: str, at: int) -> bool:
    """Whether the number at `at` is what a calculation comes to: `12 + 30 = 42`, but no half of `x = 5, y = 6`."""
    before = text[max(0, at - 400) : at]
    if not _EQUALS.search(before[-12:]):
        return False
    line = before[before.rfind("\n") + 1 :]
    clauses = _CLAUSE.split(line)
    if any("=" in clause for clause in clauses[:-1]):
        return False
    return text.count("=") == 1 or any(sign in clauses[-1] for sign in "+*/×÷-")


def _meanings(found: Sequence[Reading]) -> int:
    if len(found) < 2:
        return len(found)
    return len({n.meaning if isinstance(n, Number) else n.start for n in found})


def _only(found: Sequence[Reading]) -> Reading:
    """The one reading there is; several that mean the same are one."""
    if not found:
        return Ambiguous("", "no number")
    if _meanings(found) == 1:
        return found[0]
    texts = list(dict.fromkeys(n.text.strip()[:24] for n in found))
    shown = ", ".join(texts[:6]) + (", …" if len(texts) > 6 else "")
    return Ambiguous(shown, f"{len(texts)} numbers and no statement which is the answer: {shown}")
