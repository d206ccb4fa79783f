"""Text, dates, lists, JSON and calls: read leniently, told exactly, and never slowly."""

import json
import time
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalctl.parse.calls import Dialect, read_calls
from evalctl.parse.dates import read_date
from evalctl.parse.lenient_json import JsonRead, Unread, read_json
from evalctl.parse.lists import read_list
from evalctl.parse.numbers import Ambiguous
from evalctl.parse.scanner import Fault
from evalctl.parse.stated import stated_number
from evalctl.parse.text import find_token, fold, normalise, squash, words
from evalctl.types import Completion, Sample, ToolCall
from scorers.choice import Choice
from scorers.text import edit_distance

TOOLS = [{"name": "f", "parameters": {"properties": {"a": {}, "b": {}}}}, {"name": "m.hypot", "parameters": {}}]
ONE = (ToolCall("f", {"a": 1}),)
TWO = (ToolCall("f", {"a": 1}), ToolCall("f", {"a": 2}))


@pytest.mark.parametrize(
    ("text", "calls", "dialect", "faults"),
    [
        ('{"name": "f", "arguments": {"a": 1}}', ONE, Dialect.JSON, set()),
        ('[{"name": "f", "arguments": {"a": 1}}]', ONE, Dialect.JSON, set()),
        ('Calling:\n```json\n{"name": "f", "arguments": {"a": 1}}\n```\nok', ONE, Dialect.JSON, set()),
        ('{"type": "function", "function": {"name": "f", "arguments": "{\\"a\\": 1}"}}', ONE, Dialect.JSON, set()),
        ('{"tool_calls": [{"name": "f", "arguments": {"a": 1}}]}', ONE, Dialect.JSON, set()),
        ('{"name": "f", "parameters": {"a": 1}}', ONE, Dialect.LLAMA, set()),
        ('<|python_tag|>{"name": "f", "parameters": {"a": 1}}<|eom_id|>', ONE, Dialect.LLAMA, set()),
        ('ok <tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>', ONE, Dialect.HERMES, set()),
        ('<tool_call>{"name": "f", "arguments": {"a": 1}}', ONE, Dialect.HERMES, {Fault.UNCLOSED}),
        ('[TOOL_CALLS][{"name": "f", "arguments": {"a": 1}}]</s>', ONE, Dialect.MISTRAL, set()),
        ('[TOOL_CALLS]f[ARGS]{"a": 1}', ONE, Dialect.MISTRAL, set()),
        ('[TOOL_CALLS]f{"a": 1}[TOOL_CALLS]f{"a": 2}', TWO, Dialect.MISTRAL, set()),
        ("[f(a=1), f(a=2)]", TWO, Dialect.PYTHON, set()),
        ("f(a=1)\nf(a=2)", TWO, Dialect.PYTHON, set()),
        ("f(1)", ONE, Dialect.PYTHON, {Fault.POSITIONAL}),
        ("I call\nf(a=1)", ONE, Dialect.PYTHON, {Fault.PROSE}),
        ('Sure: {"name": "f", "arguments": {"a": 1}} .', ONE, Dialect.JSON, {Fault.PROSE}),
        ('{"name": "f", "arguments": {"a": 1,}}', ONE, Dialect.JSON, {Fault.TRAILING_COMMA}),
        ("{'name': 'f', 'arguments': {'a': 1}}", ONE, Dialect.JSON, {Fault.QUOTES}),
        ('{"name": "f", "arguments": {"a": 1}', ONE, Dialect.JSON, {Fault.UNCLOSED}),
        ('{"f": {"a": 1}}', ONE, Dialect.JSON, {Fault.WRAPPER}),
        ('{"tool": "f", "args": {"a": 1}}', ONE, Dialect.JSON, {Fault.WRAPPER}),
        ("No tool can do this.", (), None, set()),
        ("", (), None, set()),
        ('{"title": "Bob", "age": 5}', (), None, set()),
    ],
)  # fmt: skip
def test_calls_are_read_in_every_dialect_and_faults_are_named(
    text: str, calls: tuple, dialect: Dialect, faults: set
) -> None:
    read = read_calls(text, TOOLS)
    assert (read.calls, read.dialect, set(read.faults)) == (calls, dialect, faults)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "f", "arguments": {"a": ',
        '{"name": "f", "arguments": {"a": 1',
        '{"name": "f", "arguments": [1]}',
        '<tool_call>{"name": "f"',
        "<tool_call>f please</tool_call>",
        "[TOOL_CALLS]f[ARGS]a=1",
        'First {"name": "f", "arguments": {"a": 1}} then {"name": "f", "argu',
        "f(a=1+2)",
        "f(a=__import__('os'))",
        "f(a=[1, 2)",
    ],
)
def test_what_only_begins_as_a_call_is_unreadable_with_a_reason(text: str) -> None:
    read = read_calls(text, TOOLS)
    assert (read.calls, read.faults) == ((), {Fault.UNREADABLE})
    assert read.reason


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(json_values)
def test_clean_json_is_read_as_json_reads_it(value: object) -> None:
    read = read_json(json.dumps(value))
    assert isinstance(read, JsonRead)
    assert (read.value, read.faults) == (value, frozenset())


@given(st.dictionaries(st.text(), json_values, max_size=4))
def test_fences_and_prose_around_json_are_named_and_change_nothing(value: object) -> None:
    for text, fault in (
        (f"```json\n{json.dumps(value)}\n```", Fault.FENCE),
        (f"So: {json.dumps(value)} ok", Fault.PROSE),
    ):
        read = read_json(text)
        if "```" in json.dumps(value):
            continue
        assert isinstance(read, JsonRead)
        assert (read.value, read.faults) == (value, {fault})


@given(st.lists(st.text("ab\"'\\\n{[", max_size=8) | st.integers(-9, 9) | st.booleans() | st.none(), max_size=4))
def test_a_list_as_python_prints_it_is_read_back(items: list) -> None:
    read = read_list(repr(items))
    assert len(read) == len(items)


@given(st.text(alphabet="{}[]\",:'truefalsn0123.-e\\u/* ()=f", max_size=60))
def test_no_text_makes_a_reader_fail(text: str) -> None:
    read_json(text)
    read_calls(text, TOOLS)
    read_list(text)
    read_date(text)


@pytest.mark.parametrize(
    ("text", "value", "faults"),
    [
        ("{'a': True, b: .5}", {"a": True, "b": 0.5}, {Fault.QUOTES, Fault.LITERAL, Fault.KEY, Fault.NUMBER}),
        ('{"a": 1, "a": 2}', {"a": 2}, {Fault.DUPLICATE}),
        ('{"a": 1e999}', {"a": float("inf")}, {Fault.NOT_FINITE}),
        ('{"a": "x\ny"}', {"a": "x\ny"}, {Fault.CONTROL}),
        ('{"a": 1, /* why */ "b": 2} // so', {"a": 1, "b": 2}, {Fault.COMMENT}),
        ('{"a": "\\ud83d\\ude00"}', {"a": "😀"}, set()),
        ('{"a": "\\ud800"}', {"a": "\ufffd"}, {Fault.ESCAPE}),
        ('{"a": {"b": "x"', {"a": {"b": "x"}}, {Fault.UNCLOSED}),
    ],
)
def test_each_fault_of_json_has_its_name(text: str, value: object, faults: set) -> None:
    read = read_json(text)
    assert isinstance(read, JsonRead)
    assert (read.value, set(read.faults)) == (value, faults)


def test_two_json_values_are_not_one_answer() -> None:
    assert isinstance(read_json('{"a": 1} or {"a": 2}'), Unread)
    assert isinstance(read_json('{"a": 1} that is {"a": 1}'), JsonRead)
    assert isinstance(read_json("[" * 100_000), Unread)


@pytest.mark.parametrize(
    ("text", "order", "day"),
    [
        ("2024-03-05T10:00:00Z", None, date(2024, 3, 5)),
        ("2024/3/5", None, date(2024, 3, 5)),
        ("Mar. 5th, 2024", None, date(2024, 3, 5)),
        ("5th of March 2024", None, date(2024, 3, 5)),
        ("5. März 2024", None, date(2024, 3, 5)),
        ("5 mars 2024", None, date(2024, 3, 5)),
        ("05.03.2024", "dmy", date(2024, 3, 5)),
        ("03/05/2024", "mdy", date(2024, 3, 5)),
        ("25/03/2024", None, date(2024, 3, 25)),
        ("03/03/2024", None, date(2024, 3, 3)),
        ("From 2023-01-01 on. The answer is 2024-03-05.", None, date(2024, 3, 5)),
    ],
)
def test_a_date_is_read_however_it_is_written(text: str, order: str | None, day: date) -> None:
    assert read_date(text, order) == day


@pytest.mark.parametrize(
    "text", ["03/05/2024", "3/5/24", "2024-02-30", "2024-01-01 to 2024-01-02", "May", "13/13/2024", ""]
)
def test_a_date_that_can_be_read_in_two_ways_or_none_is_told(text: str) -> None:
    assert isinstance(read_date(text), Ambiguous)


EQUAL = [("“a”", '"a"'), ("it’s", "it's"), ("a\u00a0b", "a b"), ("１２", "12"), ("é", "e\u0301"), ("a\u200bb", "ab")]
INSIDE = [("know", "no"), ("none", "one"), ("100", "10"), ("-5", "5"), ("1.10", "10"), ("c++", "c")]


def test_equal_texts_are_equal_after_normalisation_and_others_are_not() -> None:
    for one, two in EQUAL:
        assert normalise(one) == normalise(two)
    assert squash(" a \n b ") == "a b"
    for one, two in [("1.5", "15"), ("-5", "5"), ("C++", "C"), ("3/4", "34")]:
        assert fold(one) != fold(two)
        assert words(one) != words(two)


@pytest.mark.parametrize(("text", "needle"), INSIDE)
def test_a_token_is_not_found_inside_another(text: str, needle: str) -> None:
    assert find_token(text, needle) < 0


@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_the_edit_distance_is_that_of_the_textbook(one: str, two: str) -> None:
    row = list(range(len(two) + 1))
    for i, a in enumerate(one, 1):
        before, row = row, [i]
        for j, b in enumerate(two, 1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b)))
    assert edit_distance(one, two) == row[-1]


HOSTILE = [
    "1 ", "1. ", "(1", "1,", "9", "-", "**", "\\boxed{", "{", "\\frac{1", "answer is ", "= ", "1/", "one ", "$", "\n",
    "a", "e1", "x=1,", "½", "\\text{", "[", '{"a":', '{"name":"f","arguments":', '"', "[1,", "```\n", "/*", "//", "[1]",
    "{'", "<tool_call>", "[TOOL_CALLS]f{", "f(", "f(a=", "may ", "5 may ", "1-1-", "A or ", "and ", "'", "_", "\\",
    "(A)", "answer: b",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE, ids=range(len(HOSTILE)))
def test_every_reader_is_linear_on_hostile_text(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    choose = Choice()
    readers = (stated_number, read_json, lambda t: read_calls(t, TOOLS), read_list, read_date, fold, words)
    for read in (*readers, lambda t: choose(Sample("s", "", "A"), Completion(t)), lambda t: find_token(t, "ab")):
        started = time.process_time()
        read(text)
        # A quadratic reader takes minutes here; the bound leaves room for a slow machine.
        assert time.process_time() - started < 4
