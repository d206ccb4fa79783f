"""`evalctl score`: a scorer tried on one answer, or on a file of cases."""

import json
from pathlib import Path

import pytest

from app.cli.root import dispatch


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_one_answer_gives_one_json_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["score", "numeric", "--target", "1234.5", "--answer", "$1,234.50"]) == 0
    (row,) = lines(capsys)
    assert set(row) == {"value", "answer", "explanation", "metadata"}
    assert (row["value"], row["answer"]) == (1.0, "$1,234.50")


@pytest.mark.parametrize(
    ("scorer", "target", "answer", "meta", "value"),
    [
        ("numeric", "-134", "(134)", ["accounting=true"], 1.0),
        ("numeric", "-134", "-134", [], 1.0),
        ("numeric", "1.50", "1.504", [], 1.0),
        ("numeric", "1.50", "1.51", [], 0.0),
        ("exact", "42", "42", [], 1.0),
        ("exact", "true", "True", [], 1.0),
        ("exact", '"x"', "x", [], 1.0),
        ("list_f1", '["a", "b"]', "b, a", [], 1.0),
        ("exact", "USA", "United States", ['aliases=["United States"]'], 1.0),
        ("tool_calls", '[{"name": "f", "arguments": {}}]', "f()", [], 1.0),
        ("date", "2024-03-05", "03/05/2024", ["order=mdy"], 1.0),
    ],
)
def test_targets_are_json_where_they_are_structured_and_text_else(
    capsys: pytest.CaptureFixture[str], scorer: str, target: str, answer: str, meta: list[str], value: float
) -> None:
    options = [part for text in meta for part in ("--meta", text)]
    assert dispatch(["score", scorer, "--target", target, "--answer", answer, *options]) == 0
    assert [row["value"] for row in lines(capsys)] == [value]


def test_a_file_of_cases_is_scored_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = tmp_path / "cases.jsonl"
    cases.write_bytes(
        b'\xef\xbb\xbf{"target": 5, "answer": "5"}\r\n\r\n{"target": "5", "answer": "25"}\n'
        b'{"target": "-42", "answer": "(42)", "metadata": {"accounting": true}}'
    )
    assert dispatch(["score", "numeric", "--file", str(cases)]) == 0
    assert [row["value"] for row in lines(capsys)] == [1.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "not JSON"),
        ("[1]", "not a JSON object"),
        ('{"target": 1}', "`answer` is missing"),
        ('{"answer": "1"}', "`target` is missing"),
        ('{"target": 1, "answer": "1", "answer": "2"}', "stands twice"),
        ('{"target": 1, "answer": "1", "metadata": [1]}', "`metadata` must be an object"),
    ],
)
def test_a_broken_line_is_refused_with_file_and_line_before_anything_is_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, why: str
) -> None:
    cases = tmp_path / "cases.jsonl"
    cases.write_text('{"target": 5, "answer": "5"}\n' + line + "\n")
    assert dispatch(["score", "numeric", "--file", str(cases)]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert f"cases.jsonl:2: {why}" in error or (f"cases.jsonl:2: not JSON: {why}" in error or why in error)


@pytest.mark.parametrize("content", ["", "\n\n", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n"])
def test_a_file_without_cases_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str) -> None:
    cases = tmp_path / "cases.jsonl"
    cases.write_text(content)
    assert dispatch(["score", "numeric", "--file", str(cases)]) == 2
    assert "cases.jsonl" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["numerik", "--target", "1", "--answer", "1"], "did you mean 'numeric'"),
        (["numeric", "--target", "1", "--answer", "1", "--meta", "toleranc=1"], "did you mean 'tolerance'"),
        (["numeric", "--target", "1", "--answer", "1", "--meta", "tolerance"], "KEY=VALUE"),
        (["numeric", "--target", "1"], "--answer"),
        (["unit_tests", "--target", "1", "--answer", "1"], "sandbox"),
        (["numeric", "--file", "/no/such/file"], "no/such/file"),
    ],
)
def test_what_means_nothing_is_a_usage_error(
    capsys: pytest.CaptureFixture[str], arguments: list[str], why: str
) -> None:
    assert dispatch(["score", *arguments]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert why in error


def test_a_case_that_cannot_be_judged_is_null_with_its_reason_and_exits_4(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["score", "numeric", "--target", "abc", "--answer", "1"]) == 4
    (row,) = lines(capsys)
    assert row["value"] is None
    assert "not one number" in row["explanation"]


def test_hostile_answers_stay_one_ascii_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["score", "exact", "--target", "x", "--answer", "\x1b[31m\u009b\n\u2028[bold]\udcff"]) == 0
    out = capsys.readouterr().out
    assert out.isascii()
    assert out.count("\n") == 1
    assert "\x1b" not in out
