"""`evalctl store`, `checkpoints` and `baselines` as a person meets them."""

import json
from pathlib import Path

import pytest

from app.cli.root import dispatch
from evalctl.importers import IMPORTERS, import_file
from evalctl.store import Lineage, Store
from evalctl.types import Checkpoint


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVALCTL_HOME", str(tmp_path / "home"))
    return Store.open()


def bring(store: Store, score: float = 1.0) -> str:
    Path("trials.jsonl").write_text(json.dumps({"suite": "docqa", "sample_id": "a", "score": score}) + "\n")
    return import_file(store, Path("trials.jsonl"), ("jsonl", IMPORTERS["jsonl"]), None, "base").runs[0].key


def test_a_store_with_nothing_wrong_says_so(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["store", "check"]) == 0
    assert "nothing wrong" in capsys.readouterr().out
    assert not store.home.exists()
    bring(store)
    assert dispatch(["store", "check", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out) == {"schema": 1, "problems": []}


def test_everything_wrong_is_listed_and_the_exit_is_4(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = bring(store), bring(store, 0.0)
    (store.folder(first) / "run.json").write_text("{}")
    (store.folder(second) / "trials.parquet").write_bytes(b"")
    assert dispatch(["store", "check"]) == 4
    said = capsys.readouterr().out
    assert f"{first}/run.json" in said
    assert f"{second}/trials.parquet" in said
    assert dispatch(["store", "rebuild"]) == 4
    said = capsys.readouterr().out
    assert f"{first}/run.json" in said
    assert "the index names 1 run" in said


def test_rebuild_makes_the_index_again(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    bring(store)
    for path in store.home.glob("evalctl.db*"):
        path.unlink()
    assert dispatch(["store", "check"]) == 4
    assert dispatch(["store", "rebuild"]) == 0
    assert dispatch(["store", "check"]) == 0
    assert "the index names 1 run" in capsys.readouterr().out


def test_checkpoints_are_listed_shown_and_traced(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["checkpoints", "list"]) == 0
    assert "no checkpoint yet" in capsys.readouterr().out
    key = bring(store)
    base = store.checkpoints.saved("base").checkpoint.weights_digest
    store.checkpoints.save(Checkpoint("sft", "w2", "folder", "/m", base), Lineage("c1", "d1", {"s": ("x", "y")}))
    store.checkpoints.save(Checkpoint("sft", "w3", "folder", "/m", base), Lineage("c2", "d1", {"s": ("x",)}))
    assert dispatch(["checkpoints", "list"]) == 0
    said = capsys.readouterr().out
    assert "unverified" in said
    assert "w3" in said
    assert dispatch(["checkpoints", "show", "base"]) == 0
    assert key[:12] in capsys.readouterr().out
    assert dispatch(["checkpoints", "show", "sft"]) == 0
    said = capsys.readouterr().out
    assert "campaign c2, data d1, 1 trained cluster of s" in said
    assert "weights w2" in said, "what the name meant before"
    assert dispatch(["checkpoints", "lineage", "sft"]) == 0
    assert "base: weights" in capsys.readouterr().out
    assert dispatch(["checkpoints", "lineage", "sft", "--json", "-"]) == 0
    line = json.loads(capsys.readouterr().out)
    assert [one["checkpoint"]["name"] for one in line] == ["sft", "base"]
    assert dispatch(["checkpoints", "show", "stf"]) == 2
    assert "did you mean 'sft'" in capsys.readouterr().err


def test_a_baseline_is_set_and_listed(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["baselines", "list"]) == 0
    assert "no baseline yet" in capsys.readouterr().out
    key = bring(store)
    assert dispatch(["baselines", "set", "v1.0", "base"]) == 0
    bring(store, 0.0)
    assert dispatch(["baselines", "list", "--json", "-"]) == 0
    out = capsys.readouterr().out
    (one,) = json.loads(out[out.index("[") :])
    assert (one["name"], one["reference"], one["runs"]) == ("v1.0", "base", {"docqa": key})
    assert dispatch(["baselines", "set", "v1.1", "bsae"]) == 2
    assert "did you mean" in capsys.readouterr().err
