"""HTML and SVG as text, escaped by construction: what is not Markup is escaped, whoever wrote it."""

import html

from .words import visible


class Markup(str):
    """Text that is already HTML or SVG; only `el` and `join` make it."""

    __slots__ = ()


VOID = frozenset({"meta", "br", "line", "rect", "circle", "path", "polygon"})
"""Elements without content here, written `<x …/>`: valid in HTML's void and SVG's empty form alike."""


def esc(text: object) -> Markup:
    """`text` for an element's content or a quoted attribute; Markup passes, control characters become visible.

    >>> esc("<b>\\x1b[31m")
    '&lt;b&gt;\\\\x1b[31m'
    """
    return text if isinstance(text, Markup) else Markup(html.escape(visible(str(text)), quote=True))


def el(name: str, /, *children: object, **attributes: object) -> Markup:
    """One element. Attributes: `class_` for `class`, `_` for `-`, None left out.

    >>> el("td", "a < b", class_="n")
    '<td class="n">a &lt; b</td>'
    """
    pairs = [(k.removesuffix("_").replace("_", "-"), v) for k, v in attributes.items() if v is not None]
    head = "".join(f' {_camel(key)}="{esc(_number(value))}"' for key, value in pairs)
    if name in VOID:
        return Markup(f"<{name}{head}/>")
    return Markup(f"<{name}{head}>{join(*children)}</{name}>")


def join(*parts: object) -> Markup:
    """Parts one after another; None is nothing."""
    return Markup("".join(esc(part) for part in parts if part is not None))


def _camel(key: str) -> str:
    # SVG's own names are case-sensitive, and Python keywords here are not.
    return "viewBox" if key == "viewbox" else key


def _number(value: object) -> object:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value
