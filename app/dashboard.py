"""The dashboard: one Streamlit page with the figures of `evalctl report`, for two checkpoints of one's choice.

Started by `evalctl app`, on loopback. Nothing is computed here: the Overview is the report's. Campaigns that
run are looked at again every few seconds.
"""

import base64
import re
from pathlib import Path

import streamlit as st

from app.campaigns import campaigns
from app.gather import arrange, choose
from evalctl.errors import EvalctlError
from evalctl.store import Store
from reports import campaign_page, html, marked, style
from reports.campaign import CampaignView, State
from reports.cells import Cell, Place, measure
from reports.figures import Overview
from reports.markup import Markup, el

SVG = re.compile(r"<svg .*?</svg>", re.DOTALL)
TITLE = re.compile(r"<title[^>]*>([^<]*)</title><desc[^>]*>([^<]*)</desc>")
# Seconds between two looks at what runs. No docstring: Streamlit would show it on the page.
EVERY = 2.0
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
    known = seen(store)
    if known is not None:
        running(str(store.home))
    try:
        latest = arrange(store, measured=lambda key: measured(str(store.home), key))
    except EvalctlError as error:
        st.title("evalctl", anchor=False)
        st.info(plain(error))
    else:
        show(html.verdict_card(latest))
        show(html.matrix(latest))
        show(html.timelines(latest))
        if len(latest.places) > 1:
            compared(store, latest)
    if known:
        chosen(known)
    st.caption(f"Store: {store.home.absolute()}".replace("_", "\\_"))


def seen(store: Store) -> list[CampaignView] | None:
    """The campaigns of the store, newest first; None where one of them cannot be read, which is then said."""
    try:
        return campaigns(store)
    except EvalctlError as error:
        st.warning(plain(error))
        return None


@st.fragment(run_every=EVERY)
def running(home: str) -> None:
    """What runs now, looked at again by itself; the whole page is drawn anew when one begins or ends."""
    now = [one for one in seen(Store.open(Path(home))) or () if one.state is State.RUNNING]
    ids = [one.id for one in now]
    for one in now:
        show(campaign_page.card(one))
    if st.session_state.setdefault("running", ids) != ids:
        st.session_state["running"] = ids
        st.rerun()


def chosen(known: list[CampaignView]) -> None:
    """One campaign of the person's choice, whole; at first the newest."""
    named = {f"{one.id}: {one.checkpoint}, {one.state}": one for one in known}
    at = st.selectbox("Campaign", list(named), key="campaign") if len(named) > 1 else next(iter(named))
    show(campaign_page.campaign(named[at]))


def plain(error: EvalctlError) -> str:
    """An error's line as text that Streamlit's Markdown leaves alone."""
    return marked.safe(error)


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
