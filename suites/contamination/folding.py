"""Text folded to the tokens that are compared, each with the place it came from.

Folded are case, compatibility forms and composition (NFKC), accents that do not compose, zero-width characters,
spacing and punctuation. Numbers stay, since in a short item they are the item.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

Span = tuple[int, int]

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# Written without spaces, so each character is a token: a sentence inside a paragraph begins at no other bound.
_TOKEN = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
_ALIKE = str.maketrans({"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/"})
_OPERATORS = frozenset("+-*/=<>^")


@dataclass(frozen=True)
class Tokens:
    """The tokens of a text, and where each stands in it."""

    text: str
    words: tuple[str, ...]
    spans: tuple[Span, ...]

    def span(self, start: int, end: int) -> Span:
        """Characters of the tokens from `start` up to `end`."""
        return self.spans[start][0], self.spans[end - 1][1]

    def operators(self, start: int, end: int) -> tuple[str, ...]:
        """What stands between neighbours that are numbers or single letters, as in `3+5` or `x-y`; else nothing."""
        return tuple(
            self._between(at) if _symbol(self.words[at]) and _symbol(self.words[at + 1]) else ""
            for at in range(start, end - 1)
        )

    def cuts_a_number(self, start: int, end: int) -> bool:
        """Whether the tokens begin or end inside a number: `5+3` in `12.5+3` or in `5+3,000`."""
        first, last = self.span(start, end)
        before, after = self.text[max(0, first - 2) : first + 1], self.text[last - 1 : last + 2]
        return any(
            len(cut) == 3 and cut[1] in ".," and cut[0].isdigit() and cut[2].isdigit() for cut in (before, after)
        )

    def _between(self, at: int) -> str:
        gap = self.text[self.spans[at][1] : self.spans[at + 1][0]]
        if gap == ".":
            return gap
        return "".join(c for c in unicodedata.normalize("NFKC", gap).translate(_ALIKE) if c in _OPERATORS)


def tokens(text: str) -> Tokens:
    """Words and numbers, folded.

    >>> tokens("Close_Gate(ROOM: 39)").words
    ('close', 'gate', 'room', '39')
    >>> tokens("Cafe\u0301s").words == tokens("CAF\u00c9S").words
    True
    """
    if text.isascii():
        found = list(_TOKEN.finditer(text.lower()))
        return Tokens(text, tuple(match[0] for match in found), tuple(match.span() for match in found))
    folded: list[str] = []
    places: list[Span] = []
    for start, end in _clusters(text):
        piece = _fold(text[start:end])
        folded.append(piece)
        places += [(start, end)] * len(piece)
    found = list(_TOKEN.finditer("".join(folded)))
    spans = tuple((places[match.start()][0], places[match.end() - 1][1]) for match in found)
    return Tokens(text, tuple(match[0] for match in found), spans)


def _clusters(text: str) -> Iterator[Span]:
    """Each character with all that may compose with it, so that what is folded can be traced to its place."""
    start = 0
    for at in range(1, len(text)):
        if text[at] <= "\x7f" or not _joins(text[at]):
            yield start, at
            start = at
    yield start, len(text)


@lru_cache(maxsize=4096)
def _joins(char: str) -> bool:
    return _silent(char) or "\u1160" <= char <= "\u11ff" or char in "\uff9e\uff9f"


def _silent(char: str) -> bool:
    """A mark or a formatting character: it shapes what stands before it and is no letter."""
    return unicodedata.category(char) in ("Mn", "Mc", "Me", "Cf")


@lru_cache(maxsize=4096)
def _fold(cluster: str) -> str:
    # Formatting goes first: a zero-width character would keep a letter and its accent from composing.
    heard = "".join(char for char in cluster if unicodedata.category(char) != "Cf")
    composed = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", heard).casefold())
    return "".join(char for char in composed if not _silent(char))


def _symbol(word: str) -> bool:
    return len(word) == 1 or any(char.isdigit() for char in word)
