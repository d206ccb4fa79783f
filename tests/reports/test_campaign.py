"""A campaign's section holds the figures of its record, the conditions in order, and nothing that its texts can do."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from evalctl.errors import EvidenceError
from evalctl.types import Json
from reports import campaign_markdown, campaign_page, html
from reports.campaign import State, headline
from reports.campaign_record import read

from .campaigns import CONDITIONS, record, refused, unfinished
from .pages import HOSTILE, NOW, SVG, assert_harmless, page


def test_the_order_is_card_gains_conditions_what_moved_data_stages_and_origin() -> None:
    text = campaign_page.campaign(read(record()))
    assert re.findall(r"<h[23]>(.*?)</h[23]>", text) == [
        "Training on failures",
        "Gain on held-out evidence",
        "Conditions of promotion",
        "What moved elsewhere",
        "Data",
        "Stages",
        "What the campaign was made from",
    ]


@pytest.mark.parametrize("form", [campaign_page.campaign, campaign_markdown.campaign])
def test_base_score_every_fold_the_pooled_gain_and_the_sealed_result_are_told(form: object) -> None:
    text = re.sub(r"<[^>]+>", " ", str(form(read(record()))))  # type: ignore[operator]
    assert "tooluse 30.0% of 84 samples" in text
    for label in ("fold 0, held out", "fold 1, held out", "fold 2, held out", "all folds, cross-fitted"):
        assert label in text
    assert "+41.2" in text
    assert "+31.2 to +51.2" in text
    assert "sealed tooluse (look 1 of 20)" in text
    assert "+25.0 to +45.0" in text
    assert "rlvr ran in the final alone" in text


def test_the_sentence_of_a_promotion_gives_the_gains_and_that_of_a_refusal_its_reason() -> None:
    assert headline(read(record())).startswith(
        "base-a1b2c3d4 is promoted over base: all folds, cross-fitted, +41.2 points (lower bound +31.2)"
    )
    assert headline(read(refused())) == "base stays: cross-fit gain: -0.024, lower bound -0.095."


def test_conditions_stand_in_order_as_held_failed_or_not_judged() -> None:
    view = read(refused())
    assert [one.name for one in view.conditions] == list(CONDITIONS)
    text = campaign_page.campaign(view)
    assert text.count("✕ failed") == 1
    assert text.count("– not judged") == len(CONDITIONS) - 1
    assert text.index("✕ failed") < text.index("– not judged")


def test_every_measured_family_stands_beside_whether_it_was_trained() -> None:
    text = campaign_markdown.campaign(read(record()))
    assert "| tooluse · list | bench | trained | 20.0% | 70.0% | +50.0 |" in text
    assert "| arithmetic · tens | replay | – | 80.0% | 76.0% | −4.0 |" in text


def test_data_that_were_spoilt_on_purpose_are_called_that() -> None:
    assert "spoilt on purpose: shuffled-answers" in campaign_page.card(read(refused()))
    assert "spoilt" not in campaign_page.card(read(record()))


def test_what_runs_shows_step_stage_fold_and_remaining_time() -> None:
    card = campaign_page.card(read(unfinished()))
    assert "▸ RUNNING" in card
    assert "step 5 of 7, cross-fit: train without each fold, measure it; sft fold-1, 12 of 40" in card
    assert "about 1 min 20 s left" in card
    on_a_run = campaign_page.card(read(unfinished(stage="tooluse on base")))
    assert "tooluse on base, fold 1, 12 of 40" in on_a_run
    assert 'aria-valuenow="12"' in card
    assert "--resume" not in card


def test_what_was_interrupted_says_how_it_goes_on_and_promises_no_time() -> None:
    card = campaign_page.card(read(unfinished("interrupted")))
    assert "? INTERRUPTED" in card
    assert "--resume" in card
    assert "left of it" not in card
    assert "progressbar" not in card


def test_a_look_that_was_refused_is_told_and_draws_no_figure() -> None:
    spent: Json = {"tooluse": {"alpha": 0.0025, "look": {"number": 21, "budget": 20}}}
    text = campaign_page.campaign(read(record(sealed=spent)))
    assert "not shown: the looks are spent" in text
    assert "sealed tooluse (look 21 of 20)" in text


def test_both_plots_are_sound_xml_with_names_of_their_own() -> None:
    text = campaign_page.campaign(read(record()), "c1") + campaign_page.campaign(read(refused()), "c2")
    plots = [ET.fromstring(one) for one in SVG.findall(text)]
    assert len(plots) == 4
    names = [element.get("id") for plot in plots for element in plot.iter() if element.get("id")]
    assert len(names) == len(set(names))
    assert "all folds, cross-fitted: +41.2 points" in str(plots[0][1].text)


def spoilt(value: Json) -> Json:
    """The same with every text hostile; keys stay."""
    if isinstance(value, dict):
        return {key: spoilt(one) for key, one in value.items()}
    if isinstance(value, list):
        return [spoilt(one) for one in value]
    return value + HOSTILE if isinstance(value, str) else value


def test_hostile_text_in_a_record_stays_text_everywhere() -> None:
    known = record(sabotage="x")
    named: Json = {
        "screened": {HOSTILE: {"passed": 1, "failed": {HOSTILE: 1}, "left_out": {HOSTILE: 1}}},
        "data": {"rows": 1, "dropped": {HOSTILE: 1}, "by_family": {HOSTILE: {HOSTILE: 1}}, "by_kind": {HOSTILE: 1}},
        "sealed": {HOSTILE: known["sealed"]["tooluse"]},
        "skipped": {HOSTILE: HOSTILE},
        "base": {HOSTILE: known["base"]["tooluse"]},
    }
    for view in (
        read(spoilt(known) | named | {"status": "promoted"}),
        read(spoilt(unfinished()) | {"status": "running"}),
    ):
        shown = replace(page(), campaign=view)
        assert_harmless(shown)


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"id": "x", "status": "great", "checkpoint": {"name": "b"}},
        record(checkpoint="base"),
        record(conditions=[{"held": True}]),
        record(crossfit={"difference": {"value": "high"}}),
        record(data={"rows": "many"}),
    ],
)
def test_what_is_no_record_is_refused_by_its_id(broken: dict[str, Json]) -> None:
    with pytest.raises(EvidenceError, match=r"^campaign .+: its record is not one"):
        read(broken)


def test_bounds_that_nothing_limits_are_drawn_and_said() -> None:
    folds = record()["crossfit"] | {"difference": {"value": 0.1, "low": None, "high": None, "n": 3, "clusters": 3}}
    text = campaign_page.campaign(read(record(crossfit=folds)))
    assert "−∞ to ∞" in text or "−∞ to +∞" in text


def test_every_state_has_a_word_a_shape_and_a_tone_of_its_own() -> None:
    views = [read(record(status=str(state))) for state in State]
    assert len({view.word[0] for view in views}) == len(State)
    assert len({re.findall(r'class="verdict (\S+)"', campaign_page.card(view))[0] for view in views}) == len(State)


def test_the_section_stands_on_the_page_after_the_pair_and_only_where_there_is_a_campaign() -> None:
    plain = html.page(page(), NOW)
    assert "Training on failures" not in plain
    headings = re.findall(r"<h2>(.*?)</h2>", html.page(replace(page(), campaign=read(record())), NOW))
    assert headings[:3] == ["Checkpoints and suites", "tuned minus base", "Training on failures"]
