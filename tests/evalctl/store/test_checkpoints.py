"""A name points to the newest weights, and what it meant before stays known."""

import json
from dataclasses import asdict

import pytest

from evalctl.errors import LookupFailed, StoreError, UsageError
from evalctl.store import Lineage, Store
from evalctl.types import Checkpoint


def folder(name: str, weights: str, parent: str | None = None) -> Checkpoint:
    return Checkpoint(name, weights, "folder", f"/models/{name}", parent)


def test_a_checkpoint_comes_back_and_saving_it_again_changes_nothing(store: Store) -> None:
    assert store.checkpoints.save(folder("base", "w1")) is None
    saved = store.checkpoints.saved("base")
    assert store.checkpoints.save(folder("base", "w1")) is None
    assert store.checkpoints.get("base") == folder("base", "w1")
    assert store.checkpoints.saved("base") == saved
    assert store.checkpoints.all() == [folder("base", "w1")]


def test_a_name_with_new_weights_keeps_its_history_and_tells(store: Store) -> None:
    store.checkpoints.save(folder("base", "w1"))
    told = store.checkpoints.save(folder("base", "w2"))
    assert told == "checkpoint 'base' now means weights w2; w1 stays in its history"
    store.checkpoints.save(folder("base", "w3"))
    assert [one.checkpoint.weights_digest for one in store.checkpoints.history("base")] == ["w3", "w2", "w1"]
    assert [one.current for one in store.checkpoints.history()] == [True, False, False]
    assert store.checkpoints.all() == [folder("base", "w3")]
    store.checkpoints.save(folder("base", "w2"))
    assert [one.checkpoint.weights_digest for one in store.checkpoints.history("base")] == ["w2", "w3", "w1"]


@pytest.mark.parametrize(
    "name", ["org/model v1", "../up", ".", "..", "ünï", "a:b", "double:noisy?accuracy=0.7", "x" * 150]
)
def test_any_name_is_a_name(name: str, store: Store) -> None:
    store.checkpoints.save(folder(name, "w"))
    assert store.checkpoints.saved(name).checkpoint.name == name
    assert [path.parent.parent.name for path in store.home.glob("checkpoints/*/checkpoint.json")] == ["checkpoints"]


@pytest.mark.parametrize("name", ["", "  ", "x" * 300])
def test_a_name_that_no_folder_can_have_is_refused(name: str, store: Store) -> None:
    with pytest.raises(UsageError, match="checkpoint name"):
        store.checkpoints.save(folder(name, "w"))


def test_an_unknown_name_is_met_with_a_near_one(store: Store) -> None:
    store.checkpoints.save(folder("candidate", "w"))
    assert store.checkpoints.get("canidate") is None
    with pytest.raises(LookupFailed, match="did you mean 'candidate'"):
        store.checkpoints.saved("canidate")


def test_trained_clusters_are_those_of_the_whole_line(store: Store) -> None:
    save = store.checkpoints.save
    save(folder("base", "w1"))
    save(folder("sft", "w2", "w1"), Lineage("c1", "data1", {"tooluse": ("a", "b"), "arithmetic": ("a",)}))
    save(folder("rlvr", "w3", "w2"), Lineage("c1", "data2", {"tooluse": ("c",)}))
    trained = store.checkpoints.trained_clusters
    assert trained("w3", "tooluse") == {"a", "b", "c"}
    assert trained("w3", "arithmetic") == {"a"}, "a cluster id means a cluster of its own suite alone"
    assert trained("w3", "terminal") == trained("w1", "tooluse") == trained("unknown", "tooluse") == frozenset()
    assert [one.checkpoint.name for one in store.checkpoints.ancestors("w3")] == ["rlvr", "sft", "base"]


def test_weights_known_under_two_names_keep_the_lineage_of_either(store: Store) -> None:
    store.checkpoints.save(folder("sft", "w2"), Lineage("c1", "data1", {"tooluse": ("a",)}))
    store.checkpoints.save(folder("alias", "w2"))
    assert store.checkpoints.trained_clusters("w2", "tooluse") == {"a"}
    store.checkpoints.save(folder("sft", "w2"))
    assert store.checkpoints.saved("sft").lineage.trained_clusters == {"tooluse": ("a",)}, (
        "a plain save forgets no lineage"
    )


def test_the_chain_ties_a_checkpoint_to_its_parents_record(store: Store) -> None:
    store.checkpoints.save(folder("base", "w1"))
    store.checkpoints.save(folder("sft", "w2", "w1"), Lineage("c1", "data1", {"tooluse": ("a",)}))
    sft = store.checkpoints.saved("sft")
    assert sft.parent_chain == store.checkpoints.saved("base").chain
    path = store.home / "checkpoints" / "sft" / "checkpoint.json"
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "trained_clusters": {}}))
    assert store.checkpoints.problems() == [f"{path}: changed after it was written (its chain does not match)"]
    path.write_text(json.dumps({**data, "trained_clusters": ["a"]}))
    with pytest.raises(StoreError, match="not a checkpoint record"):
        store.checkpoints.get("sft")
    path.write_text("{}")
    with pytest.raises(StoreError, match="not a checkpoint record"):
        store.checkpoints.get("sft")


def test_a_circle_of_parents_ends(store: Store) -> None:
    store.checkpoints.save(folder("a", "w1", "w2"))
    store.checkpoints.save(folder("b", "w2", "w1"))
    with pytest.raises(StoreError, match="its own ancestor"):
        store.checkpoints.ancestors("w1")


def test_the_record_has_the_fields_of_the_design(store: Store) -> None:
    store.checkpoints.save(folder("a", "w1", "w0"), Lineage("c", "d", {"tooluse": ("x", "y")}))
    data = json.loads((store.home / "checkpoints" / "a" / "checkpoint.json").read_text())
    assert data.keys() >= {*asdict(folder("a", "w1")), "campaign", "data_digest", "trained_clusters", "chain"}
    assert data["trained_clusters"] == {"tooluse": ["x", "y"]}
    assert store.checkpoints.saved("a").lineage == Lineage("c", "d", {"tooluse": ("x", "y")})
    assert store.checkpoints.problems() == []
