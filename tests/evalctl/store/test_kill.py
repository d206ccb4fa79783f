"""kill -9 at any moment leaves a run partial or whole: nothing twice, nothing lost that was acknowledged."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from evalctl.store import Store
from evalctl.store.files import locked
from evalctl.types import RunRecord, Trial

WRITER = """
import json, sys
from pathlib import Path
from evalctl.store import Store
from evalctl.store.records import record_from_json
from evalctl.types import Trial
record = record_from_json(json.loads(sys.argv[2]))
with Store.open(Path(sys.argv[1])).begin(record) as writer:
    done = {trial.content_key for trial in writer.trials}
    print("open", flush=True)
    for key, _, epoch in record.expected:
        if key not in done:
            writer.append(Trial("tooluse", None, key, key, score=1.0, metrics={"f1": {"value": 0.5}}, answer="x" * 300))
            print(key, flush=True)
            writer.note_time(0.001)
    writer.finish(True, writer.spent)
    print("whole", flush=True)
"""
IMPORTER = """
import sys
from pathlib import Path
from evalctl.importers import IMPORTERS, import_file
from evalctl.store import Store
print("open", flush=True)
import_file(Store.open(Path(sys.argv[1])), Path(sys.argv[2]), ("jsonl", IMPORTERS["jsonl"]), None, "base")
print("whole", flush=True)
"""


def killed(script: str, *arguments: str, after: float) -> list[str]:
    """Run a script, kill it `after` seconds from its first word; the words it had said."""
    process = subprocess.Popen([sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    first = process.stdout.readline()
    assert first == "open\n"
    time.sleep(after)
    process.kill()
    rest, _ = process.communicate()
    return rest.split()


@pytest.mark.kill
@pytest.mark.slow
def test_a_writer_killed_at_random_moments_loses_nothing_and_writes_nothing_twice(
    tmp_path: Path, record_of: Callable[..., RunRecord]
) -> None:
    draw = random.Random(11)
    record = record_of(60)
    store = Store.open(tmp_path)
    acknowledged: list[str] = []
    for _ in range(8):
        said = killed(WRITER, str(tmp_path), json.dumps(asdict(record)), after=draw.uniform(0.0, 0.4))
        acknowledged += [word for word in said if word != "whole"]
        if store.has(record.key):
            break
        with store.begin(record) as writer:
            assert {trial.content_key for trial in writer.trials} >= set(acknowledged)
    if not store.has(record.key):
        last = subprocess.run(
            [sys.executable, "-c", WRITER, str(tmp_path), json.dumps(asdict(record))], check=True, capture_output=True
        )
        acknowledged += [word for word in last.stdout.decode().split() if word.startswith("key")]
    assert len(acknowledged) == len(set(acknowledged))
    keys = store.load(record.key).trials["content_key"].tolist()
    assert keys == [f"key{i}" for i in range(60)]
    assert store.load(record.key).record.seconds > 0
    store.find()
    assert store.check() == []
    assert [path.name for path in store.runs.iterdir()] == [record.key]


@pytest.mark.kill
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_kill_at_each_step_of_finishing_leaves_the_partial_or_the_whole(
    tmp_path: Path, record_of: Callable[..., RunRecord], trial_of: Callable[..., Trial]
) -> None:
    """A child dies at its n-th call into the file system while it finishes, for every n."""
    record = record_of(3)
    for step in range(60):
        store = Store.open(tmp_path / str(step))
        with store.begin(record) as writer:
            writer.append(*(trial_of(i) for i in range(3)))
        child = os.fork()
        if child == 0:
            _finish_and_die(store, record, step)
        _, status = os.waitpid(child, 0)
        if store.has(record.key):
            assert len(store.load(record.key).trials) == 3
        else:
            with store.begin(record) as writer:
                assert len(writer.trials) == 3
                writer.finish(True, 1.0)
        assert [row.key for row in store.find()] == [record.key]
        assert store.check() == []
        if os.WIFEXITED(status):
            return
    raise AssertionError("the child never came to its end")


def _finish_and_die(store: Store, record: RunRecord, step: int) -> None:
    """In a child: finish, and be killed at the audit event `step` that opens, renames or removes something."""
    left = [step]

    def count(event: str, arguments: tuple[object, ...]) -> None:
        if event in {"open", "os.rename", "os.remove", "sqlite3.connect"} and os.getpid() == me:
            left[0] -= 1
            if left[0] < 0:
                os.kill(me, signal.SIGKILL)

    me = os.getpid()
    with store.begin(record) as writer:
        sys.addaudithook(count)
        writer.finish(True, 1.0)
    os._exit(0)


@pytest.mark.kill
@pytest.mark.slow
def test_an_import_killed_at_random_moments_is_all_there_or_not_at_all(tmp_path: Path) -> None:
    draw = random.Random(5)
    source = tmp_path / "trials.jsonl"
    rows = (
        {"suite": f"s{i % 2}", "sample_id": f"sample{i}", "score": i % 2, "metrics": {"f1": 0.5}, "answer": "x" * 300}
        for i in range(1_600)
    )
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    store = Store.open(tmp_path / "home")
    for _ in range(6):
        killed(IMPORTER, str(store.home), str(source), after=draw.uniform(0.0, 0.8))
        for row in store.find():
            assert len(store.load(row.key).trials) == 800
    done = subprocess.run(
        [sys.executable, "-c", IMPORTER, str(store.home), str(source)], check=True, capture_output=True
    )
    assert b"whole" in done.stdout
    assert sorted(row.suite for row in store.find()) == ["s0", "s1"]
    assert store.check() == []
    assert not list(store.runs.glob(".import-*")), "what killed imports left is cleared"


SAME = """
import sys
from pathlib import Path
from dataclasses import replace
from evalctl.keys import run_key
from evalctl.store import Store
from evalctl.types import RunRecord, Trial
store = Store.open(Path(sys.argv[1]))
for i in range(int(sys.argv[3])):
    record = RunRecord("", {"name": "s", "digest": "d", "roles": []},
                       {"name": sys.argv[2], "weights_digest": sys.argv[2]}, seed=i, expected=(("k", "{}", 1),))
    record = replace(record, key=run_key(record))
    with store.begin(record) as writer:
        writer.append(Trial("s", None, "k", "k", score=1.0))
        writer.finish(True, 1.0)
    assert store.find(weights_digest=sys.argv[2])[0].key == record.key
"""


@pytest.mark.slow
def test_processes_that_finish_runs_at_once_all_find_theirs(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "evalctl.db").write_bytes(b"rubbish, so that the index is remade under their feet" * 99)
    children = [subprocess.Popen([sys.executable, "-c", SAME, str(tmp_path), name, "4"]) for name in "abc"]
    assert [child.wait(timeout=120) for child in children] == [0, 0, 0]
    store = Store.open(tmp_path)
    rows = store.find()
    assert len(rows) == 12
    assert len({row.finished for row in rows}) == 12, "no two runs entered the store at one time"
    assert store.check() == []


def test_a_second_process_on_one_run_is_told_who_writes_it(tmp_path: Path, record_of: Callable[..., RunRecord]) -> None:
    store = Store.open(tmp_path)
    record = record_of(2)
    with store.begin(record) as writer:
        writer.append(Trial("tooluse", None, "key0", "key0", score=1.0))
        second = subprocess.run(
            [sys.executable, "-c", WRITER, str(tmp_path), json.dumps(asdict(record))], capture_output=True, text=True
        )
        assert second.returncode == 1
        assert f"is being written by another process (pid {os.getpid()})" in second.stderr
        writer.append(Trial("tooluse", None, "key1", "key1", score=1.0))
        assert len(writer.finish(True, 1.0).trials) == 2


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    hold = f"""
import sys, time
from pathlib import Path
from evalctl.store.files import locked
with locked(Path({str(lock)!r}), "it"):
    print("held", flush=True)
    time.sleep(60)
"""
    holder = subprocess.Popen([sys.executable, "-c", hold], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    holder.kill()
    holder.communicate()
    with locked(lock, "it"):
        pass
