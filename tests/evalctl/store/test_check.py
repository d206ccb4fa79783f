"""`store check` names everything that is not as it was written, all at once."""

import json
import shutil
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from evalctl.errors import StoreError
from evalctl.store import Store
from evalctl.types import Checkpoint

Finished = Callable[..., str]


def edit(store: Store, key: str, **change: Any) -> None:
    path = store.folder(key) / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))


def test_a_changed_score_is_found_and_not_loaded(store: Store, finished: Finished) -> None:
    key = finished()
    path = store.folder(key) / "trials.parquet"
    frame = pd.read_parquet(path)
    frame.loc[0, "score"] = 1.0
    frame.to_parquet(path)
    assert any("changed after the run was finished" in line for line in store.check())
    with pytest.raises(StoreError, match="digest does not match"):
        store.load(key)


@pytest.mark.parametrize(
    "change",
    [{"complete": False}, {"seed": 9}, {"seal": "0"}, {"trials": {"rows": 4, "sha256": ""}}, {"finished": "9"}],
)
def test_a_changed_record_is_found_and_not_loaded(change: dict[str, Any], store: Store, finished: Finished) -> None:
    key = finished()
    edit(store, key, **change)
    assert any("changed after it was written" in line for line in store.check())
    with pytest.raises(StoreError, match="seal"):
        store.load(key)


def test_a_record_sealed_again_under_another_seed_has_another_key(store: Store, finished: Finished) -> None:
    from dataclasses import replace

    from evalctl.store.records import write_run

    key = finished()
    stored = store.stored(key)
    write_run(store.folder(key) / "run.json", replace(stored, record=replace(stored.record, seed=9)))
    store.rebuild()
    (line,) = store.check()
    assert "gives the key" in line


def test_everything_wrong_is_told_at_once(store: Store, finished: Finished) -> None:
    keys = [finished(replicate=i) for i in range(6)]
    store.baselines.set("v1", "base", {"tooluse": keys[5], "docqa": "gone"})
    store.checkpoints.save(Checkpoint("base", "w", "folder", "/somewhere"))
    (store.folder(keys[0]) / "run.json").write_bytes(b"")
    (store.folder(keys[1]) / "trials.parquet").unlink()
    (store.folder(keys[2]) / "trials.parquet").write_bytes(b"PAR1 and no more")
    edit(store, keys[3], complete=False)
    shutil.move(store.folder(keys[4]), store.runs / "elsewhere")
    (store.runs / "empty").mkdir()
    saved = store.home / "checkpoints" / "base" / "checkpoint.json"
    saved.write_text(saved.read_text().replace('"weights_digest": "w"', '"weights_digest": "v"'))
    store.save_verdict({"verdict": "PASS"}).write_text("[]")
    (store.home / "ledger").mkdir()
    (store.home / "ledger" / "looks.jsonl").write_text("{}\n")
    told = "\n".join(store.check())
    for part in (
        f"{keys[0]}/run.json: not JSON",
        f"{keys[1]}/trials.parquet: not there",
        f"{keys[2]}/trials.parquet: changed",
        f"{keys[2]}/trials.parquet: cannot be read",
        f"{keys[3]}/run.json: changed",
        f"elsewhere: holds run {keys[4]}",
        "empty/run.json: not there",
        "index: does not name run elsewhere",
        f"index: names run {keys[4]}",
        "checkpoint.json: changed",
        "v1.json: pins run gone of suite docqa",
        "not a JSON object",
        "looks.jsonl:1: not a look",
    ):
        assert part in told, part
    assert keys[5] not in told


def test_verdicts_come_newest_first(store: Store) -> None:
    for i in range(3):
        assert store.save_verdict({"verdict": "PASS", "i": i}).is_file()
    assert [verdict["i"] for verdict in store.verdicts()] == [2, 1, 0]
