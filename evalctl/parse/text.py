"""Text made comparable: quotes, spaces, full-width forms, composition and case, but never the meaning.

>>> normalise("\u201cM\u00fcller\u2019s\u201d\u00a0\uff11\uff12")
'"Müller\\'s" 12'
>>> fold("  **Paris**. ") == fold("paris")
True
"""

import re
import unicodedata

MAX_CHARS = 1_000_000
"""The longest text any parser here looks at; longer is told as unreadable."""

_QUOTES = {
    '"': "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\u301d\u301e",
    "'": "\u2018\u2019\u201a\u201b\u2032\u00b4\u02bc",
}
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63"
_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_NOTHING = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f"


def _table() -> dict[int, str]:
    """One character to what stands for it; full-width forms and the decimal digits of every script included."""
    table = {ord(c): plain for plain, chars in _QUOTES.items() for c in chars}
    table |= {ord(c): "-" for c in _DASHES} | {ord(c): " " for c in _SPACES} | {ord(c): "" for c in _NOTHING}
    table |= {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    for code in range(0x80, 0x1FBFA):
        digit = unicodedata.decimal(chr(code), None)
        if digit is not None:
            table[code] = str(digit)
    return table


_TABLE = _table()
_SPACE_RUN = re.compile(r"\s+")
_WRAPS = frozenset("\"'`*_")
_WORD = re.compile(r"(?<!\w)[+-]?[0-9]+(?:[.,][0-9]+)*|\w+(?:'\w+)*|[^\w\s]")


def normalise(text: str) -> str:
    """The text in NFC with straight quotes, plain spaces and hyphens, ASCII digits, and nothing invisible."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).translate(_TABLE))


def squash(text: str) -> str:
    """Normalised, with every run of white space as one space and none at the ends."""
    return _SPACE_RUN.sub(" ", normalise(text)).strip()


def unwrap(text: str) -> str:
    """Without the marks that wrap the whole text: quotes, back-ticks, emphasis, `\\boxed{}`."""
    text = text.strip()
    depth, last = 0, len(text) - 1
    while last - depth > depth + 1 and text[depth] in _WRAPS and text[last - depth] == text[depth]:
        depth += 1
    text = text[depth : len(text) - depth].strip()
    if text.startswith("\\boxed{") and text.endswith("}"):
        text = text[7:-1]
    return text.strip()


def fold(text: str, case: bool = False) -> str:
    """What two texts must share to be the same answer: squashed, unwrapped, without case and final full stop.

    Punctuation inside stays: `1.5` is not `15`, `C++` is not `C`.
    """
    text = unwrap(squash(text))
    if text.endswith(".") and not text.endswith(".."):
        text = unwrap(text[:-1])
    return text if case else text.casefold()


def words(text: str) -> list[str]:
    """Lower-case words and whole numbers (sign and separators kept); other signs are a word each.

    >>> words("It's -1,234.5 (C++)")
    ["it's", '-1,234.5', '(', 'c', '+', '+', ')']
    """
    return _WORD.findall(normalise(text).casefold())


def _sticks(text: str, at: int, step: int, edge: str) -> bool:
    """Whether the character at `at`, just outside `edge`, belongs to the same token as it."""
    if not 0 <= at < len(text):
        return False
    char = text[at]
    beyond = text[at + step] if 0 <= at + step < len(text) else ""
    if edge.isdigit():
        if char in ".,":
            return beyond.isdigit()
        if step < 0 and char in "+-":
            # `-5` is not `5`, but `3-5` is a range that ends in it.
            return not (beyond.isalnum() or beyond == ")")
    if edge.isalnum():
        return char.isalnum() or char == "_" or (step > 0 and char in "+#" and not edge.isdigit())
    return char == edge


def find_token(text: str, needle: str) -> int:
    """Where `needle` stands in `text` as whole words or numbers, or -1. Both normalised by the caller.

    >>> find_token("I know none of 100 for $5.", "no"), find_token("I know none of 100 for $5.", "$5")
    (-1, 23)
    """
    if not needle:
        return -1
    at = text.find(needle)
    while at >= 0:
        end = at + len(needle)
        if not _sticks(text, at - 1, -1, needle[0]) and not _sticks(text, end, 1, needle[-1]):
            return at
        at = text.find(needle, at + 1)
    return -1
