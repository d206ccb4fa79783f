"""`evalctl runs`: what is listed, shown and exported, and that an export loses nothing."""

import csv
import io
import json
import math
from pathlib import Path

import pandas as pd
import pytest

from app.cli.root import dispatch
from evalctl.importers import IMPORTERS, import_file
from evalctl.store import Store
from evalctl.store.frames import to_trials

ROWS = [
    {"suite": "docqa", "sample_id": "-1", "score": -0.5, "range": [-1, 1], "answer": "=1+1", "direction": "higher",
     "metrics": {"f1": {"value": 0.25, "direction": "higher", "range": [0, 1]}}, "metadata": {"x": "-"}},
    {"suite": "docqa", "sample_id": "b", "score": None, "answer": "-5", "status": "limit", "input_tokens": 3},
    {"suite": "docqa", "sample_id": "c", "score": math.nan, "answer": "@SUM(A1)\nx", "seconds": 1.5},
    {"suite": "docqa", "sample_id": "d", "score": 1, "role": "sealed", "answer": "secret"},
    {"suite": "terminal", "sample_id": "e", "score": 0, "answer": '+cmd "q", z', "metrics": {"-g": 1}},
]  # fmt: skip


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVALCTL_HOME", str(tmp_path / "home"))
    return Store.open()


@pytest.fixture
def keys(store: Store) -> dict[str, str]:
    """Suite to run key."""
    path = Path("trials.jsonl")
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    done = import_file(store, path, ("jsonl", IMPORTERS["jsonl"]), None, "base")
    return {run.suite: run.key for run in done.runs}


def test_an_empty_store_says_how_to_begin(capsys: pytest.CaptureFixture[str], store: Store) -> None:
    assert dispatch(["runs", "list"]) == 0
    assert "evalctl run SUITE" in capsys.readouterr().out
    assert not store.home.exists()


def test_runs_are_listed(keys: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["runs", "list", "--suite", "docqa"]) == 0
    said = capsys.readouterr().out
    assert keys["docqa"][:12] in said
    assert keys["terminal"][:12] not in said
    assert dispatch(["runs", "list", "--json", "-"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["key"] for row in rows} == set(keys.values())
    assert dispatch(["runs", "list", "--json", "out.json", "--checkpoint", "other"]) == 0
    assert json.loads(Path("out.json").read_text()) == []


def test_a_run_that_cannot_be_read_is_named_and_the_others_are_listed(
    keys: dict[str, str], store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    (store.folder(keys["terminal"]) / "run.json").unlink()
    assert dispatch(["runs", "list"]) == 4
    out, err = capsys.readouterr()
    assert keys["docqa"][:12] in out
    assert "run.json: not there" in err


def test_a_run_is_shown_without_its_sealed_scores(keys: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["runs", "show", keys["docqa"][:8]]) == 0
    said = capsys.readouterr().out
    for part in ("docqa on base", "sampling:", "not recorded", "sealed or dev roles"):
        assert part in said
    assert dispatch(["runs", "show", keys["docqa"], "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["key"] == keys["docqa"]
    assert dispatch(["runs", "show", "feedfeed"]) == 2


def test_an_exported_run_comes_back_the_same(keys: dict[str, str], store: Store, tmp_path: Path) -> None:
    assert dispatch(["runs", "export", keys["docqa"], "--out", "out.jsonl"]) == 0
    other = Store.open(tmp_path / "other")
    done = import_file(other, Path("out.jsonl"), ("jsonl", IMPORTERS["jsonl"]), None, "base")
    before = store.load(keys["docqa"]).trials
    shown = before[before["role"] != "sealed"].reset_index(drop=True)
    pd.testing.assert_frame_equal(other.load(done.runs[0].key).trials, shown)


def test_csv_is_safe_in_a_spreadsheet_and_numbers_survive(
    keys: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert dispatch(["runs", "export", keys["docqa"], "--format", "csv"]) == 0
    out, err = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(out)))
    assert "3 trials of 1 runs; 1 sealed trials left out" in err
    assert [row["answer"] for row in rows] == ["'=1+1", "-5", "'@SUM(A1)\nx"]
    assert [row["sample_id"] for row in rows] == ["-1", "b", "c"]
    assert [row["score"] for row in rows] == ["-0.5", "", "NaN"]
    assert (rows[0]["range"], rows[0]["metrics.f1"], rows[1]["input_tokens"]) == ("[-1.0, 1.0]", "0.25", "3")
    assert json.loads(rows[0]["metadata"]) == {"x": "-"}
    cells = [cell for row in rows for cell in row.values()]
    assert not [cell for cell in cells if cell[:1] in "=@\t\r" and cell]


def test_several_runs_in_one_file_say_whose_each_row_is(
    keys: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert dispatch(["runs", "export", "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["run"], row["checkpoint"], row["suite"]) for row in rows] == [
        (keys["terminal"], "base", "terminal"),
        *[(keys["docqa"], "base", "docqa")] * 3,
    ]
    assert rows[0]["answer"] == '\'+cmd "q", z'
    assert dispatch(["runs", "export", "--format", "parquet", "--out", "out.parquet"]) == 0
    frame = pd.read_parquet("out.parquet")
    assert list(frame.columns[:2]) == ["run", "checkpoint"]
    assert frame[["metrics.f1", "metrics.-g"]].notna().sum().tolist() == [1, 1]
    assert "secret" not in frame["answer"].tolist()


def test_parquet_is_never_thrown_at_a_terminal(keys: dict[str, str]) -> None:
    assert dispatch(["runs", "export", "--format", "parquet"]) == 2


def test_an_export_that_fails_leaves_the_old_file(keys: dict[str, str], store: Store) -> None:
    Path("out.csv").write_text("old")
    (store.folder(keys["docqa"]) / "trials.parquet").write_bytes(b"changed")
    assert dispatch(["runs", "export", "--format", "csv", "--out", "out.csv"]) == 4
    assert Path("out.csv").read_text() == "old"
    assert not list(Path().glob(".out*"))


def test_an_exported_run_with_an_odd_answer_has_as_many_rows_as_trials(keys: dict[str, str], store: Store) -> None:
    assert dispatch(["runs", "export", keys["terminal"], "--format", "csv", "--out", "out.csv"]) == 0
    with Path("out.csv").open(newline="") as file:
        assert len(list(csv.reader(file))) == 1 + len(to_trials(store.load(keys["terminal"]).trials))
