"""The dashboard: one Streamlit page with the figures of `evalctl report`, for two checkpoints of one's choice.

Started by `evalctl app`, on loopback. Nothing is computed here: the Overview is the report's.
"""

import base64
import re
from pathlib import Path

import streamlit as st

from app.gather import choose, gather
from evalctl.errors import EvalctlError
from evalctl.store import Store
from reports import html, style
from reports.cells import Cell, Place, measure
from reports.figures import Overview
from reports.markup import Markup, el

SVG = re.compile(r"<svg .*?</svg>", re.DOTALL)
TITLE = re.compile(r"<title[^>]*>([^<]*)</title><desc[^>]*>([^<]*)</desc>")
ROOM = "<style>[data-testid=stMainBlockContainer]{max-width:1140px;padding-top:3rem}</style>"


@st.cache_resource(max_entries=2000, show_spinner="Reading runs …")
def measured(home: str, key: str) -> Cell:
    """The figures of one run. A finished run never changes, so its key says all."""
    return measure(Store.open(Path(home)).load(key))


def draw() -> None:
    """The page, top to bottom."""
    st.set_page_config(page_title="evalctl", layout="wide", initial_sidebar_state="collapsed")
    st.html(ROOM)
    store = Store.open()
    try:
        latest = gather(store, measured=lambda key: measured(str(store.home), key))
    except EvalctlError as error:
        st.title("evalctl", anchor=False)
        st.info(str(error).replace("`", "'"))
        return
    show(html.verdict_card(latest))
    show(html.matrix(latest))
    show(html.timelines(latest))
    if len(latest.places) > 1:
        compared(store, latest)
    st.caption(f"Store: {store.home.absolute()}".replace("_", "\\_"))


def compared(store: Store, latest: Overview) -> None:
    """Two checkpoints of one's choice; at first those of the verdict above, or the two newest."""
    places = list(latest.places)
    tags = {latest.tag(place): place for place in places}
    at = (tags.get("baseline", places[1]), tags.get("candidate", places[0]))
    show(el("h2", "Any two checkpoints"))
    left, right = st.columns(2)
    baseline = left.selectbox("Baseline", places, places.index(at[0]), format_func=latest.label, key="baseline")
    candidate = right.selectbox("Candidate", places, places.index(at[1]), format_func=latest.label, key="candidate")
    if baseline == candidate:
        st.info("Choose two different checkpoints.")
        return
    page = latest if (baseline, candidate) == at and latest.differences else other(store, latest, baseline, candidate)
    if not page.differences:
        st.info("No suite was run on both.")
        return
    if page is not latest:
        show(html.verdict_card(page))
    show(html.forest(page))


def other(store: Store, latest: Overview, baseline: Place, candidate: Place) -> Overview:
    """The page of another pair than the newest verdict's."""
    with st.spinner("Comparing …"):
        return choose(store, latest, baseline, candidate)


def show(section: Markup | None) -> None:
    """One part of the report, in the theme that Streamlit shows."""
    if section is not None:
        dark = st.context.theme.type == "dark"
        pictured = SVG.sub(lambda chart: picture(chart[0], dark), section)
        st.html(f'<div class="evalctl"><style>{style.fragment(dark)}</style>{pictured}</div>')


def picture(chart: str, dark: bool) -> str:
    """An inline chart as an image: Streamlit lets no SVG element through, and an image may hold one."""
    title, description = TITLE.findall(chart)[0]
    alone = chart.replace("<title", f"<style>{style.image(dark)}</style><title", 1)
    kind = "strip" if 'class="strip"' in chart else "chart"
    data = base64.b64encode(alone.encode()).decode()
    return f'<img class="{kind}" src="data:image/svg+xml;base64,{data}" alt="{title}. {description}">'


draw()
