"""Pieces that every section of the page is made of."""

from .markup import Markup, el
from .verdicts import VerdictView
from .words import MARKS

ROWS = 40
"""Checkpoints in the matrix, verdicts in the list; older ones are counted, not drawn."""


def section(heading: str, note: str, *body: object) -> Markup:
    """A part of the page under its heading."""
    return el("section", el("h2", heading), el("p", note, class_="note") if note else None, *body)


def word(verdict: VerdictView) -> Markup:
    """The verdict's word with its shape."""
    better = " ▲ IMPROVED" if verdict.improved else ""
    return el("span", f"{MARKS[verdict.decision]} {verdict.decision}{better}", class_="word")


def number(content: object) -> Markup:
    """A cell of figures, set to the right."""
    return el("td", content, class_="n")
