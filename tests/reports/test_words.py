"""Figures are written so that a person reads what was measured."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalctl.types import Estimate
from reports.words import Unit, change, change_span, points, seconds, short, span, value, visible


@pytest.mark.parametrize(
    ("number", "text"), [(-0.12, "−12.0"), (0.008, "+0.8"), (0.0, "0.0"), (-0.0001, "0.0"), (math.inf, "+∞")]
)
def test_a_change_of_a_share_is_in_points_and_carries_its_sign(number: float, text: str) -> None:
    assert change(number, Unit.SHARE) == text


def test_what_is_no_share_is_never_written_as_percent() -> None:
    assert value(12.5, Unit.NUMBER) == "12.5"
    assert points(-30, Unit.NUMBER) == "−30.0"
    assert value(0.5, Unit.SHARE) == "50.0%"


def test_an_interval_names_both_ends_even_where_nothing_limits_one() -> None:
    assert span(Estimate(0.4, 0.36, 0.46, 10, 5), Unit.SHARE) == "36.0 to 46.0"
    assert change_span(Estimate(0.0, -math.inf, math.inf, 1, 1), Unit.SHARE) == "−∞ to +∞"


@given(st.text())
def test_no_character_that_steers_a_terminal_or_turns_text_around_is_left(text: str) -> None:
    shown = visible(text)
    assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 or char in "\u202e\u2066\u200b" for char in shown)
    assert visible(shown) == shown


@given(st.text(), st.integers(2, 30))
def test_a_short_name_is_short_and_keeps_both_ends(text: str, limit: int) -> None:
    cut = short(text, limit)
    assert len(cut) <= limit
    assert cut[:1] == visible(text)[:1]


def test_time_is_said_in_the_unit_it_is_felt_in() -> None:
    assert [seconds(s) for s in (4.24, 48, 200, 7500)] == ["4.2 s", "48 s", "3 min 20 s", "2 h 05 min"]
