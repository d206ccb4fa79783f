"""Whatever a model, a file or a name says, it stays text."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from reports.marked import safe
from reports.markup import el, esc
from reports.words import visible


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.attributes: dict[str, str | None] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.update(attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


@given(st.text())
def test_text_and_attributes_come_back_as_themselves_and_make_no_element(text: str) -> None:
    reader = Reader()
    reader.feed(el("p", text, title=text))
    reader.close()
    assert reader.tags == ["p"]
    assert reader.text == visible(text)
    assert reader.attributes == {"title": visible(text)}


def test_only_what_el_made_passes_unescaped() -> None:
    assert el("p", el("b", "<i>")) == "<p><b>&lt;i&gt;</b></p>"
    assert esc("\"'&") == "&quot;&#x27;&amp;"


def test_markdown_text_makes_no_link_image_cell_mention_or_html() -> None:
    said = safe("![x](http://e.org) |`a` <img> @team www.e.org\n# h")
    assert said == "!\\[x\\](http\\://e.org) \\|\\`a\\` \\<img\\> @\u2060team www\\.e.org \\# h"
