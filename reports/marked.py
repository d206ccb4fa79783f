"""Markdown text that stays text, and tables of it."""

import re
from collections.abc import Iterable, Sequence

from .words import visible

SPECIAL = re.compile(r"([\\`*_\[\]<>#|~$&]|:(?=//)|(?<=www)\.)", re.IGNORECASE)


def safe(text: object) -> str:
    """`text` as itself in Markdown: no link, image, HTML, mention or table cell of its own.

    >>> safe("a|b <img src=x>")
    'a\\\\|b \\\\<img src=x\\\\>'
    """
    # A word joiner after @ keeps a forge from reading a mention or an address.
    return SPECIAL.sub(r"\\\1", visible(str(text))).replace("@", "@\u2060")


def row(cells: Iterable[object]) -> str:
    """One line of a table."""
    return "| " + " | ".join(safe(cell) for cell in cells) + " |"


def table(head: Sequence[str], rule: str, rows: Iterable[Iterable[object]]) -> str:
    """A table; `rule` is its second line, which sets columns to the left or right."""
    return "\n".join([row(head), rule, *(row(cells) for cells in rows)])
