"""The files are the truth: whatever happens to the index, no answer is wrong and nothing is lost."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from evalctl.digests import digest
from evalctl.errors import StoreError
from evalctl.store import Store
from evalctl.store.index import Index

Finished = Callable[..., str]


def no_index(store: Store) -> None:
    for path in store.home.glob("evalctl.db*"):
        path.unlink()


def test_runs_are_found_newest_first_by_suite_weights_and_name(store: Store, finished: Finished) -> None:
    keys = [finished(suite="a"), finished(suite="b"), finished(suite="a", name="tuned", weights="w2", replicate=1)]
    assert [row.key for row in store.find()] == keys[::-1]
    assert [row.key for row in store.find(suite="a")] == [keys[2], keys[0]]
    assert [row.key for row in store.find(checkpoint="tuned", weights_digest="w2")] == [keys[2]]
    row = store.find()[0]
    assert (row.suite, row.checkpoint, row.weights_digest, row.replicate) == ("a", "tuned", "w2", 1)
    assert (row.n, row.roles, row.complete, row.imported) == (5, ("bench",), True, False)


def test_a_later_run_is_newer_even_where_the_clock_was_set_back(
    store: Store, finished: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    from datetime import UTC, datetime

    first = finished(name="a")

    class Back(datetime):
        @classmethod
        def now(cls, tz: object = None) -> "datetime":
            return datetime(2001, 1, 1, tzinfo=UTC)

    monkeypatch.setattr("evalctl.store.store.datetime", Back)
    second = finished(name="b")
    assert [row.key for row in store.find()] == [second, first]


@pytest.mark.parametrize("harm", ["missing", "rubbish", "empty", "torn", "old form", "no table"])
def test_an_index_that_is_harmed_gives_the_right_answer(harm: str, store: Store, finished: Finished) -> None:
    keys = [finished(name="a"), finished(name="b")]
    database = store.home / "evalctl.db"
    before = database.read_bytes()
    no_index(store)
    if harm in {"rubbish", "empty", "torn"}:
        database.write_bytes({"rubbish": b"no database" * 999, "empty": b"", "torn": before[:5_000]}[harm])
    elif harm != "missing":
        with sqlite3.connect(database) as connection:
            connection.execute("CREATE TABLE runs (key, mark)" if harm == "old form" else "PRAGMA user_version = 1")
    assert [row.key for row in store.find()] == keys[::-1]
    assert store.rebuild() == 2
    assert store.check() == []


def test_an_index_older_than_the_files_catches_up(store: Store, finished: Finished) -> None:
    finished(name="a")
    shutil.copy(store.home / "evalctl.db", store.home / "old")
    second = finished(name="b")
    third = finished(name="c")
    no_index(store)
    shutil.copy(store.home / "old", store.home / "evalctl.db")
    shutil.rmtree(store.folder(third))
    assert store.find()[0].key == second
    assert len(store.find()) == 2


def test_a_run_copied_in_is_found_and_one_taken_away_is_gone(tmp_path: Path, store: Store, finished: Finished) -> None:
    key = finished()
    other = Store.open(tmp_path / "other")
    shutil.copytree(store.folder(key), other.folder(key))
    assert [row.key for row in other.find()] == [key]
    assert len(other.load(key).trials) == 5
    shutil.rmtree(other.folder(key))
    assert other.find() == []


def test_rebuild_loses_nothing(store: Store, finished: Finished) -> None:
    for name in "abc":
        finished(name=name)
    before = store.find()
    no_index(store)
    assert store.check() == ["index: missing; `evalctl store rebuild` makes it"]
    assert store.rebuild() == 3
    assert store.find() == before
    assert store.check() == []


def test_a_home_that_cannot_be_written_is_read_all_the_same(store: Store, finished: Finished) -> None:
    key = finished()
    no_index(store)
    # A database in a folder that is not there can be neither read nor made, whoever runs this test.
    rows, problems = Index(store.home / "nowhere" / "evalctl.db", store.runs).rows()
    assert ([row.key for row in rows], problems) == ([key], [])


def test_a_run_that_cannot_be_read_is_never_passed_over_in_silence(store: Store, finished: Finished) -> None:
    old, new = finished(name="a"), finished(name="a", replicate=1)
    (store.folder(new) / "run.json").write_text("{")
    with pytest.raises(StoreError, match=f"{new}/run.json: not JSON.*store check"):
        store.find()
    rows, problems = store.rows()
    assert [row.key for row in rows] == [old]
    assert len(problems) == 1


def test_a_row_the_index_invented_is_named_by_check(store: Store, finished: Finished) -> None:
    key = finished()
    with sqlite3.connect(store.home / "evalctl.db") as connection:
        connection.execute("UPDATE runs SET complete = 0, suite = 'other'")
        connection.execute(
            "INSERT INTO runs SELECT 'feed', suite, suite_digest, checkpoint, weights_digest, started, "
            "finished, complete, n, roles, replicate, imported, mark FROM runs"
        )
    assert sorted(line.split(";")[0] for line in store.check()) == [
        "index: names run feed, which is not there",
        f"index: says other things of run {key} than its folder",
    ]
    assert store.rebuild() == 1
    assert store.check() == []


def test_a_second_look_at_many_runs_reads_no_record_again(
    store: Store, finished: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    for i in range(3):
        finished(replicate=i)

    def never(path: Path) -> None:
        raise AssertionError(path)

    monkeypatch.setattr("evalctl.store.index.read_run", never)
    assert len(store.find()) == 3


def test_numbers_past_64_bits_do_not_break_the_index_and_are_named(store: Store, finished: Finished) -> None:
    first = finished(name="a")
    huge = finished(name="b", replicate=10**23)
    assert [(row.key, row.replicate) for row in store.find()] == [(huge, 10**23), (first, 0)]
    assert [row.replicate for row in store.find()] == [10**23, 0]
    assert store.rebuild() == 2
    [line] = store.check()
    assert huge in line
    assert "replicate" in line


@pytest.mark.parametrize(
    ("field", "value"),
    [("suite", {"name": ["x"], "roles": []}), ("replicate", "x"), ("suite", {"name": ""})],
)
def test_a_record_of_wrong_types_is_named_and_the_others_stay(
    field: str, value: object, store: Store, finished: Finished
) -> None:
    good, bad = finished(name="a"), finished(name="b")
    path = store.folder(bad) / "run.json"
    data = json.loads(path.read_text())
    data.pop("seal")
    data[field] = value
    path.write_text(json.dumps({**data, "seal": digest(data)}))
    rows, problems = store.rows()
    assert [row.key for row in rows] == [good]
    assert len(problems) == 1
    assert bad in problems[0]
    assert any(bad in line for line in store.check())
