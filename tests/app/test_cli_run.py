"""`evalctl run` through the command line: kills, Ctrl-C, bad input, a served model on loopback."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pandas as pd
import pytest

from evalctl.store import Store

pytestmark = pytest.mark.slow
EVALCTL = [sys.executable, "-c", "import sys; from app.cli import main; sys.exit(main())"]
UNTOLD = ["seconds", "transcript"]
"""Columns in which two runs of one key may differ: time, and the log a trial was written to."""


def environment(home: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "EVALCTL_HOME": str(home), "HF_HUB_OFFLINE": "1", **more}


def evalctl(home: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [*EVALCTL, *words]
    return subprocess.run(
        command, env=environment(home, **more), capture_output=True, text=True, timeout=300, check=False
    )


def only_run(home: Path) -> pd.DataFrame:
    store = Store.open(home)
    [row] = store.find()
    assert row.complete
    return store.load(row.key).trials


def killed_after(home: Path, lines: int, how: signal.Signals, *words: str) -> int:
    """Run, send `how` once `lines` trials are recorded, and return the exit status."""
    process = subprocess.Popen(
        [*EVALCTL, *words], env=environment(home), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        while process.poll() is None:
            written = [path.read_bytes().count(b"\n") for path in home.glob("runs/.*.partial/trials.jsonl")]
            if written and written[0] >= lines:
                process.send_signal(how)
                break
            time.sleep(0.005)
        process.communicate(timeout=120)
    finally:
        process.kill()
    return process.returncode


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch", reason="torch is not installed: pip install 'evalctl[local]'")
    from training.tiny import random_tiny

    return random_tiny(tmp_path_factory.mktemp("models") / "tiny")


@pytest.mark.kill
@pytest.mark.model
def test_killing_a_sampled_run_at_three_random_moments_and_resuming_gives_the_same_trials(
    tiny: Path, tmp_path: Path
) -> None:
    words = ["run", "arithmetic", "--checkpoint", str(tiny), "--temperature", "1", "--epochs", "2", "--samples", "240"]
    whole = evalctl(tmp_path / "whole", *words)
    assert whole.returncode == 0, whole.stderr
    expected = only_run(tmp_path / "whole")
    assert expected["answer"].nunique() > 50  # really sampled
    # Not in the last batch, after which a run ends before a kill could come.
    moments = sorted(random.Random(11).sample(range(1, len(expected) - 64), 3))
    home = tmp_path / "killed"
    for lines in moments:
        assert killed_after(home, lines, signal.SIGKILL, *words, "--resume") == -signal.SIGKILL
    last = evalctl(home, *words, "--resume")
    assert last.returncode == 0, last.stderr
    found = only_run(home)
    pd.testing.assert_frame_equal(found.drop(columns=UNTOLD), expected.drop(columns=UNTOLD))
    [folder] = home.glob("runs/[!.]*")
    assert all((folder / str(name).split("#")[0]).is_file() for name in found["transcript"])


@pytest.mark.kill
def test_ctrl_c_ends_with_130_and_resume_goes_on_with_what_was_kept(tmp_path: Path) -> None:
    words = ["run", "arithmetic", "--checkpoint", "double:slow?seconds=0.3", "--samples", "240"]
    assert killed_after(tmp_path, 1, signal.SIGINT, *words) == 130
    refused = evalctl(tmp_path, *words)
    assert refused.returncode == 2
    assert re.search(r"an interrupted run of exactly this is there \(\d+ of \d+ trials", refused.stderr)
    resumed = evalctl(tmp_path, *words, "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert set(only_run(tmp_path)["score"]) == {1.0}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["run", "arithmetik", "--checkpoint", "double:empty"], "did you mean 'arithmetic'"),
        (["run", "arithmetic", "--checkpoint", "double:empti"], "did you mean 'empty'"),
        (["run", "arithmetic", "--checkpoint", "./nowhere"], "nowhere"),
        (["run", "arithmetic", "--checkpoint", "double:empty", "--roles", "sealled"], "did you mean 'sealed'"),
        (["run", "arithmetic", "--checkpoint", "double:empty", "--epoch", "2"], "--epochs"),
        (["run", "terminal", "--checkpoint", "double:empty", "--sandbox", "bwarp"], "did you mean 'bwrap'"),
        (["run", "arithmetic"], "--checkpoint"),
    ],
)
def test_a_wrong_name_is_one_line_with_a_did_you_mean_and_exit_2(tmp_path: Path, words: list[str], told: str) -> None:
    result = evalctl(tmp_path, *words)
    assert result.returncode == 2
    assert told in result.stderr
    assert "Traceback" not in result.stderr
    assert not list(tmp_path.glob("runs/*"))


@pytest.mark.model
def test_a_model_folder_without_a_chat_template_is_refused_before_anything_runs(tiny: Path, tmp_path: Path) -> None:
    import shutil

    bare = shutil.copytree(tiny, tmp_path / "bare")
    (bare / "chat_template.jinja").unlink(missing_ok=True)
    config = json.loads((bare / "tokenizer_config.json").read_text())
    config.pop("chat_template", None)
    (bare / "tokenizer_config.json").write_text(json.dumps(config))
    result = evalctl(tmp_path / "home", "run", "arithmetic", "--checkpoint", str(bare))
    assert result.returncode == 2
    assert "chat template" in result.stderr


def test_one_suite_that_cannot_run_does_not_stop_the_others(tmp_path: Path) -> None:
    words = ["run", "nosuch", "arithmetic", "--checkpoint", "double:reference", "--samples", "80"]
    result = evalctl(tmp_path, *words)
    assert result.returncode == 2
    assert "nosuch" in result.stderr
    assert set(only_run(tmp_path)["score"]) == {1.0}


class Adder(BaseHTTPRequestHandler):
    """A small server that speaks chat completions: it adds what it is asked."""

    seen: list[dict[str, object]]

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append(asked)
        numbers = [int(part) for part in re.findall(r"\d+", asked["messages"][-1]["content"])[:2]]
        message = {"role": "assistant", "content": str(sum(numbers))}
        body = json.dumps(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": asked["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        pass


@contextmanager
def serving(port: int = 0) -> Iterator[tuple[str, list[dict[str, object]]]]:
    seen: list[dict[str, object]] = []
    server = ThreadingHTTPServer(("127.0.0.1", port), type("Handler", (Adder,), {"seen": seen}))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_served_model_is_run_through_inspects_provider_of_that_name(tmp_path: Path) -> None:
    with serving() as (address, seen):
        words = ["run", "arithmetic", "--checkpoint", "openai-api/local/adder", "--samples", "80"]
        result = evalctl(tmp_path, *words, LOCAL_API_KEY="none", LOCAL_BASE_URL=address)
    assert result.returncode == 0, result.stderr
    trials = only_run(tmp_path)
    assert set(trials["score"]) == {1.0}
    assert set(trials["input_tokens"]) == {7}
    assert len({str(request["seed"]) for request in seen}) == len(seen) == len(trials)
    [row] = Store.open(tmp_path).find()
    record = Store.open(tmp_path).load(row.key).record
    assert record.checkpoint["verified"] is False
    assert record.engine is not None
    assert record.engine["name"] == "inspect:openai-api"


def test_a_dead_server_leaves_the_run_open_and_resume_goes_on_once_it_answers(tmp_path: Path) -> None:
    with serving() as (address, _):
        pass  # an address where nobody answers any more
    words = ["run", "arithmetic", "--checkpoint", "openai-api/local/adder", "--limit", "8"]
    result = evalctl(tmp_path, *words, LOCAL_API_KEY="none", LOCAL_BASE_URL=address)
    assert result.returncode == 4
    assert re.search(r"(\d+) of \1 trials ended in infrastructure errors", result.stderr)
    assert Store.open(tmp_path).find() == []
    with serving(int(re.findall(r":(\d+)/", address)[0])):
        result = evalctl(tmp_path, *words, "--resume", LOCAL_API_KEY="none", LOCAL_BASE_URL=address)
    assert result.returncode == 0, result.stderr
    [row] = Store.open(tmp_path).find()
    assert set(Store.open(tmp_path).load(row.key).trials["score"]) == {1.0}


@pytest.mark.sandbox
def test_without_bwrap_the_terminal_suite_ends_invalid_with_the_reason_and_the_rest_goes_on(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("suites: {arithmetic: {max_drop: 0.1}, terminal: {max_drop: 0.1}}")
    words = ["run", "terminal", "arithmetic", "--checkpoint"]
    for reference in ("double:reference", "double:noisy?accuracy=1"):
        result = evalctl(tmp_path, *words, reference, EVALCTL_BWRAP="/no/such/bwrap")
        assert result.returncode == 4
        assert "arithmetic on" in result.stdout
    gate = ["gate", "--policy", str(policy), "--baseline", "double:reference"]
    result = evalctl(tmp_path, *gate, "--candidate", "double:noisy?accuracy=1")
    assert result.returncode == 4
    assert re.search(r"terminal\s+critical\s+INVALID", result.stdout)
    assert re.search(r"arithmetic\s+critical\s+PASS", result.stdout)
    assert "terminal: errors:" in result.stdout
