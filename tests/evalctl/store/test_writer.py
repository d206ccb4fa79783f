"""A run being written keeps what was recorded, once, whatever interrupts it."""

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from evalctl.errors import StoreError, UsageError
from evalctl.store import Store
from evalctl.types import RunRecord, Trial

RecordOf = Callable[..., RunRecord]
TrialOf = Callable[..., Trial]


def lines_of(store: Store, key: str) -> Path:
    return store.runs / f".{key}.partial" / "trials.jsonl"


def test_opening_a_store_creates_nothing_until_a_write(tmp_path: Path, record_of: RecordOf) -> None:
    store = Store.open(tmp_path / "home")
    assert (store.find(), store.check(), store.verdicts(), store.checkpoints.all(), store.baselines.all()) == ([],) * 5
    assert store.rebuild() == 0
    assert not store.has(record_of().key)
    assert list(tmp_path.iterdir()) == []


def test_the_home_is_the_argument_then_the_environment_then_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVALCTL_HOME", raising=False)
    assert Store.open().home == Path(".evalctl")
    monkeypatch.setenv("EVALCTL_HOME", "/elsewhere")
    assert Store.open().home == Path("/elsewhere")
    assert Store.open(Path("here")).home == Path("here")


def test_an_interrupted_run_goes_on_and_nothing_is_there_twice(
    store: Store, record_of: RecordOf, trial_of: TrialOf
) -> None:
    record = record_of(5)
    with store.begin(record) as writer:
        writer.append(trial_of(3), trial_of(1))
        writer.note_time(2.0)
        (writer.folder / "logs" / "a.eval").write_text("log")
    assert not store.has(record.key)
    assert store.partials() == [record.key]
    with store.begin(replace(record, started="2026-02-02T00:00:00+00:00")) as writer:
        assert writer.trials == [trial_of(3), trial_of(1)]
        assert writer.spent == 2.0
        writer.append(trial_of(1, answer="again"))
        writer.append(trial_of(0), trial_of(2), trial_of(4))
        writer.note_time(1.5)
        run = writer.finish(complete=True, seconds=writer.spent, cost=0.25)
    assert run.trials["sample_id"].tolist() == [f"sample{i}" for i in range(5)], "in the order of the expected list"
    assert run.trials["answer"].tolist()[1] == "again"
    assert (run.record.seconds, run.record.cost, run.record.complete) == (3.5, 0.25, True)
    assert run.record.started == record.started, "when its first life began"
    assert sorted(path.name for path in store.folder(record.key).iterdir()) == ["logs", "run.json", "trials.parquet"]
    assert (store.folder(record.key) / "logs" / "a.eval").read_text() == "log"
    loaded = store.load(record.key)
    assert loaded.record == run.record
    pd.testing.assert_frame_equal(loaded.trials, run.trials)
    assert store.partials() == []


def test_the_order_in_which_trials_finished_leaves_no_trace(
    tmp_path: Path, record_of: RecordOf, trial_of: TrialOf
) -> None:
    files = []
    for name, order in (("a", range(5)), ("b", (4, 0, 3, 1, 2))):
        store = Store.open(tmp_path / name)
        with store.begin(record_of()) as writer:
            for i in order:
                writer.append(trial_of(i))
            writer.finish(True, 1.0)
        files.append((store.folder(record_of().key) / "trials.parquet").read_bytes())
    assert files[0] == files[1]


@pytest.mark.parametrize("cut", [1, 2, 40, 10_000])
def test_a_torn_last_line_is_dropped_and_the_next_one_is_whole(
    cut: int, store: Store, record_of: RecordOf, trial_of: TrialOf
) -> None:
    record = record_of(3)
    with store.begin(record) as writer:
        writer.append(trial_of(0))
        writer.append(trial_of(1))
    path = lines_of(store, record.key)
    first = path.read_bytes().index(b"\n") + 1
    os.truncate(path, max(first + 1, path.stat().st_size - cut))
    with store.begin(record) as writer:
        assert writer.trials == [trial_of(0)]
        writer.append(trial_of(1), trial_of(2))
        assert len(writer.finish(True, 1.0).trials) == 3


def test_a_last_line_of_rubbish_is_dropped(store: Store, record_of: RecordOf, trial_of: TrialOf) -> None:
    record = record_of(2)
    with store.begin(record) as writer:
        writer.append(trial_of(0))
    with lines_of(store, record.key).open("ab") as file:
        file.write(b"\0" * 100 + b"\n")
    with store.begin(record) as writer:
        assert writer.trials == [trial_of(0)]


def test_a_broken_line_before_the_last_is_told_with_file_and_line(
    store: Store, record_of: RecordOf, trial_of: TrialOf
) -> None:
    record = record_of(2)
    with store.begin(record) as writer:
        writer.append(trial_of(0), trial_of(1))
    path = lines_of(store, record.key)
    path.write_bytes(b"{\n" + path.read_bytes())
    with pytest.raises(StoreError, match=r"trials\.jsonl:1: not a trial.*move"), store.begin(record):
        pass


def test_complete_is_not_believed_where_an_expected_trial_is_absent(
    store: Store, record_of: RecordOf, trial_of: TrialOf
) -> None:
    record = record_of(3)
    with store.begin(record) as writer:
        writer.append(trial_of(0), trial_of(2))
        with pytest.raises(StoreError, match="1 of 3 expected trials"):
            writer.finish(True, 1.0)
    with store.begin(record) as writer:
        assert len(writer.trials) == 2, "the partial is still there"
        assert not writer.finish(False, 1.0).record.complete


def test_a_finished_run_is_never_written_again(store: Store, finished: Callable[..., str], record_of: RecordOf) -> None:
    finished()
    with pytest.raises(UsageError, match="never written again"):
        store.begin(record_of())


def test_nothing_is_added_after_the_end(store: Store, record_of: RecordOf, trial_of: TrialOf) -> None:
    with store.begin(record_of()) as writer:
        pass
    with pytest.raises(StoreError, match="closed"):
        writer.append(trial_of())


def test_a_second_writer_of_one_run_is_told_who_holds_it(store: Store, record_of: RecordOf, trial_of: TrialOf) -> None:
    record = record_of(1)
    with store.begin(record) as writer:
        with pytest.raises(UsageError, match=rf"another process \(pid {os.getpid()}\)"), store.begin(record):
            pass
        writer.append(trial_of(0))
        writer.finish(True, 1.0)


def test_a_writer_that_waited_at_the_door_of_a_finished_run_leaves_nothing(
    store: Store, record_of: RecordOf, trial_of: TrialOf
) -> None:
    record = record_of(1)
    late = store.begin(record)
    with store.begin(record) as writer:
        writer.append(trial_of(0))
        writer.finish(True, 1.0)
    with pytest.raises(UsageError, match="finished by another process"), late:
        pass
    assert [path.name for path in store.runs.iterdir()] == [record.key]
    assert store.check() == []


def test_a_kill_between_the_last_write_and_the_rename_loses_nothing(
    store: Store, record_of: RecordOf, trial_of: TrialOf
) -> None:
    record = record_of(2)
    with store.begin(record) as writer:
        writer.append(trial_of(0), trial_of(1))
        writer.finish(True, 7.0)
    store.folder(record.key).rename(store.runs / f".{record.key}.partial")
    assert store.find() == []
    with store.begin(record) as writer:
        assert writer.trials == [trial_of(0), trial_of(1)]
        assert writer.spent == 7.0
        writer.finish(True, writer.spent)
    assert store.load(record.key).record.seconds == 7.0
    assert store.check() == []


FULL = """
import resource, sys
from pathlib import Path
from evalctl.store import Store
from evalctl.store.records import record_from_json
from evalctl.types import Trial
import json
record = record_from_json(json.loads(sys.argv[2]))
with Store.open(Path(sys.argv[1])).begin(record) as writer:
    resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, 3_000))
    try:
        for i in range(100):
            writer.append(Trial("tooluse", None, f"sample{i}", f"key{i}", answer="x" * 100))
    except OSError as error:
        print(i, error.filename)
        print(len(writer.trials), flush=True)
"""


def test_a_write_that_the_disk_refuses_is_taken_back_whole(store: Store, record_of: RecordOf) -> None:
    from evalctl.store.records import record_to_json

    record = record_of(100)
    told = subprocess.run(
        [sys.executable, "-c", FULL, str(store.home), json.dumps(record_to_json(record))],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert told[1].endswith("trials.jsonl")
    assert 0 < int(told[0]) < 100
    assert told[0] == told[2]
    assert lines_of(store, record.key).read_bytes().endswith(b"\n")
    with store.begin(record) as writer:
        assert len(writer.trials) == int(told[0])


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True, text=True)
    if mount.returncode:
        pytest.skip(f"a file system cannot be mounted here: {mount.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def test_a_full_disk_leaves_a_run_that_can_be_resumed(small_disk: Path, record_of: RecordOf, trial_of: TrialOf) -> None:
    store, record = Store.open(small_disk), record_of(3)
    filler = small_disk / "filler"
    with store.begin(record) as writer:
        writer.append(*(trial_of(i) for i in range(3)))
        with pytest.raises(OSError, match="No space left"):
            filler.write_bytes(b"x" * 2**21)
        with pytest.raises(OSError, match="No space left") as caught:
            writer.finish(True, 1.0)
        assert caught.value.errno == errno.ENOSPC
        with pytest.raises(OSError, match="No space left"):
            writer.append(trial_of(0, answer="x" * 9_000))
    assert not store.has(record.key)
    filler.unlink()
    with store.begin(record) as writer:
        assert writer.trials == [trial_of(i) for i in range(3)]
        writer.finish(True, 1.0)
    assert store.check() == []
