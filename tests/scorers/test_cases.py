"""What public scorers got wrong, row by row, and what is right here."""

import pytest

from evalctl.errors import LookupFailed, UsageError, VerifierError
from evalctl.types import Completion, Json, Sample, Score
from scorers import SCORERS


def score(scorer: str, target: Json, answer: str, **metadata: Json) -> Score:
    made = SCORERS[scorer]()
    return made(Sample("case", "", target, metadata=metadata), Completion(answer))


def value(scorer: str, target: Json, answer: str, **metadata: Json) -> float | None:
    return score(scorer, target, answer, **metadata).value


NUMERIC: list[tuple[Json, str, dict[str, Json], float]] = [
    ("1234.5", "1,234.5", {}, 1),
    ("1234.5", "$1,234.50", {}, 1),
    ("1234.5", "1 234.5", {}, 1),
    ("1234.5", "1\u00a0234.5", {}, 1),
    ("1234.5", "1\u202f234.5", {}, 1),
    ("1234.5", "1.2345 thousand", {}, 1),
    (1234.5, "1,234.50", {}, 1),
    ("1234.5", "1234.46", {}, 1),
    ("1234.5", "1234.44", {}, 0),
    ("1234.5", "1234", {}, 0),
    ("-134", "(134)", {"accounting": True}, 1),
    ("-1234", "(1,234)", {"accounting": True}, 1),
    ("(134)", "-134", {"accounting": True}, 1),
    ("-1234", "$(1,234)", {"accounting": True}, 1),
    ("-134", "(134)", {}, 0),
    ("134", "(134)", {"accounting": True}, 0),
    ("0.125", "12.5%", {}, 0),
    ("0.125", "12.5 percent", {}, 0),
    ("0.125", "12.5%", {"percent": "either"}, 1),
    ("0.125", "12.5 percent", {"percent": "either"}, 1),
    ("12.5%", "0.125", {"percent": "either"}, 1),
    ("0.125", "12.5", {"percent": "either"}, 0),
    ("12.5", "12.5%", {"percent": "percent"}, 1),
    ("12.5%", "12.5", {"percent": "percent"}, 1),
    ("12.5", "0.125", {"percent": "percent"}, 0),
    ("0.125", "12.5%", {"percent": "fraction"}, 0),
    ("0.125", "0.125", {"percent": "fraction"}, 1),
    ("12.5%", "12.5 per cent", {}, 1),
    ("12.5%", "12.5", {}, 0),
    ("5", "0.05", {}, 0),
    ("5", "500", {}, 0),
    ("5", "5%", {}, 0),
    ("0.05", "5", {"percent": "either"}, 0),
    ("543 million", "543000000", {}, 1),
    ("543 million", "$543M", {}, 1),
    ("543 million", "543,000,000", {}, 1),
    ("543 million", "543", {}, 0),
    ("543 million", "543 thousand", {}, 0),
    ("543 million", "543.1 million", {}, 0),
    ("3", "3.7", {}, 0),
    (3, "3.7", {}, 0),
    (3, "3.0", {}, 1),
    ("5", "25", {}, 0),
    ("-5", "5", {}, 0),
    ("5", "-5", {}, 0),
    ("-5", "\u22125", {}, 1),
    ("-5", "minus 5", {}, 1),
    ("72", "The total is 72, in total,", {}, 1),
    ("460", r"\$460", {}, 1),
    ("42", "42!", {}, 1),
    ("42", "(42)", {}, 1),
    ("42", "[42]", {}, 1),
    ("42", "**42**", {}, 1),
    ("42", r"\boxed{42}", {}, 1),
    ("42", r"so $\boxed{42}$, as 6 \times 7", {}, 1),
    ("20%", "20% of the 50 people", {}, 1),
    ("20%", "Some 20 to 30% of the 50 people", {}, 0),
    ("30%", "Some 20 to 30% of the 50 people", {}, 0),
    ("20%", "20% or 30% of the 50 people", {}, 0),
    ("50", "20% of the 50 people", {}, 0),
    ("5", "5 kg in 3 boxes", {"unit": "kg"}, 1),
    ("3", "5 kg in 3 boxes", {"unit": "kg"}, 0),
    ("3", "5 kg in 3 boxes", {}, 0),
    ("20%", "Of 50 people 10 left. The answer is 20%.", {}, 1),
    ("20", "Of 50 people 10 left. The answer is 20%.", {"percent": "percent"}, 1),
    ("10", "Of 50 people 10 left. The answer is 20%.", {}, 0),
    ("1234.50", "€1.234,50", {"locale": "de"}, 1),
    ("1.234,50", "€1.234,50", {"locale": "de"}, 1),
    ("1234.50", "1234.50", {"locale": "de"}, 1),
    (1.234, "1,234", {"locale": "de"}, 1),
    (1234, "1.234", {"locale": "de"}, 1),
    ("1234.50", "€1.234,50", {}, 0),
    ("1.2345", "€1.234,50", {}, 0),
    ("0.1", ".1", {}, 1),
    (".1", "0.1", {}, 1),
    ("1000", "1e3", {}, 1),
    ("1e3", "1000", {}, 1),
    ("0.5", "½", {}, 1),
    ("½", "0.5", {}, 1),
    ("0.03", "3 hundredths", {}, 1),
    ("0.03", "three hundredths", {}, 1),
    ("0.75", r"\frac{3}{4}", {}, 1),
    ("25", "twenty-five", {}, 1),
    ("12", "１２", {}, 1),
    ("5", "5 or 6", {}, 0),
    ("5", "", {}, 0),
    ("5", "no idea", {}, 0),
    ("100", "101", {"tolerance": 0.01}, 1),
    ("100", "102", {"tolerance": 0.01}, 0),
    ("5", "5 kg", {"unit": "kg"}, 1),
    ("5", "5 kilograms", {"unit": "kg"}, 1),
    ("5", "5", {"unit": "kg"}, 1),
    ("5", "5 m", {"unit": "kg"}, 0),
    ("$5", "€5", {}, 0),
    ("$5", "5 dollars", {}, 1),
    (0.30000000000000004, "0.3", {}, 1),
    (5.0, "5", {}, 1),
]


@pytest.mark.parametrize(("target", "answer", "metadata", "right"), NUMERIC)
def test_a_number_is_right_only_as_what_it_says(target: Json, answer: str, metadata: dict, right: float) -> None:
    assert value("numeric", target, answer, **metadata) == right


@pytest.mark.parametrize(
    ("answer", "metadata", "failure"),
    [
        ("", {}, "empty"),
        ("I cannot say", {}, "no_number"),
        ("4 or 6", {}, "ambiguous"),
        ("-5", {}, "sign"),
        ("500", {}, "scale"),
        ("5%", {}, "percent"),
        ("7", {}, "value"),
        ("5 m", {"unit": "kg"}, "unit"),
    ],
)
def test_a_wrong_number_says_in_what_it_is_wrong(answer: str, metadata: dict, failure: str) -> None:
    said = score("numeric", "5", answer, **metadata)
    assert (said.value, said.metadata["failure"]) == (0.0, failure)
    assert said.explanation


@pytest.mark.parametrize(
    ("scorer", "target", "metadata"),
    [
        ("numeric", "no number", {}),
        ("numeric", True, {}),
        ("numeric", None, {}),
        ("numeric", float("nan"), {}),
        ("numeric", "5 or 6", {}),
        ("numeric", "1.234,50", {}),
        ("numeric", "1.234", {"locale": "de"}),
        ("numeric", "5", {"tolerance": "wide"}),
        ("numeric", "5", {"percent": "maybe"}),
        ("numeric", "5", {"locale": "klingon"}),
        ("numeric", "5", {"accounting": "false"}),
        ("exact", "", {}),
        ("exact", None, {}),
        ("contains", [], {}),
        ("contains", " ", {}),
        ("contains", ["a", ""], {}),
        ("list_f1", [], {}),
        ("list_f1", 5, {}),
        ("date", "someday", {}),
        ("date", "03/05/2024", {}),
        ("date", "2024-03-05", {"order": "ydm"}),
        ("choice", "Z", {"choices": ["x", "y"]}),
        ("json_schema", None, {}),
        ("json_schema", {"a": 1}, {"schema": {"type": "no such type"}}),
        ("json_schema", {"a": 1}, {"schema": {"$ref": "https://example.org/schema.json"}}),
        ("json_schema", {"a": 1}, {"fields": {"a": "roughly"}}),
        ("tool_calls", {"name": "f"}, {}),
        ("tool_calls", [{"arguments": {}}], {}),
        ("tool_calls", [{"name": "f", "args": {}}], {}),
        ("tool_calls", [{"name": "f"}], {"tools": {"f": {}}}),
    ],
)
def test_a_target_or_metadata_that_means_nothing_is_a_verifier_error(scorer: str, target: Json, metadata: dict) -> None:
    with pytest.raises(VerifierError):
        score(scorer, target, "5", **metadata)


TEXT: list[tuple[str, Json, str, dict[str, Json], float]] = [
    ("exact", "Don't", "\u201cDon\u2019t\u201d", {}, 1),
    ("exact", "New York", "New\u00a0York", {}, 1),
    ("exact", "A12", "Ａ１２", {}, 1),
    ("exact", "caf\u00e9", "cafe\u0301", {}, 1),
    ("exact", "Paris", " **Paris**.\n", {}, 1),
    ("exact", "Paris", "paris", {}, 1),
    ("exact", "Paris", "paris", {"case": True}, 0),
    ("exact", "Paris", "Paris, France", {}, 0),
    ("exact", "1.5", "15", {}, 0),
    ("exact", "C++", "C", {}, 0),
    ("exact", 42, "42", {}, 1),
    ("exact", "USA", "United States", {"aliases": ["United States", "U.S."]}, 1),
    ("exact", ["yes", "yep"], "Yep", {}, 1),
    ("exact", "x", "", {}, 0),
    ("contains", "no", "I know it", {}, 0),
    ("contains", "no", "No, it is not.", {}, 1),
    ("contains", "one", "none", {}, 0),
    ("contains", "10", "100", {}, 0),
    ("contains", "10", "10.5", {}, 0),
    ("contains", "10", "1,10", {}, 0),
    ("contains", "10", "about 10, or so", {}, 1),
    ("contains", "5", "-5", {}, 0),
    ("contains", "5", "25", {}, 0),
    ("contains", "5", "3-5", {}, 1),
    ("contains", "$5", "It costs $5.", {}, 1),
    ("contains", "$5", "It costs $50.", {}, 0),
    ("contains", "$5", "It costs $5.50.", {}, 0),
    ("contains", "50%", "50% of them", {}, 1),
    ("contains", "C++", "Use C++, please", {}, 1),
    ("contains", "C", "Use C++, please", {}, 0),
    ("contains", "C", "Use C, please", {}, 1),
    ("contains", "don't", "I don\u2019t", {}, 1),
    ("contains", ["a b", "c"], "c and a  b", {}, 1),
    ("contains", ["a", "z"], "a", {}, 0),
    ("contains", [["USA", "United States"], "Paris"], "Paris and the United States", {}, 1),
    ("contains", "Bonn", "The capital was Bonn", {"aliases": ["Berlin", "Weimar"]}, 1),
    ("contains", "x", "", {}, 0),
    ("text_f1", "the cat sat", "A cat sat!", {}, 1),
    ("text_f1", "cat sat", "cat", {}, 2 / 3),
    ("text_f1", "1.5", "15", {}, 0),
    ("text_f1", "x y", "y z", {"aliases": ["z y"]}, 1),
    ("text_f1", "x", "", {}, 0),
    ("anls", "hello", "hello", {}, 1),
    ("anls", "hello", "hallo", {}, 0.8),
    ("anls", "ab", "ax", {}, 0),
    ("anls", "abcd", "abxy", {}, 0),
    ("anls", "hello", "goodbye", {"aliases": ["goodby"]}, 1 - 1 / 7),
    ("anls", "goodby", "goodbye", {"aliases": ["hello"]}, 1 - 1 / 7),
    ("anls", "x", "", {}, 0),
    ("list_f1", ["x", "y", "z"], "z, x, y", {}, 1),
    ("list_f1", ["x", "y", "z"], "['z', 'x', 'y']", {}, 1),
    ("list_f1", ["x", "y", "z"], "- x\n- y\n- z", {}, 1),
    ("list_f1", ["x", "y", "z"], "x; y", {}, 0.8),
    ("list_f1", ["x", "y"], "x, y and w", {}, 0.8),
    ("list_f1", ["x", "y"], "y, x", {"ordered": True}, 0.5),
    ("list_f1", ["x", "y"], "x, y", {"ordered": True}, 1),
    ("list_f1", ["x", "x"], "x", {}, 2 / 3),
    ("list_f1", ["x"], "x, x", {}, 2 / 3),
    ("list_f1", [["USA", "United States"], "UK"], '["uk", "united states"]', {}, 1),
    ("list_f1", ["1,234", "5"], "[1234, 5.0]", {}, 1),
    ("list_f1", "['a', 'b']", "b, a", {}, 1),
    ("list_f1", ["x"], "", {}, 0),
    ("date", "2024-03-05", "March 5, 2024", {}, 1),
    ("date", "2024-03-05", "5 Mar 2024", {}, 1),
    ("date", "2024-03-05", "It was 2024-03-05.", {}, 1),
    ("date", "2024-03-05", "5. März 2024", {}, 1),
    ("date", "2024-03-05", "03/05/2024", {}, 0),
    ("date", "2024-03-05", "03/05/2024", {"order": "mdy"}, 1),
    ("date", "2024-03-05", "05/03/2024", {"order": "dmy"}, 1),
    ("date", "2024-03-05", "03/05/2024", {"order": "dmy"}, 0),
    ("date", "2024-03-25", "03/25/2024", {}, 1),
    ("date", "2024-03-05", "2024-02-30", {}, 0),
    ("date", "2024-03-05", "between 2024-03-05 and 2024-03-06", {}, 0),
    ("date", "2024-03-05", "", {}, 0),
    ("choice", "B", "B", {}, 1),
    ("choice", "B", "(b)", {}, 1),
    ("choice", "B", "B) Paris", {}, 1),
    ("choice", "B", "**B**", {}, 1),
    ("choice", "B", "\\boxed{B}", {}, 1),
    ("choice", "B", "A cat might think C. But the answer is B.", {}, 1),
    ("choice", "A", "A cat is an animal", {}, 0),
    ("choice", "B", "A or B", {}, 0),
    ("choice", "B", "The answer is B or C", {}, 0),
    ("choice", "B", "Paris", {"choices": ["Rome", "Paris"]}, 1),
    ("choice", "Paris", "B", {"choices": ["Rome", "Paris"]}, 1),
    ("choice", "B", "Rome", {"choices": ["Rome", "Paris"]}, 0),
    ("choice", "B", "It is Paris, not Rome", {"choices": ["Rome", "Paris"]}, 0),
    ("choice", "yes", "Yes.", {"choices": {"yes": "yes", "no": "no", "maybe": "maybe"}}, 1),
    ("choice", "no", "I know", {"choices": {"yes": "yes", "no": "no"}}, 0),
    ("choice", "B", "", {}, 0),
]


@pytest.mark.parametrize(("scorer", "target", "answer", "metadata", "right"), TEXT)
def test_text_dates_lists_and_choices_are_judged_by_what_they_say(
    scorer: str, target: Json, answer: str, metadata: dict, right: float
) -> None:
    assert value(scorer, target, answer, **metadata) == pytest.approx(right, abs=1e-12)


@pytest.mark.parametrize("scorer", [name for name in SCORERS if name != "unit_tests"])
def test_an_empty_answer_is_wrong_and_counted_as_empty(scorer: str) -> None:
    targets = {
        "numeric": "5",
        "date": "2024-03-05",
        "tool_calls": [{"name": "f"}],
        "json_schema": {"a": 1},
        "choice": "A",
    }
    said = score(scorer, targets.get(scorer, "x"), " \n")
    assert (said.value, said.metadata["failure"]) == (0.0, "empty")


@pytest.mark.parametrize("name", sorted(SCORERS))
def test_an_unknown_option_names_the_one_that_was_meant(name: str) -> None:
    with pytest.raises(LookupFailed, match="unknown option 'tolerans'"):
        SCORERS[name](tolerans=1)


def test_an_option_of_the_wrong_kind_is_a_usage_error() -> None:
    for options in ({"tolerance": "wide"}, {"tolerance": -1}, {"percent": "maybe"}, {"locale": "klingon"}):
        with pytest.raises(UsageError):
            SCORERS["numeric"](**options)
    with pytest.raises(UsageError):
        SCORERS["date"](order="ydm")


SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a"]}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"a": 1, "b": "x"}', (1, 1, 1, 1)),
        ('{"b": "x", "a": 1.0}', (1, 1, 1, 1)),
        ('Sure!\n```json\n{"a": 1, "b": "x"}\n```\nDone.', (1, 0, 1, 1)),
        ('Here: {"a": 1, "b": "x",}', (1, 0, 1, 1)),
        ('{"a": 2, "b": "x"}', (0, 1, 1, 0.5)),
        ('{"a": "1", "b": "x"}', (0, 1, 0, 0.5)),
        ('{"a": NaN, "b": "x"}', (0, 0, 0, 0.5)),
        ('{"a": 1, "b": "x", "c": 0}', (0, 1, 1, 0.8)),
        ("no JSON", (0, 0, 0, 0)),
        ('{"a": 1, "b": "x"} {"a": 2}', (0, 0, 0, 0)),
    ],
)
def test_a_format_fault_is_reported_apart_from_a_wrong_value(answer: str, expected: tuple[float, ...]) -> None:
    said = score("json_schema", {"a": 1, "b": "x"}, answer, schema=SCHEMA)
    got = (said.value, *(said.metrics[name].value for name in ("format", "schema", "fields")))
    assert got == pytest.approx(expected)


def test_fields_say_which_leaves_count_and_how() -> None:
    target = {"total": "1,200", "day": "2024-03-05", "note": "whatever", "who": {"name": "Ann"}}
    answer = '{"total": 1200, "day": "March 5, 2024", "note": "other", "who": {"name": "ANN"}}'
    fields = {"total": "number", "day": "date", "who": "text"}
    assert value("json_schema", target, answer, fields=fields) == 1
    assert value("json_schema", target, answer, fields=["who.name"]) == 0
    assert value("json_schema", target, answer, fields={**fields, "note": "exact"}) == 0
