"""`evalctl train-on-failures` and `checkpoints promote`: what is refused before anything is run, and what is shown."""

import fcntl
import io
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from rich.console import Console

from app.campaign_table import show_campaign
from app.campaigning import Asked, campaigns, policy_of
from app.campaigns import campaigns as known
from app.cli import train
from app.cli.root import dispatch
from app.present import Display
from evalctl.errors import EvidenceError
from evalctl.store import Store
from evalctl.store.files import make_folder, write_json
from evalctl.types import Json
from reports.campaign import State
from tests.reports.campaigns import begun, progress, record, refused
from training.settings import STAGES

QUIET = Console(quiet=True)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EVALCTL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def kept(home: Path, name: str, **files: Mapping[str, Json]) -> Path:
    """A campaign's folder with the JSON files named."""
    folder = make_folder(home / "campaigns" / name)
    for stem, value in files.items():
        write_json(folder / f"{stem}.json", dict(value))
    return folder


def printed(one: Mapping[str, Json]) -> str:
    out = io.StringIO()
    show_campaign(one, Console(file=out, width=160, no_color=True))
    return out.getvalue()


def test_the_stages_of_the_option_are_those_of_training() -> None:
    assert train.STAGES == STAGES


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--checkpoint"),
        (["--checkpoint", "double:reference"], "--suite"),
        (["--checkpoint", "double:reference", "--suite", "arithmatic"], "did you mean 'arithmetic'"),
        (["--checkpoint", "nowhere/at/all", "--suite", "arithmetic"], "nowhere"),
        (["--checkpoint", "double:reference", "--suite", "arithmetic", "--stages", "rlvr"], "give sft, or sft,rlvr"),
        (["--checkpoint", "double:reference", "--suite", "arithmetic", "--stages", "sft,dpo"], "give sft, or sft,rlvr"),
        (["--checkpoint", "double:reference", "--suite", "arithmetic", "--folds", "1"], "--folds"),
        (["--checkpoint", "double:reference", "--suite", "arithmetic", "--rounds", "0"], "--rounds"),
        (["--checkpoint", "double:reference", "--suite", "arithmetic", "--policy", "none.yaml"], "no such policy file"),
        (["--checkpoint", "double:reference", "--suite", "arithmetic", "--recipe", "demonstrate"], "did you mean"),
        (["--checkpoint", "double:reference", "--suite", "terminal"], "terminal"),
        (["--checkpoint", "double:reference", "--suite", "arithmetic", "--json", "/proc/x.json"], "--json"),
    ],
)
def test_what_means_nothing_is_one_line_and_exit_2_before_anything_is_run(
    home: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dispatch(["train-on-failures", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert not (home / "campaigns").exists()
    assert not (home / "runs").exists()


def test_without_a_policy_the_trained_suites_and_general_ability_are_guarded() -> None:
    policy = policy_of(None, ("tooluse", "arithmetic"), Display(QUIET))
    assert list(policy.suites) == ["tooluse", "arithmetic"]
    assert {one.max_drop for one in policy.demands} == {0.05}
    assert list(policy_of(None, ("tooluse",), Display(QUIET)).suites) == ["tooluse", "arithmetic"]
    assert {name: list(members) for name, members in policy.groups.items()} == {"trained": ["tooluse", "arithmetic"]}
    assert policy.require_groups == 1


def test_each_round_starts_from_what_the_one_before_promoted_and_a_refusal_ends_them(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def simulated(wanted: object, store: Store, watch: object, *, resume: bool) -> dict[str, Json]:
        name = wanted.checkpoint.name  # type: ignore[attr-defined]
        seen.append(name)
        if len(seen) == 2:
            return refused()
        from evalctl.models import checkpoint_for

        store.checkpoints.save(checkpoint_for("double:noisy?accuracy=0.9", f"{name}-x"))
        return record(candidate={"name": f"{name}-x", "weights_digest": "w"})

    monkeypatch.setattr("app.campaigning.train_on_failures", simulated)
    asked = Asked("double:noisy?accuracy=0.5", ("arithmetic",), name="base", rounds=5)
    ended = [one["status"] for one in campaigns(asked, Store.open(), Display(QUIET))]
    assert seen == ["base", "base-x"]
    assert ended == ["promoted", "refused"]


def test_the_exit_status_is_the_last_campaigns_and_json_holds_every_record(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("app.campaigning.train_on_failures", lambda *_, **__: refused())
    arguments = ["train-on-failures", "--checkpoint", "double:empty", "--suite", "arithmetic", "--rounds", "3"]
    assert dispatch([*arguments, "--json", "-"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["exit"], [one["status"] for one in told["campaigns"]]) == (1, ["refused"])
    assert dispatch(arguments) == 1
    assert "■ REFUSED base stays: cross-fit gain: -0.024" in capsys.readouterr().out


def test_the_table_ends_with_base_gains_what_moved_elsewhere_and_every_condition() -> None:
    text = printed(record())
    for part in (
        "✓ PROMOTED base-a1b2c3d4 is promoted over base",
        "Base score: tooluse 30.0% of 84 samples",
        "screened tooluse: 24 passed; failed: 40 wrong, 20 format; left out: 1 infra_error",
        "all folds, cross-fitted",
        "sealed tooluse (look 1 of 20)",
        "arithmetic · tens",
        "campaign a1b2c3d4e5f6, exit status 0",
    ):
        assert part in text
    assert text.count("✓ held") == 9
    assert text.index("Gain on held-out") < text.index("What moved elsewhere") < text.index("Conditions of promotion")


def test_hostile_text_of_a_record_does_not_move_the_terminal() -> None:
    text = printed(record(reason="\x1b[2J[red]", skipped={"rlvr\x1b[1m": "\u202e[bold]"}))
    assert not set(text) & {"\x1b", "\u202e"}
    assert "[bold]" in text


def test_promote_of_what_is_no_campaign_is_a_usage_error(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["checkpoints", "promote", "feed"]) == 2
    assert "no finished campaign 'feed'" in capsys.readouterr().err


def test_promote_believes_no_record_that_was_changed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept(home, "a1b2c3d4e5f6", record=record())
    assert dispatch(["checkpoints", "promote", "a1b2"]) == 4
    assert "chain" in capsys.readouterr().err


def test_campaigns_are_listed_newest_first_and_a_lock_tells_running_from_interrupted(home: Path) -> None:
    kept(home, "a1b2c3d4e5f6", record=record(), campaign=begun())
    folder = kept(home, "0f0f0f0f0f0f", campaign=begun(), progress=progress())
    kept(home, "nothing")
    states = [one.state for one in known(Store(home))]
    assert states == [State.INTERRUPTED, State.PROMOTED]
    with (folder / "campaign.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        view = known(Store(home))[0]
    assert view.state is State.RUNNING
    assert view.doing is not None
    assert (view.doing.number, view.doing.fold, view.doing.left) == (5, 1, 80.0)


def test_a_record_that_is_not_whole_is_named(home: Path) -> None:
    kept(home, "a1b2c3d4e5f6", record=record(conditions=[{}]))
    with pytest.raises(EvidenceError, match="a1b2c3d4e5f6"):
        known(Store(home))


def test_a_training_stage_tells_how_far_it_is_and_how_long_it_takes_yet() -> None:
    out, now = io.StringIO(), [0.0]
    with Display(Console(file=out, width=160), clock=lambda: now[0]) as display:
        display.begin("sft fold-0", total=40, done=0)
        for done, at in ((5, 4.0), (10, 10.0), (20, 20.0)):
            now[0] = at
            display.tick(done)
    assert out.getvalue().splitlines() == [
        "sft fold-0: 0/40, starts",
        "sft fold-0: 10/40, about 30 s left",
        "sft fold-0: 20/40, about 20 s left",
        "sft fold-0: 20/40, 20 s",
    ]
