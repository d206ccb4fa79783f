"""What an import tells beside its trials, and what a reader of a format is."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from evalctl.types import Trial

EXAMPLES = 3
LONGEST = 200
MOST = 200
"""Distinct notes kept apart; a file that gives cause for more is told of in one line for all the rest."""


class Notes:
    """Counts of what a person should know about a file, with the first few examples of each."""

    def __init__(self) -> None:
        self._count: Counter[str] = Counter()
        self._examples: dict[str, list[str]] = {}

    def add(self, text: str, example: str = "") -> None:
        """Count `text` once more; a file's own words in it are cut and made printable."""
        text, example = _tame(text), _tame(example)
        if len(self._count) >= MOST and text not in self._count:
            text, example = "further notes, of too many kinds to list", ""
        self._count[text] += 1
        examples = self._examples.setdefault(text, [])
        if example and len(examples) < EXAMPLES:
            examples.append(example)

    def lines(self) -> list[str]:
        """A line each, in the order first counted: `3 rows: no cluster … (line 1, line 2, line 3)`."""
        return [self._line(text, count) for text, count in self._count.items()]

    def _line(self, text: str, count: int) -> str:
        examples = self._examples[text]
        more = ", …" if count > len(examples) else ""
        shown = f" ({', '.join(examples)}{more})" if examples else ""
        return f"{count} row{'s' if count > 1 else ''}: {text}{shown}"


def _tame(text: str) -> str:
    text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


class Reader(Protocol):
    """Reads one format."""

    def __call__(self, path: Path, suite: str | None, notes: Notes) -> Iterator[Trial]:
        """The trials in `path`, in order; `suite` is that of rows which name none.

        Raises DataError with file and line for what cannot be read; what is well-formed but unfit is kept and
        told in `notes`.
        """
        ...
