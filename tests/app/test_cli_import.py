"""`evalctl import` as a person meets it: what it prints, how it ends, what it leaves."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.cli.root import dispatch
from evalctl.store import Store

ROW = {"suite": "docqa", "sample_id": "a", "score": 1}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVALCTL_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def write(*rows: dict[str, Any]) -> str:
    Path("trials.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return "trials.jsonl"


def test_each_suite_is_named_with_its_run_and_what_a_person_should_know(capsys: pytest.CaptureFixture[str]) -> None:
    path = write(ROW, {**ROW, "suite": "terminal", "score": None})
    assert dispatch(["import", path, "--format", "jsonl", "--checkpoint", "base"]) == 0
    said = capsys.readouterr().out
    keys = {row.suite: row.key for row in Store.open().find()}
    assert f"docqa on base: 1 trial, run {keys['docqa']} (new)" in said
    assert f"terminal on base: 1 trial, run {keys['terminal']} (new)" in said
    assert "one cluster per sample" in said
    assert "unscored (verifier_error)" in said
    assert dispatch(["import", path, "--format", "jsonl", "--suite", "docqa", "--checkpoint", "base"]) == 0
    assert "already there, nothing changed" in capsys.readouterr().out


def test_a_wrong_line_is_one_line_with_file_and_line_and_exit_2(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    path = write(ROW, {**ROW, "sample_id": 7})
    assert dispatch(["import", path, "--format", "jsonl", "--checkpoint", "base"]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", "evalctl: trials.jsonl:2: sample_id is a number (7); text is wanted: quote it\n")
    assert not home.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["import", "nowhere.jsonl", "--format", "jsonl", "--checkpoint", "base"],
        ["import", ".", "--format", "jsonl", "--checkpoint", "base"],
        ["import", "trials.jsonl", "--format", "jsonl"],
        ["import", "trials.jsonl", "--checkpoint", "base"],
        ["import", "trials.jsonl", "--format", "jsnl", "--checkpoint", "base"],
    ],
)
def test_a_wrong_call_is_exit_2(arguments: list[str], home: Path) -> None:
    write(ROW)
    assert dispatch(arguments) == 2
    assert not home.exists()


def test_hostile_text_is_shown_as_itself(capsys: pytest.CaptureFixture[str]) -> None:
    path = write({**ROW, "suite": "[red]x[/red]\x1b[31m", "[bold]": 1})
    assert dispatch(["import", path, "--format", "jsonl", "--checkpoint", "base"]) == 0
    said = capsys.readouterr().out
    assert "[red]x[/red]\\x1b[31m on base" in said
    assert '"[bold]"' in said
    assert "\x1b" not in said


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], capture_output=True, text=True)
    if mount.returncode:
        pytest.skip(f"a file system cannot be mounted here: {mount.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def test_no_free_disk_is_one_line_and_exit_5_and_nothing_half_done(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import random

    monkeypatch.setenv("EVALCTL_HOME", str(small_disk / "home"))
    draw = random.Random(1)
    small = write(ROW)
    assert dispatch(["import", small, "--format", "jsonl", "--checkpoint", "base"]) == 0
    before = Store.open().find()
    large = write(*({**ROW, "sample_id": f"s{i}", "answer": draw.randbytes(2_000).hex()} for i in range(2_500)))
    capsys.readouterr()
    assert dispatch(["import", large, "--format", "jsonl", "--checkpoint", "base"]) == 5
    err = capsys.readouterr().err
    assert err.startswith("evalctl: no free disk")
    assert err.count("\n") == 1
    assert Store.open().find() == before
    assert Store.open().check() == []
    assert [path.name for path in Store.open().runs.iterdir()] == [before[0].key]
