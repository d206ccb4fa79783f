"""Tool calls: exactly right or not, and each kind of failure by its name."""

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalctl.types import Completion, Json, Sample, Score, ToolCall
from scorers import SCORERS
from scorers.matching import heaviest, perfect
from scorers.toolschema import fits, same_argument

TOOLS: tuple[dict[str, Json], ...] = (
    {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer", "default": 1},
                "unit": {"type": "string", "enum": ["C", "F"], "default": "C"},
            },
            "required": ["city"],
        },
    },
    {
        "name": "move",
        "parameters": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
    },
    {"name": "stop", "parameters": {"type": "object", "properties": {}}},
)


def call(name: str, **arguments: Json) -> dict[str, Json]:
    return {"name": name, "arguments": arguments}


def judged(target: Json, answer: Json, **metadata: Json) -> Score:
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return SCORERS["tool_calls"]()(Sample("t", "", target, tools=TOOLS, metadata=metadata), Completion(text))


BERLIN = call("weather", city="Berlin")


@pytest.mark.parametrize(
    ("target", "answer"),
    [
        ([BERLIN], BERLIN),
        ([BERLIN], [BERLIN]),
        ([BERLIN], call("weather", city="Berlin", days=1)),
        ([BERLIN], call("weather", city="Berlin", unit="C", days=1.0)),
        ([call("weather", city="Berlin", days=1)], BERLIN),
        ([call("weather", city="Berlin", days=3)], call("weather", city="Berlin", days=3.0)),
        ([BERLIN], {"name": "weather", "arguments": '{"city": "Berlin"}'}),
        ([call("stop")], {"name": "stop", "arguments": ""}),
        ([call("stop")], {"name": "stop", "arguments": None}),
        ([{**BERLIN, "accept": {"city": ["Berlin, DE"]}}], call("weather", city="Berlin, DE")),
        ([{**call("move", a="x", b="y"), "optional": ["b"]}], call("move", a="x")),
        (
            [call("move", a="1", b="2"), call("move", a="2", b="1")],
            [call("move", a="2", b="1"), call("move", a="1", b="2")],
        ),
        ([BERLIN, call("stop")], [call("stop"), BERLIN]),
        ([call("weather", city="caf\u00e9")], call("weather", city="cafe\u0301")),
        ([], "None of these tools can do that."),
    ],
)
def test_a_right_call_is_right_in_every_way_it_may_be_written(target: Json, answer: Json) -> None:
    said = judged(target, answer)
    assert (said.value, said.metadata["failure"]) == (1.0, None), said
    assert {name: metric.value for name, metric in said.metrics.items()} == dict.fromkeys(said.metrics, 1.0)


@pytest.mark.parametrize(
    ("target", "answer", "failure"),
    [
        ([BERLIN], "", "empty"),
        ([BERLIN], "It will be sunny.", "no_call"),
        ([BERLIN], '{"name": "weather", "arguments": {"city": "Ber', "format"),
        ([BERLIN], "<tool_call>weather Berlin</tool_call>", "format"),
        ([BERLIN], call("forecast", city="Berlin"), "unknown_tool"),
        ([BERLIN], call("stop"), "wrong_tool"),
        ([BERLIN], [BERLIN, BERLIN], "extra_call"),
        ([BERLIN], [BERLIN, call("stop")], "extra_call"),
        ([BERLIN, call("stop")], BERLIN, "missing_call"),
        ([BERLIN], call("weather", city="Paris"), "wrong_arguments"),
        ([BERLIN], call("weather", city="berlin"), "wrong_arguments"),
        ([BERLIN], call("weather"), "wrong_arguments"),
        ([BERLIN], call("weather", city="Berlin", days=2), "wrong_arguments"),
        ([BERLIN], call("weather", city="Berlin", when="now"), "wrong_arguments"),
        ([call("weather", city="Berlin", days=3)], call("weather", city="Berlin", days="3"), "wrong_arguments"),
        ([call("weather", city="Berlin", days=1)], call("weather", city="Berlin", days=True), "wrong_arguments"),
        ([call("move", a="1.5")], call("move", a="15"), "wrong_arguments"),
        ([call("move", a="-5")], call("move", a="5"), "wrong_arguments"),
        ([call("move", a="3/4")], call("move", a="34"), "wrong_arguments"),
        ([call("move", a="1.5")], call("move", a=1.5), "wrong_arguments"),
        ([call("move", a="1", b="2"), call("move", a="2", b="1")],
         [call("move", a="1", b="1"), call("move", a="2", b="2")], "wrong_arguments"),
        ([], call("stop"), "unexpected_call"),
        ([], "", "empty"),
    ],
)  # fmt: skip
def test_each_kind_of_failure_has_its_name(target: Json, answer: Json, failure: str) -> None:
    said = judged(target, answer)
    assert (said.value, said.metadata["failure"]) == (0.0, failure), said


def test_order_matters_only_where_the_sample_says_so() -> None:
    target, swapped = [BERLIN, call("stop")], [call("stop"), BERLIN]
    assert judged(target, swapped, ordered=True).metadata["failure"] == "wrong_order"
    assert judged(target, target, ordered=True).value == 1.0


def test_a_format_fault_costs_the_format_metric_and_not_the_call() -> None:
    said = judged([BERLIN], 'Sure! {"name": "weather", "arguments": {"city": "Berlin",}}')
    assert said.value == 1.0
    assert said.metrics["format"].value == 0.0
    assert said.metadata["format_faults"] == ["prose", "trailing_comma"]


def test_the_share_of_right_arguments_is_taken_under_the_best_assignment() -> None:
    target = [call("move", a="1", b="2"), call("move", a="3", b="4")]
    said = judged(target, [call("move", a="3", b="x"), call("move", a="1", b="2")])
    assert said.metrics["arguments"].value == 0.75
    assert said.metrics["tool"].value == 1.0
    said = judged([BERLIN], call("weather", city="Berlin", days="2"))
    assert (said.metrics["arguments"].value, said.metrics["schema"].value) == (0.5, 0.0)


def test_a_call_cut_off_at_the_token_limit_is_not_completed_by_guessing() -> None:
    made, sample = SCORERS["tool_calls"](), Sample("t", "", [BERLIN], tools=TOOLS)
    cut = '{"name": "weather", "arguments": {"city": "Berlin"'
    assert made(sample, Completion(cut)).value == 1.0
    assert made(sample, Completion(cut, stop_reason="length")).metadata["failure"] == "format"


def test_native_calls_are_taken_before_the_text() -> None:
    made = SCORERS["tool_calls"]()
    sample = Sample("t", "", [BERLIN], tools=TOOLS)
    said = made(sample, Completion("calling…", tool_calls=(ToolCall("weather", {"city": "Berlin"}),)))
    assert (said.value, said.metadata["dialect"]) == (1.0, "native")


def test_a_thousand_calls_are_wrong_at_once_and_cost_nothing() -> None:
    said = judged([BERLIN], [BERLIN] * 1000)
    assert said.metadata["failure"] == "extra_call"


def test_hostile_arguments_are_wrong_and_never_an_exception() -> None:
    for text in ("1e999", "NaN", "9" * 5000, '"\\ud800"', "[" * 50 + "]" * 50):
        said = judged([BERLIN], f'{{"name": "weather", "arguments": {{"city": "Berlin", "days": {text}}}}}')
        assert said.value == 0.0
        json.dumps(said.answer).encode()


@given(st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4), min_size=1, max_size=4))
def test_the_heaviest_assignment_is_the_best_of_all(weights: list[list[int]]) -> None:
    total = sum(weights[row][column] for row, column in heaviest(weights))
    best = max(
        sum(weights[row][column] for row, column in enumerate(columns))
        for columns in itertools.permutations(range(4), len(weights))
    )
    assert total == best


@given(
    st.integers(1, 5).flatmap(
        lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=n, max_size=n)
    )
)
def test_a_perfect_matching_is_found_exactly_where_there_is_one(fits_table: list[list[bool]]) -> None:
    n = len(fits_table)
    there_is = any(all(fits_table[i][p[i]] for i in range(n)) for p in itertools.permutations(range(n)))
    assert perfect(fits_table) == there_is


def test_nested_defaults_and_types_follow_the_schema() -> None:
    schema: Json = {
        "type": "object",
        "properties": {"x": {"type": "integer"}, "deep": {"type": "boolean", "default": False}},
    }
    assert same_argument({"x": 1}, {"x": 1.0, "deep": False}, schema)
    assert not same_argument({"x": 1}, {"x": 1, "deep": True}, schema)
    assert not same_argument({"x": 1}, {"x": True}, schema)
    assert fits({"x": 1}, schema)
    assert not fits({"x": 1.5}, schema)
    assert not fits({"y": 1}, schema)


BFCL = Path(__file__).resolve().parents[3] / "shared/data/peers/bfcl_v4"


def bfcl(name: str) -> list[tuple[Sample, list[dict[str, Json]]]]:
    """Samples and gold calls of one BFCL v4 category; the first of the listed values is the gold one."""
    questions = {row["id"]: row for row in map(json.loads, (BFCL / f"BFCL_v4_{name}.json").read_text().splitlines())}
    rows = []
    for line in (BFCL / f"possible_answer/BFCL_v4_{name}.json").read_text().splitlines():
        answer = json.loads(line)
        target, gold = [], []
        for wanted in answer["ground_truth"]:
            ((tool, possible),) = wanted.items()
            values = {key: [v for v in options if v != ""] or [""] for key, options in possible.items()}
            optional = [key for key, options in possible.items() if "" in options]
            arguments = {key: options[0] for key, options in values.items()}
            target.append({"name": tool, "arguments": arguments, "accept": values, "optional": optional})
            gold.append({"name": tool, "arguments": {k: v for k, v in arguments.items() if k not in optional}})
        tools = tuple(questions[answer["id"]]["function"])
        rows.append((Sample(answer["id"], "", target, tools=tools), gold))
    return rows


@pytest.mark.skipif(not BFCL.is_dir(), reason="the BFCL sample files are not beside this repository")
@pytest.mark.parametrize(
    "name", ["simple_python", "multiple", "parallel", "parallel_multiple", "live_simple", "live_multiple"]
)
def test_gold_answers_of_bfcl_score_one_in_every_dialect(name: str) -> None:
    scorer = SCORERS["tool_calls"]()
    rows = bfcl(name)
    assert len(rows) >= 20
    for sample, gold in rows:
        python = (
            "["
            + ", ".join(f"{c['name']}({', '.join(f'{k}={v!r}' for k, v in c['arguments'].items())})" for c in gold)
            + "]"
        )
        hermes = "".join(f"<tool_call>{json.dumps(c)}</tool_call>" for c in gold)
        for text in (json.dumps(gold), hermes, f"[TOOL_CALLS]{json.dumps(gold)}", python, json.dumps(gold[::-1])):
            said = scorer(sample, Completion(text))
            assert said.value == 1.0, (sample.id, text, said)
            assert said.metrics["format"].value == 1.0, (sample.id, text, said)
        wrong = [{"name": gold[0]["name"], "arguments": {**gold[0]["arguments"], "no such argument": 1}}, *gold[1:]]
        assert scorer(sample, Completion(json.dumps(wrong))).value == 0.0
