"""A REF means the newest complete run of each suite, and what it cannot mean is said."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from evalctl.errors import LookupFailed, UsageError
from evalctl.store import Store
from evalctl.store.resolve import resolve, run_key_of
from evalctl.types import Checkpoint

Finished = Callable[..., str]


def test_a_checkpoint_name_means_the_newest_run_of_each_suite(store: Store, finished: Finished) -> None:
    finished(suite="a")
    finished(suite="b")
    newest = {"a": finished(suite="a", replicate=1), "b": finished(suite="b", replicate=1)}
    finished(suite="a", name="other")
    for saved in (False, True):
        if saved:
            store.checkpoints.save(Checkpoint("base", "weights-of-base", "served", "openai/x"))
        side = resolve(store, "base")
        assert (side.name, side.weights_digest, dict(side.runs)) == ("base", "weights-of-base", newest)
    assert resolve(store, "openai/x") == side
    assert resolve(store, "weights-of-base") == side


def test_an_incomplete_run_is_taken_only_where_none_is_complete(store: Store, finished: Finished) -> None:
    whole = finished(suite="a")
    finished(suite="a", complete=False, replicate=1)
    finished(suite="b", complete=False)
    newest = finished(suite="b", complete=False, replicate=1)
    assert dict(resolve(store, "base").runs) == {"a": whole, "b": newest}


@pytest.mark.parametrize("later", [["dev"], ["sealed"], ["pool"], ["pool", "dev"]])
def test_a_later_run_of_other_roles_does_not_hide_the_one_that_covers_more(
    later: list[str], store: Store, finished: Finished
) -> None:
    whole = finished(roles=["bench", "pool"])
    part = finished(roles=later, replicate=1)
    assert dict(resolve(store, "base").runs) == {"tooluse": whole}
    assert dict(resolve(store, "base", {later[-1]}).runs) == {"tooluse": part}
    assert dict(resolve(store, part).runs) == {"tooluse": part}, "a run that is named is that run"
    finished(roles=["bench", "pool"], complete=False, replicate=2)
    assert dict(resolve(store, "base").runs) == {"tooluse": whole}
    newer = finished(roles=["bench", "pool"], replicate=3)
    assert dict(resolve(store, "base").runs) == {"tooluse": newer}


def test_each_suite_may_be_read_in_roles_of_its_own(store: Store, finished: Finished) -> None:
    bench, sealed = finished(suite="a"), finished(suite="a", roles=["sealed"], replicate=1)
    other = finished(suite="b")
    assert dict(resolve(store, "base", suites={"a": {"sealed"}}).runs) == {"a": sealed, "b": other}
    assert dict(resolve(store, "base", suites={"b": {"sealed"}}).runs) == {"a": bench, "b": other}


def test_a_new_version_of_a_suite_with_fewer_roles_is_covered_by_its_own_runs(store: Store, finished: Finished) -> None:
    finished(roles=["bench", "replay", "pool"])
    new = finished(roles=["bench", "pool"], digest="second")
    assert dict(resolve(store, "base").runs) == {"tooluse": new}


def test_a_name_means_its_newest_weights_only(store: Store, finished: Finished) -> None:
    finished(weights="w1")
    store.checkpoints.save(Checkpoint("base", "w1", "imported", "base"))
    store.checkpoints.save(Checkpoint("base", "w2", "imported", "base"))
    assert resolve(store, "base").runs == {}
    key = finished(weights="w2")
    assert dict(resolve(store, "base").runs) == {"tooluse": key}


def test_a_run_is_meant_by_its_key_or_a_beginning_of_it(store: Store, finished: Finished) -> None:
    key, other = finished(), finished(replicate=1)
    for reference in (key, key[:6], f"base@{key[:12]}"):
        assert dict(resolve(store, reference).runs) == {"tooluse": key}
        assert run_key_of(store, reference) == key
    side = resolve(store, other)
    assert resolve(store, side.name) == side, "what a verdict calls it means it again"
    for reference in (key[:5], f"other@{key}", key + "0"):
        with pytest.raises(UsageError, match="is no run"):
            resolve(store, reference)


def test_a_beginning_of_two_keys_is_refused(store: Store, finished: Finished, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalctl.store.resolve.SHORTEST", 1)
    keys = [finished(n=1, replicate=i) for i in range(17)]
    starts = [key[0] for key in keys]
    twice = next(start for start in starts if starts.count(start) > 1)
    with pytest.raises(UsageError, match="say more"):
        resolve(store, twice)


def test_a_baseline_pins_the_runs_of_the_time_it_was_set(store: Store, finished: Finished) -> None:
    old = finished()
    store.baselines.set("v1", "base", resolve(store, "base").runs)
    new = finished(replicate=1)
    side = resolve(store, "baseline:v1")
    assert (side.name, side.weights_digest, dict(side.runs)) == ("baseline:v1", "weights-of-base", {"tooluse": old})
    store.baselines.set("v1", "base", resolve(store, "base").runs)
    assert dict(resolve(store, "baseline:v1").runs) == {"tooluse": new}
    assert [(one.name, one.reference) for one in store.baselines.all()] == [("v1", "base")]
    assert old in (store.home / "baselines" / "v1.json").read_text(), "what it pinned before is kept"


def test_a_baseline_whose_run_is_gone_is_no_baseline(store: Store, finished: Finished) -> None:
    finished()
    store.baselines.set("v1", "base", {"tooluse": "feedfeedfeedfeed"})
    with pytest.raises(UsageError, match="not there: tooluse"):
        resolve(store, "baseline:v1")
    with pytest.raises(LookupFailed, match="Known: v1"):
        resolve(store, "baseline:v2")
    with pytest.raises(UsageError, match="no finished run to pin"):
        store.baselines.set("v3", "base", {})


def test_an_unknown_reference_is_met_with_a_near_one(store: Store, finished: Finished) -> None:
    finished(name="candidate")
    with pytest.raises(UsageError, match=r"did you mean 'candidate'\? Known: candidate"):
        resolve(store, "canidate")
    with pytest.raises(UsageError, match=r"knows\. Known: candidate"):
        resolve(store, "zzz")


def test_a_folder_means_the_weights_that_stand_in_it_now(tmp_path: Path, store: Store, finished: Finished) -> None:
    models = pytest.importorskip("evalctl.models")
    folder = tmp_path / "model"
    folder.mkdir()
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (folder / name).write_text('{"model_type": "llama", "chat_template": "x"}')
    (folder / "model.safetensors").write_bytes(b"first weights")
    saved = models.checkpoint_for(str(folder), "base")
    store.checkpoints.save(saved)
    key = finished(weights=saved.weights_digest)
    shutil.copytree(folder, tmp_path / "moved")
    for place in (folder, tmp_path / "moved"):
        side = resolve(store, str(place))
        assert (side.name, dict(side.runs)) == ("base", {"tooluse": key})
    (folder / "model.safetensors").write_bytes(b"trained again, in the same place")
    with pytest.raises(UsageError, match="no run of the weights that stand there now"):
        resolve(store, str(folder))
