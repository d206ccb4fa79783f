"""One reader of literal values, for JSON as models write it and for the arguments of Python-style calls.

It builds values and names what was not clean; it evaluates nothing. Depth and work are bounded.
"""

import math
import re
from collections.abc import Callable
from enum import StrEnum

from ..types import Json

MAX_DEPTH = 60
"""Deeper nesting is no answer to anything, and every level costs stack."""
MAX_NUMBER = 400


class Fault(StrEnum):
    """What was not clean in a text that could be read all the same."""

    PROSE = "prose"
    """Other text stood around the value."""
    FENCE = "fence"
    """The value stood in a code fence."""
    TRAILING_COMMA = "trailing_comma"
    NOT_FINITE = "not_finite"
    """NaN, Infinity, or a number too large; the value equals nothing."""
    QUOTES = "quotes"
    """Single quotes where JSON wants double ones."""
    KEY = "unquoted_key"
    LITERAL = "python_literal"
    """True, False, None instead of true, false, null."""
    NUMBER = "number_form"
    """A number that JSON does not write so: +1, .5, 01."""
    ESCAPE = "bad_escape"
    CONTROL = "control_character"
    """A raw line break or control character inside a string."""
    DUPLICATE = "duplicate_key"
    """The last one counts."""
    COMMENT = "comment"
    UNCLOSED = "unclosed"
    """Closing brackets were missing at the very end, after a whole value."""
    WRAPPER = "wrapper"
    """A call under other keys than `name` and `arguments`."""
    POSITIONAL = "positional"
    """Arguments without names, taken in the order of the tool's parameters."""
    UNREADABLE = "unreadable"
    """Something that begins as a call, and cannot be read as one."""


class Unreadable(Exception):
    """Here stands no value; `at` is how far reading came, `deep` that the nesting was too deep to go on."""

    def __init__(self, at: int, reason: str = "no value", deep: bool = False) -> None:
        super().__init__(reason)
        self.at = at
        self.deep = deep


_SPACE = re.compile(r"[ \t\r\n\u00a0\ufeff]*")
_COMMENT = re.compile(r"//[^\n]*|/\*")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![0-9A-Za-z_.])")
_STRICT_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NAME = re.compile(r"-?[A-Za-z_$][A-Za-z0-9_$-]*")
_PLAIN = {'"': re.compile(r'[^"\\\x00-\x1f]*'), "'": re.compile(r"[^'\\\x00-\x1f]*")}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "\\": "\\", "/": "/"}
_LITERALS: dict[str, Json] = {"true": True, "false": False, "null": None}
_PYTHON: dict[str, Json] = {"True": True, "False": False, "None": None}
_INFINITE = {"NaN": math.nan, "nan": math.nan, "Infinity": math.inf, "-Infinity": -math.inf, "inf": math.inf}


class Scanner:
    """Reads values of `text` from `at` on; `faults` collects what was not clean.

    In `python` mode single quotes, tuples and Python's literals are clean.
    """

    def __init__(self, text: str, at: int = 0, python: bool = False) -> None:
        self.text = text
        self.at = at
        self.python = python
        self.faults: set[Fault] = set()
        self.depth = 0

    def space(self) -> str:
        """Skip white space and comments; the character that stands next, or ``."""
        while True:
            found = _SPACE.match(self.text, self.at)
            self.at = found.end() if found else self.at
            comment = _COMMENT.match(self.text, self.at)
            if not comment:
                return self.text[self.at : self.at + 1]
            self.faults.add(Fault.COMMENT)
            end = self.text.find("*/", comment.end()) if comment[0] == "/*" else comment.end() - 2
            if end < 0:
                raise Unreadable(len(self.text), "a comment without end")
            self.at = end + 2

    def value(self) -> Json:
        """The value that begins here; raises Unreadable."""
        char = self.space()
        if char == "{":
            return self._nested(self._object)
        if char == "[":
            return self._nested(lambda: self.items("]"))
        if char == "(" and self.python:
            return self._nested(lambda: self.items(")"))
        if char in ('"', "'") and char:
            return self.string(char)
        return self._word()

    def _nested(self, read: Callable[[], Json]) -> Json:
        self.at += 1
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable(self.at, f"nested deeper than {MAX_DEPTH}", deep=True)
        value = read()
        self.depth -= 1
        return value

    def _ended(self, closing: str) -> bool:
        """Whether the bracket closes here; at the very end of the text a missing one is a fault, not a failure."""
        char = self.space()
        if char == closing:
            self.at += 1
            return True
        if char == "" and self.text.rstrip()[-1:] in tuple("}])\"'"):
            self.faults.add(Fault.UNCLOSED)
            return True
        return False

    def items(self, closing: str) -> list[Json]:
        """The values up to the closing bracket."""
        values: list[Json] = []
        while not self._ended(closing):
            if values:
                self._comma()
                if self._ended(closing):
                    self._trailing()
                    break
            values.append(self.value())
        return values

    def _comma(self) -> None:
        if self.space() != ",":
            raise Unreadable(self.at, "a comma is missing")
        self.at += 1

    def _trailing(self) -> None:
        if not self.python:
            self.faults.add(Fault.TRAILING_COMMA)

    def _object(self) -> dict[str, Json]:
        found: dict[str, Json] = {}
        first = True
        while not self._ended("}"):
            if not first:
                self._comma()
                if self._ended("}"):
                    self._trailing()
                    break
            first = False
            key = self._key()
            if self.space() != ":":
                raise Unreadable(self.at, "a colon is missing")
            self.at += 1
            if key in found:
                self.faults.add(Fault.DUPLICATE)
            found[key] = self.value()
        return found

    def _key(self) -> str:
        char = self.space()
        if char in ('"', "'") and char:
            return self.string(char)
        name = _NAME.match(self.text, self.at)
        if name is None:
            raise Unreadable(self.at, "a key is missing")
        self.faults.add(Fault.KEY)
        self.at = name.end()
        return name[0]

    def string(self, quote: str) -> str:
        """The string that begins here with `quote`."""
        if quote == "'" and not self.python:
            self.faults.add(Fault.QUOTES)
        self.at += 1
        parts: list[str] = []
        while True:
            plain = _PLAIN[quote].match(self.text, self.at)
            assert plain is not None
            parts.append(plain[0])
            self.at = plain.end() + 1
            char = self.text[plain.end() : self.at]
            if char == quote:
                return _paired("".join(parts), self.faults)
            if char == "":
                raise Unreadable(self.at, "a string without end")
            if char == "\\":
                parts.append(self._escape())
            else:
                self.faults.add(Fault.CONTROL)
                parts.append(char)

    def _escape(self) -> str:
        char = self.text[self.at : self.at + 1]
        self.at += 1
        if char == "u":
            digits = self.text[self.at : self.at + 4]
            if re.fullmatch(r"[0-9a-fA-F]{4}", digits):
                self.at += 4
                return chr(int(digits, 16))
        if char in _ESCAPES:
            return _ESCAPES[char]
        if not (self.python and char == "'"):
            self.faults.add(Fault.ESCAPE)
        return char

    def _word(self) -> Json:
        number = _NUMBER.match(self.text, self.at)
        if number:
            self.at = number.end()
            return self._number(number[0])
        name = _NAME.match(self.text, self.at)
        word = name[0] if name else ""
        if word in _INFINITE:
            self.faults.add(Fault.NOT_FINITE)
            value: Json = _INFINITE[word]
        elif word in _LITERALS:
            value = _LITERALS[word]
        elif word in _PYTHON:
            value = _PYTHON[word]
            if not self.python:
                self.faults.add(Fault.LITERAL)
        else:
            raise Unreadable(self.at)
        self.at += len(word)
        return value

    def _number(self, text: str) -> int | float:
        if not self.python and not _STRICT_NUMBER.fullmatch(text):
            self.faults.add(Fault.NUMBER)
        whole = text.lstrip("+-").isdigit()
        value = math.inf if len(text) > MAX_NUMBER else (int(text) if whole else float(text))
        if isinstance(value, float) and math.isinf(value):
            self.faults.add(Fault.NOT_FINITE)
        return value


def _paired(text: str, faults: set[Fault]) -> str:
    """The text with surrogate pairs joined; a lone half cannot be stored anywhere and becomes U+FFFD."""
    if text.isascii() or not re.search("[\ud800-\udfff]", text):
        return text
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if "\ufffd" in joined:
        faults.add(Fault.ESCAPE)
    return joined
