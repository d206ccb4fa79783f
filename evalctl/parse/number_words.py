"""English number words: `twenty-five`, `one hundred and five`, `three million`, `two thirds`, `half a million`.

Read only where a text holds no digits: in prose `one` is more often a pronoun than an answer.
"""

import re
from fractions import Fraction

from .numbers import Ambiguous, Number
from .units import SCALES, unit_name

_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_DECADES = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: n for n, word in enumerate(f"{_ONES} seventeen eighteen nineteen".split())}
_TENS = {word: 10 * n for n, word in enumerate(_DECADES.split(), 2)}
_PARTS = {word: size for word, size in SCALES.items() if size < 1} | {"half": Fraction(1, 2), "halves": Fraction(1, 2)}
_BIG = {word: size for word, size in SCALES.items() if size > 1 and word not in ("mn", "bn", "tn", "tsd")}
_WORD = re.compile(r"[a-zA-Z]+|%")
_GAP = re.compile(r"[ -]?")
_AFTER = re.compile(r" ?(%|percent(?![a-z])|per cent(?![a-z])|[a-zA-Zµ°Ω]+)", re.IGNORECASE)
_MAX_WORDS = 40


def read_words(text: str) -> list[Number | Ambiguous]:
    """Every run of number words in a clean text, as numbers; `two three` is Ambiguous.

    >>> [(str(n.amount), n.unit) for n in read_words("Twenty-five kilograms, or three hundredths of a million.")]
    [('25', 'kg'), ('3/100', None), ('1000000', None)]
    """
    spans = [(m[0].lower(), m.start(), m.end()) for m in _WORD.finditer(text)]
    found: list[Number | Ambiguous] = []
    at = 0
    while at < len(spans):
        run = _run(spans, at, text)
        number = _number(run, text) if run else None
        if number is None:
            at += 1
            continue
        found.append(number)
        at += len(run)
    return found


Span = tuple[str, int, int]


def _run(spans: list[Span], at: int, text: str) -> list[Span]:
    """The number words that stand together from `at` on; `and` and `a` only between them."""
    run: list[Span] = []
    for span in spans[at : at + _MAX_WORDS]:
        if run and span[1] - run[-1][2] > 1:
            break
        if run and not _GAP.fullmatch(text, run[-1][2], span[1]):
            break
        word = span[0]
        numeral = word in _SMALL or word in _TENS or word in _BIG or word in _PARTS
        if not (numeral or (run and word in ("and", "point")) or word in ("a", "an", "minus", "negative")):
            break
        run.append(span)
    while run and run[-1][0] in ("and", "a", "an", "point", "minus", "negative"):
        run.pop()
    return run


def _value(words: list[str]) -> tuple[Fraction, int] | None:
    """Value and decimals that the words say, or None where they say no number."""
    total, part, decimals, seen = Fraction(0), Fraction(0), 0, False
    for at, word in enumerate(words):
        if word in ("and", "a", "an"):
            continue
        if word == "point":
            digits = [_SMALL.get(w, 99) for w in words[at + 1 :]]
            if not digits or max(digits) > 9:
                return None
            text = "".join(map(str, digits))
            return total + part + Fraction(int(text), 10 ** len(text)), len(text)
        if word in _SMALL or word in _TENS:
            value = _SMALL.get(word) if word in _SMALL else _TENS[word]
            assert value is not None
            if part % 100 and not (part % 100 >= 20 and part % 10 == 0 and value < 10):
                return None  # `two three`: two numbers, or a number read digit by digit
            part, seen = part + value, True
        elif word == "hundred" and part:
            part *= 100
        elif word in _BIG:
            total, part, seen = (total + (part or 1) * _BIG[word]), Fraction(0), True
        elif word in _PARTS:
            if not seen and word not in ("half",) and words[max(0, at - 1)] not in ("a", "an"):
                return None  # `third` alone is an ordinal
            part, total, seen = ((total + part) if seen else Fraction(1)) * _PARTS[word], Fraction(0), True
    return (total + part, decimals) if seen else None


def _number(run: list[Span], text: str) -> Number | Ambiguous | None:
    """The number of a run, its sign before and its percent or unit after; None where it only looks like one."""
    words = [word for word, _, _ in run]
    minus = words[0] in ("minus", "negative")
    read = _value(words[1:] if minus else words)
    start, end = run[0][1], run[-1][2]
    if read is None:
        several = sum(word in _SMALL or word in _TENS for word in words) > 1
        return Ambiguous(text[start:end], "number words that make no one number", start, end) if several else None
    after = _AFTER.match(text, end)
    percent = bool(after and after[1].lower() in ("%", "percent", "per cent"))
    unit = unit_name(after[1]) if after and not percent else None
    if after and (percent or unit):
        end = after.end()
    value = -read[0] if minus else read[0]
    return Number(text[start:end], start, end, value, read[1], percent=percent, unit=unit)
