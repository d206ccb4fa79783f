"""What a person may ask that cannot be done: one line, exit status 2, before any work, and nothing broken after it."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.cli.root import dispatch
from evalctl.errors import UsageError
from evalctl.names import fit_name
from evalctl.store import Store

ROW = {"suite": "s", "sample_id": "a", "score": 1}
POLICY = "version: 1\nsuites: {s: {}}\n"
RUN = ["run", "arithmetic", "--checkpoint", "double:reference"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVALCTL_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def bring(name: str = "base", *rows: dict[str, Any]) -> int:
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows or [ROW]))
    return dispatch(["import", "rows.jsonl", "--format", "jsonl", "--checkpoint", name])


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Dispatch; the one line that was said."""
    capsys.readouterr()
    assert dispatch(words) == 2
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err
    assert out == ""
    lines = [line for line in err.splitlines() if line and not line.startswith(("Usage: ", "Try "))]
    assert len(lines) == 1, err
    assert len(lines[0]) < 1000
    return lines[0]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--replicate", "99999999999999999999999"),
        ("--replicate", str(2**31)),
        ("--seed", str(2**70)),
        ("--epochs", "1001"),
        ("--samples", str(10**8)),
        ("--limit", str(2**31)),
        ("--max-tokens", str(2**31)),
        ("--batch-size", str(2**31)),
        ("--temperature", "nan"),
        ("--temperature", "inf"),
        ("--temperature", "-1"),
        ("--name", ""),
        ("--name", "baseline:main"),
        ("--name", "../../x"),
        ("--name", "a\nb"),
        ("--name", "-rf"),
        ("--name", "x" * 201),
    ],
)
def test_an_option_that_means_nothing_is_refused_before_anything_is_written(
    option: str, value: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(capsys, *RUN, f"{option}={value}")
    assert not (home / "runs").exists()


def test_more_than_ten_million_trials_are_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "10,000,000 trials" in refused(capsys, *RUN, "--samples", "1000000", "--epochs", "11")
    assert "10,000,000 trials" in refused(capsys, *RUN, "--samples", "10001", "--epochs", "1000")
    assert not (home / "runs").exists()


def test_the_largest_replicate_runs_and_is_listed(home: Path) -> None:
    assert dispatch([*RUN, "--limit", "1", "--replicate", str(2**31 - 1)]) == 0
    assert dispatch(["runs", "list"]) == 0
    assert dispatch(["store", "check"]) == 0


@pytest.mark.parametrize("place", ["folder", "file/x.json", "/proc/nowhere/x.json", "y" * 300])
@pytest.mark.parametrize(
    "words",
    [
        ["gate", "--policy", "policy.yaml", "--baseline", "base", "--candidate", "base", "--json"],
        ["compare", "base", "base", "--json"],
        ["runs", "list", "--json"],
        ["runs", "export", "--out"],
        ["suites", "export", "arithmetic", "--out"],
        ["report", "--out"],
        ["sandbox", "exec", "--json"],
    ],
)
def test_a_place_that_cannot_be_written_is_told_before_the_work(
    words: list[str], place: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bring()
    Path("policy.yaml").write_text(POLICY)
    Path("folder").mkdir()
    Path("file").write_text("kept")
    tail = ["--", "true"] if words[0] == "sandbox" else []
    refused(capsys, *words, place, *tail)
    assert not (home / "verdicts").exists()
    assert Path("file").read_text() == "kept"
    assert sorted(path.name for path in Path().iterdir()) == ["file", "folder", "home", "policy.yaml", "rows.jsonl"]


def test_a_folder_that_is_missing_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    bring()
    for words in (["runs", "list", "--json"], ["runs", "export", "--out"], ["suites", "export", "arithmetic", "--out"]):
        target = Path("deep") / words[0] / words[1] / "x"
        assert dispatch([*words, str(target)]) == 0
        assert target.stat().st_size > 0
        assert [path.name for path in target.parent.iterdir()] == ["x"]


def test_json_goes_to_a_device_and_through_a_link(capsys: pytest.CaptureFixture[str]) -> None:
    bring()
    Path("link").symlink_to("target.json")
    assert dispatch(["runs", "list", "--json", "/dev/null"]) == 0
    assert Path("/dev/null").is_char_device()
    assert dispatch(["runs", "list", "--json", "link"]) == 0
    assert Path("link").is_symlink()
    assert json.loads(Path("target.json").read_text())[0]["suite"] == "s"


@pytest.mark.parametrize("long", ["x" * 5000, "x/" * 2500 + "y"])
def test_a_reference_of_five_thousand_characters_is_one_line(long: str, capsys: pytest.CaptureFixture[str]) -> None:
    bring()
    Path("policy.yaml").write_text(POLICY)
    for words in (
        ["import", "rows.jsonl", "--format", "jsonl", "--checkpoint", long],
        ["gate", "--policy", "policy.yaml", "--baseline", "base", "--candidate", long],
        ["compare", "base", long],
        ["suites", "show", long],
        ["checkpoints", "show", long],
        ["runs", "show", long],
        ["run", "arithmetic", "--checkpoint", long],
        ["baselines", "set", long, "base"],
        ["gate", "--policy", long, "--baseline", "base", "--candidate", "base"],
    ):
        refused(capsys, *words)


@pytest.mark.parametrize("deep", [150, 900, 5000])
def test_json_that_is_nested_too_deep_is_told_with_its_line(deep: int, capsys: pytest.CaptureFixture[str]) -> None:
    line = json.dumps({**ROW, "metadata": "@"}).replace('"@"', '{"a":' * deep + "1" + "}" * deep)
    Path("deep.jsonl").write_text(f"{json.dumps(ROW)}\n{line}\n")
    said = refused(capsys, "import", "deep.jsonl", "--format", "jsonl", "--checkpoint", "base")
    assert said.startswith("evalctl: deep.jsonl:2: ")
    assert "100" in said


def test_epochs_count_from_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert bring("base", {**ROW, "epoch": 0}) == 2
    assert "epoch is a number (0); a whole number of 1 or more is wanted" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["runs", "list"], ["store", "check"], [*RUN, "--limit", "1"], ["report"]])
def test_a_home_that_is_a_file_or_cannot_be_made_is_one_line(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("plain").write_text("kept")
    for place in ("plain", "plain/below", "h" * 5000):
        monkeypatch.setenv("EVALCTL_HOME", place)
        assert place[:20] in refused(capsys, *words)
    assert Path("plain").read_text() == "kept"


def test_a_home_in_proc_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("EVALCTL_HOME", "/proc/nowhere")
    assert "/proc/nowhere" in refused(capsys, *RUN, "--limit", "1")


@pytest.mark.parametrize(
    "words",
    [
        ["\x1b[31mx"],
        ["runs", "\x1b[31mx"],
        ["runs", "list", "--\x1b[31mx"],
        ["suites", "show", "\x1b[31m\nx"],
        ["import", "\x1b[31m\nx", "--format", "jsonl", "--checkpoint", "base"],
        ["runs", "show", "\x1b]0;title\x07abcdef"],
        ["run", "arithmetic", "\x1b[31m\nx", "--checkpoint", "double:\x1b[31m\nx"],
    ],
)
def test_an_error_never_moves_the_terminal(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert "\x07" not in refused(capsys, *words)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "-rf", "a/b", "baseline:x", "a\nb", "a\x1bb", "x" * 201, "\ud800", " "]
)
def test_a_name_that_would_not_be_one_is_refused_everywhere(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert bring() == 0
    with pytest.raises(UsageError):
        fit_name(name, "checkpoint")
    refused(capsys, "baselines", "set", "--", name, "base")
    refused(capsys, "run", "arithmetic", "--checkpoint", "double:reference", f"--name={name}")
    if name != "a/b":
        refused(capsys, "import", "rows.jsonl", "--format", "jsonl", f"--checkpoint={name}")
    assert [one.name for one in Store.open().checkpoints.all()] == ["base"]


def test_a_default_name_may_hold_the_slash_of_its_reference() -> None:
    assert fit_name("vllm/org/model", "checkpoint", slashes=True) == "vllm/org/model"
    assert bring("org/model") == 0
    for name in ("/a", "a//b", "a/../b", "a/"):
        with pytest.raises(UsageError):
            fit_name(name, "checkpoint", slashes=True)


def test_a_run_that_is_there_says_whose_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    one = [*RUN, "--limit", "1"]
    assert dispatch([*one, "--name", "first"]) == 0
    capsys.readouterr()
    assert dispatch([*one, "--name", "second"]) == 0
    said = capsys.readouterr().err
    assert "on second: already there" in said
    assert "belongs to first" in said


def test_a_name_that_moves_to_other_weights_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch([*RUN, "--limit", "1", "--name", "x"]) == 0
    assert dispatch(["run", "arithmetic", "--checkpoint", "double:empty", "--limit", "1", "--name", "x"]) in (0, 4)
    assert "checkpoint 'x' now means weights" in capsys.readouterr().err


def test_csv_writes_control_characters_out_and_jsonl_keeps_them(capsys: pytest.CaptureFixture[str]) -> None:
    answer = "a\x1b[31mb\x07\u202e\u009bc\nd\te\rf"
    assert bring("base", {**ROW, "answer": answer, "metrics": {"m\x1b": 1}}) == 0
    capsys.readouterr()
    assert dispatch(["runs", "export", "--format", "csv"]) == 0
    said = capsys.readouterr().out
    assert "a\\x1b[31mb\\x07\\u202e\\x9bc\nd\te\\x0df" in said
    assert "metrics.m\\x1b" in said
    assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(said)
    assert dispatch(["runs", "export"]) == 0
    assert json.loads(capsys.readouterr().out)["answer"] == answer


@pytest.mark.parametrize(
    "bound", ["--time=1e300", "--cpu=1e12", "--memory=99999999T", "--work=99999999T", "--output=99999999T"]
)
def test_a_bound_past_what_the_kernel_takes_is_named(bound: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "at most" in refused(capsys, "sandbox", "exec", bound, "--", "true")
