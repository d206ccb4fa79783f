"""The exchange form is read as the design says, line by line; what is wrong stops with file and line."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from evalctl.digests import digest
from evalctl.errors import DataError, UsageError
from evalctl.importers import IMPORTERS, Imported, import_file
from evalctl.store import Store
from evalctl.store.frames import not_finite, to_trials
from evalctl.types import Checkpoint, Trial

ROW = {"suite": "docqa", "sample_id": "a", "score": 1}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "home")


def bring(store: Store, *rows: dict[str, Any] | bytes, suite: str | None = None, to: str = "base") -> Imported:
    """Import rows (objects, or bytes as they are) under a checkpoint."""
    path = store.home.with_name("trials.jsonl")
    path.write_bytes(b"\n".join(row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows) + b"\n")
    return import_file(store, path, ("jsonl", IMPORTERS["jsonl"]), suite, to)


def trials(store: Store, done: Imported) -> list[Trial]:
    """The trials of the only run."""
    (run,) = done.runs
    return to_trials(store.load(run.key).trials)


def test_only_suite_sample_id_and_score_are_required(store: Store) -> None:
    done = bring(store, ROW)
    assert trials(store, done) == [
        Trial("docqa", None, "a", digest("a"), cluster="a", pair_id="a", score=1.0, direction=None, metric="correct")
    ]
    record = store.load(done.runs[0].key).record
    assert record.suite == {"name": "docqa", "version": None, "digest": None, "n": 1, "roles": ["bench"]}
    assert (record.complete, record.expected, record.sampling, record.judge) == (True, None, None, None)
    assert record.source is not None
    assert (record.source["format"], record.source["file"]) == ("jsonl", "trials.jsonl")
    told = "\n".join(done.notes)
    for part in ("no content_key", "one cluster per sample", "no role", "'base' is a new checkpoint"):
        assert part in told
    assert store.checkpoints.get("base") == Checkpoint(
        "base", digest(["imported", "base"]), "imported", "base", verified=False
    )


def test_every_column_of_the_exchange_form_is_kept(store: Store) -> None:
    row = {
        "suite": "docqa", "suite_digest": "d", "sample_id": "fin-012#3", "content_key": "k", "family": "footnote",
        "cluster": "fin-012", "band": "hard", "role": "pool", "shard": 2, "pair_id": "p",
        "variant": {"context": "long", "attempt": 1}, "context_tokens": 31544, "epoch": 2, "status": "limit",
        "score": 0.0, "metric": "f1", "direction": "higher", "range": [0, 1],
        "metrics": {"citation_f1": {"value": 0.5, "direction": "higher", "range": [0, 1]}}, "answer": "…",
        "stop_reason": "stop", "truncated": True, "input_tokens": 31602, "output_tokens": 88.0, "turns": 1,
        "tool_calls": 0, "seconds": 4.2, "cost": None, "reward": 0.5, "failure": "format", "error": "e",
        "transcript": "logs/a.eval#fin-012#3/1", "metadata": {"x": [1, None]},
    }  # fmt: skip
    (trial,) = trials(store, bring(store, row))
    assert trial == Trial(**{**row, "range": (0.0, 1.0), "output_tokens": 88})
    assert store.find()[0].suite_digest == "d"


def test_a_file_may_hold_several_suites_and_each_becomes_a_run(store: Store) -> None:
    done = bring(store, ROW, {**ROW, "suite": "terminal"}, {**ROW, "sample_id": "b"})
    assert [(run.suite, run.n, run.new) for run in done.runs] == [("docqa", 2, True), ("terminal", 1, True)]


def test_the_suite_option_is_for_rows_that_name_none(store: Store) -> None:
    done = bring(store, {"sample_id": "a", "score": 1}, {**ROW, "suite": "other"}, suite="docqa")
    assert [run.suite for run in done.runs] == ["docqa", "other"]
    assert any('suite "other" is kept, although --suite says "docqa"' in note for note in done.notes)


def test_the_same_bytes_again_change_nothing_and_other_bytes_are_newer(store: Store) -> None:
    first = bring(store, ROW).runs[0]
    second = bring(store, {**ROW, "score": 0}).runs[0]
    files = {path: path.read_bytes() for path in store.runs.rglob("*.*") if path.is_file()}
    again = bring(store, ROW).runs[0]
    assert (again.key, again.new, second.new) == (first.key, False, True)
    assert [row.key for row in store.find()] == [second.key, first.key]
    assert {path: path.read_bytes() for path in store.runs.rglob("*.*") if path.is_file()} == files
    assert bring(store, ROW, to="other").runs[0].new, "under another checkpoint it is another run"


def test_a_suite_added_to_the_same_bytes_is_new_where_the_other_is_not(store: Store) -> None:
    rows = ({"sample_id": "a", "score": 1}, {**ROW, "suite": "fixed"})
    bring(store, *rows, suite="one")
    done = bring(store, *rows, suite="two")
    assert [(run.suite, run.new) for run in done.runs] == [("two", True), ("fixed", False)]


@pytest.mark.parametrize(
    ("text", "named"), [("NaN", "NaN"), ("Infinity", "Infinity"), ("-Infinity", "-Infinity"), ("1e999", "Infinity"),
                        ("-1e999", "-Infinity"), ("1" + "0" * 400, "Infinity")]
)  # fmt: skip
def test_a_score_that_is_not_finite_is_kept_and_told(text: str, named: str, store: Store) -> None:
    done = bring(store, ROW, f'{{"suite": "docqa", "sample_id": "b", "score": {text}}}'.encode())
    frame = store.load(done.runs[0].key).trials
    assert not_finite(frame).tolist() == [False, True]
    assert frame["unfit"][1] == f"score: not finite: {named}"
    assert frame["status"].tolist() == ["ok", "ok"]
    assert f'1 row: score is not finite; kept, and INVALID at the gate (line 2 "b": {named})' in done.notes


def test_what_is_well_formed_but_unfit_is_kept_and_told(store: Store) -> None:
    done = bring(store, ROW, {**ROW, "score": 0}, {**ROW, "sample_id": "b", "score": 1.7},
                 {**ROW, "sample_id": "c", "score": 7, "range": [0, 5], "metric": "points"},
                 {**ROW, "sample_id": "d", "score": 7, "metric": "points", "metrics": {"f1": math.nan}})  # fmt: skip
    assert [trial.score for trial in trials(store, done)] == [1.0, 0.0, 1.7, 7.0, 7.0]
    told = "\n".join(done.notes)
    assert '1 row: a duplicate (content key, variant, epoch); kept, and INVALID at the gate (line 2 "a")' in told
    assert '2 rows: score is out of its range; kept, and INVALID at the gate (line 3 "b": 1.7, line 4 "c": 7)' in told
    assert '1 row: metrics.f1 is not finite; kept, and INVALID at the gate (line 5 "d": NaN)' in told


def test_the_same_id_twice_is_a_duplicate_and_never_a_second_epoch(store: Store) -> None:
    assert [trial.epoch for trial in trials(store, bring(store, ROW, ROW))] == [1, 1]
    done = bring(store, {**ROW, "epoch": 1}, {**ROW, "epoch": 2}, {**ROW, "variant": {"context": "long"}})
    assert not any("duplicate" in note for note in done.notes)


@pytest.mark.parametrize(
    ("given", "status"),
    [({}, "verifier_error"), ({"status": "limit"}, "limit"), ({"status": "infra_error"}, "infra_error")],
)
def test_a_null_score_is_unscored(given: dict[str, Any], status: str, store: Store) -> None:
    (trial,) = trials(store, bring(store, {**ROW, "score": None, **given}))
    assert (trial.score, trial.status) == (None, status)


def test_booleans_are_one_and_zero(store: Store) -> None:
    done = bring(store, {**ROW, "score": True}, {**ROW, "sample_id": "b", "score": False})
    assert [trial.score for trial in trials(store, done)] == [1.0, 0.0]


def test_blank_lines_marks_and_line_ends_are_read_as_what_they_are(store: Store) -> None:
    line = json.dumps({**ROW, "answer": "a\u2028b"}, ensure_ascii=False).encode()
    done = bring(store, b"\xef\xbb\xbf" + line + b"\r", b"", b"  \r", json.dumps({**ROW, "sample_id": "b"}).encode())
    assert [(trial.sample_id, trial.answer) for trial in trials(store, done)] == [("a", "a\u2028b"), ("b", None)]


def test_an_unknown_column_is_kept_in_metadata_and_told(store: Store) -> None:
    done = bring(
        store, {**ROW, "custer": "x", "note": math.inf, "metadata": {"note2": 1}, "sampling": {"temperature": 0}}
    )
    (trial,) = trials(store, done)
    assert trial.metadata == {"custer": "x", "note": "Infinity", "note2": 1, "sampling": {"temperature": 0}}
    assert '1 row: unknown column "custer" is kept in metadata (did you mean "cluster"?)' in done.notes
    assert not any('"sampling"' in note for note in done.notes), "how a row was made is no surprise"


def test_one_name_with_two_values_is_refused(store: Store) -> None:
    bring(store, {**ROW, "judge": "a", "metadata": {"judge": "a"}})
    with pytest.raises(DataError, match=r"trials.jsonl:1: column \"judge\" and metadata"):
        bring(store, {**ROW, "judge": "a", "metadata": {"judge": "b"}})


def test_a_suite_digest_is_the_runs_only_where_every_row_states_it(store: Store) -> None:
    bring(store, {**ROW, "suite_digest": "d"}, {**ROW, "sample_id": "b"})
    assert store.find()[0].suite_digest is None
    frame = store.load(store.find()[0].key).trials
    assert frame["suite_digest"].isna().tolist() == [False, True], "and the column still says who stated what"


def test_a_bare_number_is_a_metric_that_declares_nothing(store: Store) -> None:
    (trial,) = trials(store, bring(store, {**ROW, "metrics": {"f1": 0.5, "ok": True, "none": {"value": None}}}))
    assert trial.metrics["f1"] == {"value": 0.5, "direction": None, "range": None}
    assert (trial.metrics["ok"]["value"], trial.metrics["none"]["value"]) == (1.0, None)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"sample_id": 7}, r"sample_id is a number \(7\); text is wanted: quote it"),
    ({"sample_id": ""}, "no 'sample_id'"),
    ({"sample_id": None}, "no 'sample_id'"),
    ({"suite": None}, "no 'suite'.*--suite NAME"),
    ({"suite": 3}, "suite is a number"),
    ({"score": "1"}, r"score is text \(\"1\"\); a number"),
    ({"score": "NaN"}, "score is text"),
    ({"score": [1]}, "score is a list"),
    ({"score": {}}, "score is an object"),
    ({"content_key": 3}, "content_key is a number"),
    ({"cluster": 3}, "cluster is a number"),
    ({"answer": 42}, "answer is a number"),
    ({"status": "okay"}, "status is text .*did you mean 'ok'"),
    ({"status": 1}, "status is a number"),
    ({"role": "benhc"}, "did you mean 'bench'"),
    ({"direction": "up"}, "one of higher, lower is wanted"),
    ({"epoch": 1.5}, "epoch is a number"),
    ({"epoch": True}, "epoch is true or false"),
    ({"epoch": -1}, "epoch is a number"),
    ({"turns": "3"}, "turns is text"),
    ({"input_tokens": math.nan}, "input_tokens is a number"),
    ({"output_tokens": 2**70}, "output_tokens is a number"),
    ({"truncated": 1}, "truncated is a number"),
    ({"seconds": "4"}, "seconds is text"),
    ({"range": [1, 0]}, "the lower first"),
    ({"range": [0, math.inf]}, "finite"),
    ({"range": [0, True]}, "a list of two numbers"),
    ({"range": "0..1"}, "range is text"),
    ({"variant": "long"}, "variant is text"),
    ({"variant": {"x": math.nan}}, "must be finite"),
    ({"metrics": [1]}, "metrics is a list"),
    ({"metrics": {"f1": "0.5"}}, "metrics is an object"),
    ({"metrics": {"f1": {"range": [0, 1]}}}, "an object with 'value'"),
    ({"metadata": "x"}, "metadata is text"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_a_wrong_type_stops_with_file_and_line_and_leaves_nothing(
    change: dict[str, Any], message: str, store: Store, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=rf"trials\.jsonl:2: .*{message}"):
        bring(store, {**ROW, "sample_id": "first"}, {**ROW, **change})
    assert [path.name for path in tmp_path.iterdir()] == ["trials.jsonl"]


@pytest.mark.parametrize("name", ["score", "sample_id", "suite"])
def test_a_required_column_that_is_misspelt_is_guessed(name: str, store: Store) -> None:
    row = {key: value for key, value in ROW.items() if key != name} | {name[:-2] + name[-1] + name[-2]: "x"}
    with pytest.raises(DataError, match=f"no '{name}' \\(did you mean"):
        bring(store, row)


BROKEN: list[tuple[bytes, str]] = [
    (b'{"suite": "docqa", "sample_id": "a", "sc', r":1: not JSON .*at column"),
    (b'{"suite": "docqa", "sample_id": "a", "score": 1,}', r":1: not JSON"),
    (b"not json", r":1: not JSON"),
    (b'{"a": 1} {"b": 2}', r":1: not JSON \(Extra data"),
    (b"[1]", r":1: a list, not an object; one object a line"),
    (b"7", r":1: a number, not an object"),
    (b'{"score": 1, "score": 0}', r':1: key "score" stands twice'),
    (b'{"metadata": {"a": 1, "a": 1}}', r':1: key "a" stands twice'),
    (b'{"a": "\xff"}', r":1: not UTF-8 \(byte 8"),
    (b"[" * 100_000, r":1: JSON nested more than 100 deep|:1: not JSON"),
    (b'{"score": ' + b"1" * 5_000 + b"}", r":1: JSON that cannot be read"),
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 12", r":1: a Git LFS pointer.*git lfs pull"),
    (b"\x1f\x8b\x08rest", r":1: gzip-compressed"),
    (b"PAR1rest", r":1: a Parquet file"),
    (b"\xff\xfe{\x00", r":1: UTF-16"),
    (b"", r"holds no rows"),
    (b"\n \n", r"holds no rows"),
]


@pytest.mark.parametrize(("data", "message"), BROKEN)
def test_a_file_that_is_no_json_lines_is_told_from_one_that_is(
    data: bytes, message: str, store: Store, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=message):
        bring(store, data)
    assert [path.name for path in tmp_path.iterdir()] == ["trials.jsonl"]


def test_a_last_line_cut_in_half_is_told_as_such(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "cut.jsonl"
    path.write_bytes(json.dumps(ROW).encode() + b'\n{"suite": "docq')
    with pytest.raises(DataError, match=r"cut\.jsonl:2: not JSON .*is the file cut short"):
        import_file(store, path, ("jsonl", IMPORTERS["jsonl"]), None, "base")
    path.write_bytes(json.dumps(ROW).encode())
    assert import_file(store, path, ("jsonl", IMPORTERS["jsonl"]), None, "base").runs[0].n == 1


def test_a_line_without_an_end_is_not_read_into_memory(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalctl.importers.lines.LONGEST", 100)
    with pytest.raises(DataError, match=":1: a line of more than"):
        bring(store, {**ROW, "answer": "x" * 200})


def test_a_checkpoint_that_is_known_is_taken_as_it_is(store: Store) -> None:
    known = Checkpoint("base", "w1", "folder", "/models/base")
    store.checkpoints.save(known)
    assert bring(store, ROW).checkpoint == known
    assert store.find()[0].weights_digest == "w1"
    assert store.checkpoints.all() == [known]


def test_a_name_near_a_known_one_is_told(store: Store) -> None:
    bring(store, ROW, to="candidate")
    assert any("if you meant 'candidate'" in note for note in bring(store, ROW, to="canidate").notes)


@pytest.mark.parametrize("reference", ["./nowhere", "/nowhere/at/all", "baseline:v1"])
def test_what_cannot_be_a_checkpoint_is_refused(reference: str, store: Store) -> None:
    with pytest.raises(UsageError, match="--checkpoint"):
        bring(store, ROW, to=reference)


def test_an_import_is_whole_in_the_eyes_of_check(store: Store) -> None:
    bring(store, ROW, {**ROW, "suite": "b", "score": math.nan})
    assert store.check() == []
    assert store.rebuild() == 2
    assert all(row.imported for row in store.find())


def test_hostile_text_does_no_harm(store: Store) -> None:
    odd = "\x00\x1b[31m\ud800" + "x" * 1_000
    done = bring(store, {**ROW, "answer": odd, "sample_id": odd, "score": None, odd: odd})
    assert trials(store, done)[0].answer == odd.replace("\ud800", "\ufffd")
    assert all(note.isprintable() for note in done.notes)


@pytest.mark.slow
def test_a_large_file_is_read_in_bounded_memory(tmp_path: Path) -> None:
    """150 MB of rows; the process that imports them stays under 400 MB more than it began with."""
    import subprocess
    import sys

    path = tmp_path / "large.jsonl"
    with path.open("w") as file:
        for i in range(30_000):
            row = {"suite": "s", "sample_id": f"sample{i}", "score": i % 2, "metrics": {"f1": 0.5}}
            file.write(json.dumps({**row, "answer": f"{i} " * 800}) + "\n")
    script = """
import resource, sys
from pathlib import Path
from evalctl.importers import IMPORTERS, import_file
from evalctl.store import Store
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
done = import_file(Store.open(Path(sys.argv[1])), Path(sys.argv[2]), ("jsonl", IMPORTERS["jsonl"]), None, "base")
print(done.runs[0].n, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    told = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "home"), str(path)], check=True, capture_output=True, text=True
    )
    rows, grown = map(int, told.stdout.split())
    assert rows == 30_000
    assert path.stat().st_size > 130 * 2**20
    assert grown < 400, f"grew by {grown} MB"
