"""`evalctl report`: one command, one file, and the exit status of the contract."""

from pathlib import Path

import pytest

from app.cli.root import dispatch
from evalctl.gate.verdict import Decision
from evalctl.store.files import make_folder, write_json
from tests.app.stores import filled, keep
from tests.doubles import Synthetic
from tests.reports.campaigns import record, refused
from tests.reports.pages import finding, verdict


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EVALCTL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def test_without_options_the_newest_verdict_is_told_and_the_page_goes_under_reports(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    filled(home, verdict(Decision.REGRESSED, finding(Decision.REGRESSED, "arithmetic")))
    assert dispatch(["report"]) == 0
    [page] = (home / "reports").glob("*.html")
    assert "tuned is worse than base: arithmetic changed by −22.0 points" in page.read_text()
    told = capsys.readouterr().out
    assert "▼ REGRESSED" in told
    assert str(page) in told
    assert "\x1b" not in told


def test_without_a_verdict_the_two_newest_checkpoints_are_compared(home: Path) -> None:
    filled(home)
    assert dispatch(["report", "--out", "deep/er/page.md"]) == 0
    text = Path("deep/er/page.md").read_text()
    assert text.startswith("# tuned against base\n\nNo gate has judged tuned against base.")


def test_a_pair_of_ones_choice_is_compared(home: Path) -> None:
    keep(filled(home, verdict(Decision.PASS)), Synthetic(checkpoint="third", rate=0.9, clusters=12, per_cluster=1))
    assert dispatch(["report", "--baseline", "base", "--candidate", "third", "--out", "page.html"]) == 0
    text = Path("page.html").read_text()
    assert "No gate has judged third against base." in text
    assert ">tuned<" in text


def test_a_pinned_baseline_is_found_by_its_name(home: Path) -> None:
    store = filled(home)
    store.baselines.set("v1", "base", {row.suite: row.key for row in store.find(checkpoint="base")})
    assert dispatch(["report", "--baseline", "baseline:v1", "--candidate", "tuned", "--out", "page.md"]) == 0
    assert "# tuned against baseline\\" not in Path("page.md").read_text()
    assert "tuned against baseline:v1" in Path("page.md").read_text()


def test_one_checkpoint_alone_is_shown_without_a_comparison(home: Path) -> None:
    from evalctl.store import Store

    keep(Store.open(home), Synthetic())
    assert dispatch(["report", "--out", "page.html"]) == 0
    assert "nothing to compare it with yet" in Path("page.html").read_text()


@pytest.mark.parametrize("name", ["page.html", "page.md"])
def test_the_newest_campaign_of_the_store_stands_in_the_report(home: Path, name: str) -> None:
    filled(home)
    write_json(make_folder(home / "campaigns" / "one") / "record.json", refused())
    write_json(make_folder(home / "campaigns" / "two") / "record.json", record(created="2026-04-01T00:00:00+00:00"))
    assert dispatch(["report", "--out", name]) == 0
    assert "✓ PROMOTED" in Path(name).read_text()
    assert "REFUSED" not in Path(name).read_text()


def test_no_runs_is_missing_evidence_with_the_command_that_mends_it(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dispatch(["report"]) == 4
    assert "evalctl run" in capsys.readouterr().err
    assert not home.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--out", "page.pdf"], ".html or .md"),
        (["--baseline", "base"], "both or neither"),
        (["--baseline", "bace", "--candidate", "tuned"], "did you mean 'base'"),
    ],
)
def test_what_means_nothing_is_a_usage_error_and_writes_nothing(
    home: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    filled(home)
    assert dispatch(["report", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert not (home / "reports").exists()


def test_a_place_that_cannot_be_written_is_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled(home)
    Path("taken").write_text("a file")
    assert dispatch(["report", "--out", "taken/page.html"]) == 2
    assert "cannot be written" in capsys.readouterr().err
