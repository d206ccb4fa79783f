"""The pages hold what was promised, alone, in order, and safe from what they show."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from evalctl.gate.verdict import Decision
from evalctl.types import Estimate
from reports import charts, html, markdown
from reports.cells import measure
from reports.figures import Difference, overview
from reports.words import Unit
from tests.doubles import Synthetic

from .pages import HOSTILE, NOW, SVG, assert_harmless, finding, page, verdict


@pytest.fixture(scope="module")
def regressed() -> str:
    findings = (finding(Decision.REGRESSED), finding(Decision.INCONCLUSIVE, "arithmetic", needed=90, tier="advisory"))
    return html.page(page(verdict(Decision.REGRESSED, *findings), verdict(Decision.PASS)), NOW)


def test_the_file_is_whole_in_itself(regressed: str) -> None:
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in regressed
    assert not re.search(r"<(script|link|iframe|img|object|form)\b|\bhref=|@import|url\(|\bon\w+=", regressed)
    assert set(re.findall(r"https?://[^\"\s<]+", regressed)) == {"http://www.w3.org/2000/svg"}


def test_the_order_is_that_of_a_reader_with_five_minutes(regressed: str) -> None:
    headings = re.findall(r"<h2>(.*?)</h2>", regressed)
    assert headings == [
        "Checkpoints and suites",
        "tuned minus base",
        "Further metrics",
        "By family",
        "Over time",
        "What was not scored",
        "Verdicts",
        "How it was made",
    ]
    assert regressed.index("tuned is worse than base") < regressed.index("Checkpoints and suites")


def test_every_plot_is_sound_xml_and_says_in_words_what_it_shows(regressed: str) -> None:
    plots = [ET.fromstring(text) for text in SVG.findall(regressed)]
    assert len(plots) == 4 + 2 + 2
    names = [element.get("id") for plot in plots for element in plot.iter() if element.get("id")]
    assert len(names) == len(set(names))
    for plot in plots:
        title, description = plot[0], plot[1]
        assert plot.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
        assert title.text
        assert description.text
    forest = next(plot for plot in plots if plot[0].text == "Candidate minus baseline")
    assert "tooluse: −22.0 points (−28.0 to −14.0), REGRESSED" in str(forest[1].text)


def test_an_outcome_is_told_by_word_and_shape_and_not_by_colour_alone(regressed: str) -> None:
    assert "▼ REGRESSED" in regressed
    assert "? INCONCLUSIVE" in regressed
    shapes = {
        decision: re.sub(r"v-\w+|[\d.,-]+", "", charts._mark(9, 9, decision, improved=False)) for decision in Decision
    }
    assert len(set(shapes.values())) == len(Decision)


def test_left_out_zero_and_worst_case_are_all_shown(regressed: str) -> None:
    row = regressed[regressed.index("Worst case") :]
    assert re.search(r"−22.0 points.*−23.0 points.*−24.0 points", row, re.DOTALL)


def test_how_it_was_made_names_keys_digests_engine_and_sampling(regressed: str) -> None:
    made = regressed[regressed.index("How it was made") :]
    record = Synthetic(started="2026-03-01T09:00:00+00:00").run().record
    for text in (record.key, record.suite["digest"], record.checkpoint["weights_digest"]):
        assert text in made
    assert "transformers 5.24.0, dtype bfloat16, batch 32" in made
    assert "temperature 0.0, top_p 1.0, max_tokens 48" in made


def test_what_neither_side_recorded_and_what_slips_is_said_under_the_verdict() -> None:
    slips = finding(Decision.PASS, reasons=("slipping: U lies below 0",), not_recorded=("judge", "limits"))
    text = html.page(page(verdict(Decision.PASS, slips)), NOW)
    card = text[: text.index("Checkpoints and suites")]
    assert "slipping: U lies below 0" in card
    assert "Not recorded on either side: judge, limits (tooluse)." in card


def test_hostile_names_stay_text_on_every_page() -> None:
    runs = [
        Synthetic(suite=HOSTILE, checkpoint=HOSTILE + str(i), families=(HOSTILE, "b"), metrics=(HOSTILE,)).run()
        for i in range(2)
    ]
    from reports.figures import Side

    sides = [Side(run.record.checkpoint["name"], {HOSTILE: run}) for run in runs]
    judged = verdict(Decision.INVALID, finding(Decision.INVALID, HOSTILE, slice=HOSTILE, reasons=(HOSTILE,)))
    judged |= {"baseline_name": sides[0].name, "candidate_name": sides[1].name}
    shown = overview([measure(run) for run in runs], [judged], *sides)
    assert_harmless(shown)


@pytest.mark.parametrize("width", [360, 720, 1040])
def test_no_text_of_the_forest_leaves_its_plot(width: int) -> None:
    wide = Estimate(-0.5, -1.0, 1.0, 10, 10)
    rows = [Difference("s", "a-very-long-suite-name · with a slice · and a metric " * 3, difference=wide)]
    plot = ET.fromstring(charts.forest(rows, "f", width))
    for text in plot.iter("{http://www.w3.org/2000/svg}text"):
        x, size = float(text.get("x", "0")), len(text.text or "") * charts.GLYPH
        left = {"start": x, "middle": x - size / 2, "end": x - size}[text.get("text-anchor", "start")]
        assert left >= -12, text.text
        assert left + size <= width + 12, text.text


def test_plots_stand_extreme_figures() -> None:
    inf = float("inf")
    for estimate in (Estimate(0, -inf, inf, 1, 1), Estimate(0, 0, 0, 1, 1), Estimate(1, 1, 1, 5, 5)):
        ET.fromstring(charts.forest([Difference("s", "s", difference=estimate)], "f"))
        cell = measure(Synthetic().run())
        assert cell.figure is not None
        odd = replace(cell, figure=replace(cell.figure, estimate=estimate, unit=Unit.NUMBER))
        ET.fromstring(charts.timeline("s", [("a", odd), ("b", odd)], "t"))
    ET.fromstring(charts.timeline("s", [], "t"))


def test_a_line_breaks_where_the_suite_changed() -> None:
    one, two = measure(Synthetic().run()), measure(Synthetic(version="2").run())
    assert charts.timeline("s", [("a", one), ("b", one)], "t").count('class="run"') == 1
    assert charts.timeline("s", [("a", one), ("b", two)], "t").count('class="run"') == 0


def test_what_is_not_complete_or_not_scored_is_marked_where_the_figure_stands() -> None:
    text = html.page(page(errors=5, complete=False), NOW)
    assert "△ 5 unscored" in text
    assert "△ not complete" in text


def test_markdown_holds_the_same_figures() -> None:
    text = markdown.page(page(verdict(Decision.REGRESSED)), NOW)
    assert text.startswith("# tuned against base\n\n**▼ REGRESSED.** tuned is worse than base")
    assert "| tooluse | 50.0% | 28.0% | −22.0 | −28.0 to −14.0 | 80 | 40 | ▼ REGRESSED |" in text


def test_the_same_figures_make_the_same_bytes() -> None:
    assert html.page(page(verdict(Decision.PASS)), NOW) == html.page(page(verdict(Decision.PASS)), NOW)
