"""Numbers: what was written is read back, and what can be read in two ways is not read."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalctl.errors import LookupFailed
from evalctl.parse.number_words import read_words
from evalctl.parse.numbers import MAX_NUMBERS, Ambiguous, Number, decimal_comma, read_numbers
from evalctl.parse.stated import read_number, stated_number

whole = st.integers(-(10**15), 10**15)
places = st.integers(0, 6)


def grouped(digits: str, separator: str) -> str:
    sign, digits = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
    parts = []
    while len(digits) > 3:
        parts.insert(0, digits[-3:])
        digits = digits[:-3]
    return sign + separator.join([digits, *parts])


def written(value: int, decimals: int, group: str, point: str) -> str:
    sign, text = ("-" if value < 0 else ""), str(abs(value)).rjust(decimals + 1, "0")
    head, tail = (text[:-decimals], text[-decimals:]) if decimals else (text, "")
    return sign + grouped(head, group) + (point + tail if tail else "")


@given(whole, places, st.sampled_from([("", ".", None), (",", ".", "en"), (" ", ".", None), ("'", ".", "de-CH")]))
def test_a_number_written_in_its_locale_is_read_back(value: int, decimals: int, form: tuple) -> None:
    group, point, locale = form
    read = read_number(written(value, decimals, group, point), locale)
    assert isinstance(read, Number), read
    assert (read.amount, read.decimals) == (Fraction(value, 10**decimals), decimals)


@given(whole, places, st.sampled_from([".", " ", "\u202f", ""]))
def test_a_european_number_is_read_back_where_the_locale_is_declared(value: int, decimals: int, group: str) -> None:
    text = written(value, decimals, group, ",")
    read = read_number(text, "de_DE.UTF-8")
    assert isinstance(read, Number), read
    assert read.amount == Fraction(value, 10**decimals)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_is_read_back_from_its_text(value: float) -> None:
    read = read_number(repr(value))
    assert isinstance(read, Number), read
    assert float(read.amount) == value


@given(whole, st.integers(1, 10**6))
def test_a_fraction_is_read_as_the_quotient(above: int, below: int) -> None:
    read = read_number(f"{above}/{below}")
    assert isinstance(read, Number)
    assert read.amount == Fraction(above, below)


@given(st.integers(0, 999_999_999))
def test_number_words_are_read_back(value: int) -> None:
    (read,) = read_words(spelled(value))
    assert isinstance(read, Number), (spelled(value), read)
    assert read.amount == value


_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety"
ONES = f"zero one two three four five six seven eight nine {_TEENS}".split()
TENS = _TENS.split()


def spelled(value: int) -> str:
    for size, name in ((10**6, "million"), (10**3, "thousand"), (100, "hundred")):
        if value >= size:
            rest = value % size
            joint = " and " if size == 100 else " "
            return f"{spelled(value // size)} {name}" + (joint + spelled(rest) if rest else "")
    if value < 20:
        return ONES[value]
    return TENS[value // 10] + (f"-{ONES[value % 10]}" if value % 10 else "")


@given(st.text(max_size=200))
def test_no_text_makes_the_reader_fail(text: str) -> None:
    assert isinstance(stated_number(text), Number | Ambiguous)
    assert isinstance(stated_number(text, "fr", accounting=True), Number | Ambiguous)


@pytest.mark.parametrize(
    ("text", "amount", "percent", "unit"),
    [
        ("$5.2B", 5_200_000_000, False, "USD"),
        ("US$5", 5, False, "USD"),
        ("USD 500", 500, False, "USD"),
        ("500 EUR", 500, False, "EUR"),
        ("5K", 5_000, False, None),
        ("5 K", 5, False, "K"),
        ("5 km", 5, False, "km"),
        ("5 million dollars", 5_000_000, False, "USD"),
        ("2 percentage points", 2, False, "pp"),
        ("25 bps", 25, False, "bp"),
        ("12.5 per cent", Fraction(25, 2), True, None),
        ("3 × 10^5", 300_000, False, None),
        ("3×10⁻²", Fraction(3, 100), False, None),
        ("1 3/4", Fraction(7, 4), False, None),
        ("1½", Fraction(3, 2), False, None),
        ("two thirds", Fraction(2, 3), False, None),
        ("half a million", 500_000, False, None),
        ("5 hundred thousand", 500_000, False, None),
        ("minus twenty-five percent", -25, True, None),
        ("$42$", 42, False, None),
        ("1{,}234", 1234, False, None),
    ],
)
def test_scale_percent_and_unit_are_kept_apart(text: str, amount: Fraction, percent: bool, unit: str | None) -> None:
    read = stated_number(text)
    assert isinstance(read, Number), read
    assert read.meaning == (amount, percent, unit)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("12 + 30 = 42", 42),
        ("The answer is 8 * 9 = 72", 72),
        ("1. take 5\n2. add 3\nAnswer: 8", 8),
        ("In step 1 we get 15.\n\n15", 15),
        ("Answer: 5. Wait, no. Answer: 6", 6),
        ("#### 72 of 100", 72),
        ("**Answer:** 42 of 50", 42),
        ("So 5 and 6 make **11**", 11),
        ("In Q3 of 2024-03-05 we sold 42", 42),
        ("It was 42, yes, 42.0", 42),
        ("On the 3rd day: 9", 9),
        ("Die Antwort ist 7 von 10", 7),
    ],
)
def test_the_stated_number_is_found_among_others(text: str, amount: int) -> None:
    read = stated_number(text)
    assert isinstance(read, Number), read
    assert read.amount == amount


@pytest.mark.parametrize(
    "text",
    [
        "5 or 6",
        "10-20",
        "x = 5, y = 6",
        "1,2,3",
        "0,123",
        "1,5",
        "1.234.567",
        "1.234,50",
        "answer is 5 or 6",
        "5'9",
        "two three",
    ],
)
def test_what_can_be_read_in_two_ways_is_ambiguous(text: str) -> None:
    read = stated_number(text)
    assert isinstance(read, Ambiguous)
    assert read.reason


@pytest.mark.parametrize("text", ["", "none", "2024-03-05", "12:30", "Q3", "COVID-19", "1.2.3", "x_1", "H2O"])
def test_names_dates_and_times_are_no_numbers(text: str) -> None:
    assert stated_number(text) == Ambiguous("", "no number")


def test_a_locale_that_is_not_known_is_told() -> None:
    with pytest.raises(LookupFailed, match="unknown locale 'dee'; did you mean 'de'"):
        decimal_comma("dee")


@pytest.mark.parametrize("text", ["9" * 500, "1e999999", "1e" + "9" * 99, "3 × 10^99999", "1/0"])
def test_numbers_too_large_to_compute_with_are_not_computed(text: str) -> None:
    assert isinstance(stated_number(text), Ambiguous)


def test_a_text_of_too_many_numbers_or_characters_is_told() -> None:
    assert len(read_numbers("1 a " * 10_000)) == MAX_NUMBERS + 1
    assert stated_number("1" * 1_000_001).reason == "longer than 1000000 characters"  # type: ignore[union-attr]
