"""The program that runs hidden tests inside a sandbox: shown there as `/verifier/run.py`, never imported here.

It speaks the protocol in `scorers/unit_tests.py`. It runs on whatever Python 3.9+ the sandbox has, with the
standard library alone. The agent's files are hostile, so:

- the key and the tests come on standard input and live in this process only, which is made unreadable to
  every other process (`PR_SET_DUMPABLE` 0): code under test finds neither the tests nor the key;
- the agent's code never runs in this process: `run` and `call` start a child in its own session, with its own
  pipes, an empty environment, a time limit and an output cap;
- `read` follows no symbolic link and opens no pipe or device.

What it does not prevent: a child may kill this process. No result is then a verifier error, never a pass.
"""

import contextlib
import ctypes
import hashlib
import hmac
import json
import os
import selectors
import signal
import stat
import subprocess
import sys
import time
import types
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

OUTPUT_CAP = 1 << 20
"""Bytes kept of a child's standard output, and of its standard error; a child that says more is killed."""
PYTHON = "/usr/bin/python3"
WORK = os.getcwd()  # noqa: PTH109 - a plain string, for os.open

_state: dict[str, Any] = {"data": {}, "deadline": 0.0}


class Skipped(Exception):
    """This test cannot be run here. Never skip on anything the agent can change."""


class Finished(NamedTuple):
    """How a child ended: its exit status (negative: the signal), and what it wrote."""

    exit: int
    stdout: str
    stderr: str


def skip(reason: str) -> None:
    """End this test as skipped."""
    raise Skipped(reason)


def data(name: str) -> str:
    """The text of a file of `tests`, which code under test cannot see."""
    text: str = _state["data"][name]
    return text


def _open(path: str) -> int:
    """Open a file of the work folder part by part, so that no part is a symbolic link."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or ".." in parts or not parts:
        raise AssertionError("not a path inside the work folder: " + path)
    folder = os.open(WORK, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts[:-1]:
            deeper = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = deeper
        return os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    finally:
        os.close(folder)


def read_bytes(path: str, limit: int = OUTPUT_CAP) -> bytes:
    """The bytes of a plain file the agent left, at most `limit` of them; else AssertionError."""
    try:
        handle = _open(path)
    except OSError as error:
        raise AssertionError(path + ": " + str(error.strerror)) from None
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise AssertionError(path + ": not a plain file")
        content = file.read(limit + 1)
    if len(content) > limit:
        raise AssertionError(path + ": larger than " + str(limit) + " bytes")
    return content


def read(path: str, limit: int = OUTPUT_CAP) -> str:
    """The text of a plain file the agent left; UTF-8, else AssertionError."""
    try:
        return read_bytes(path, limit).decode("utf-8")
    except UnicodeDecodeError:
        raise AssertionError(path + ": not UTF-8") from None


def exists(path: str) -> bool:
    """Whether a plain file stands there, reached without a symbolic link."""
    try:
        read_bytes(path, limit=1 << 30)
    except AssertionError:
        return False
    return True


def _pump(child: "subprocess.Popen[bytes]", fed: bytes, pipes: "dict[int, bytearray]", deadline: float) -> str:
    """Feed and drain a child until it ends; says why it was stopped, or `` when it ended by itself."""
    with selectors.DefaultSelector() as ready:
        for handle in pipes:
            os.set_blocking(handle, False)
            ready.register(handle, selectors.EVENT_READ)
        feed = child.stdin.fileno() if child.stdin else -1
        os.set_blocking(feed, False)
        ready.register(feed, selectors.EVENT_WRITE)
        while time.monotonic() < deadline:
            ended = child.poll() is not None
            events = ready.select(0 if ended else 0.02)
            for key, _ in events:
                if key.fd == feed:
                    try:
                        fed = fed[os.write(feed, fed[:65536]) :] if fed else fed
                    except BrokenPipeError:
                        fed = b""
                    if not fed:
                        ready.unregister(feed)
                        child.stdin.close()  # type: ignore[union-attr]
                        feed = -1
                    continue
                piece = os.read(key.fd, 65536)
                if not piece:
                    ready.unregister(key.fd)
                pipes[key.fd] += piece
                if len(pipes[key.fd]) > OUTPUT_CAP:
                    return "wrote more than " + str(OUTPUT_CAP) + " bytes"
            if ended and not [1 for key, _ in events if key.fd != feed]:
                # A grandchild may hold the pipes open for ever: what the child itself wrote has been read.
                return ""
    return "took too long"


def _child(argv: "Sequence[str]", stdin: str, seconds: float, result: bool) -> "tuple[Finished, bytes]":
    """Run agent code in a process of its own; with `result`, also what it wrote to descriptor 3 of the caller."""
    deadline = min(time.monotonic() + seconds, _state["deadline"])
    reader, writer = os.pipe()
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": WORK}
    env["EVALCTL_RESULT"] = str(writer) if result else ""
    try:
        child = subprocess.Popen(
            list(argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=WORK,
            env=env,
            start_new_session=True,
            pass_fds=[writer] if result else [],
        )
    except OSError as error:
        os.close(reader)
        raise AssertionError("cannot run " + str(argv[0]) + ": " + str(error.strerror)) from None
    finally:
        os.close(writer)
    assert child.stdout is not None
    assert child.stderr is not None
    pipes = {child.stdout.fileno(): bytearray(), child.stderr.fileno(): bytearray(), reader: bytearray()}
    try:
        stopped = _pump(child, stdin.encode(), pipes, deadline)
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    out, err, value = (bytes(content) for content in pipes.values())
    for stream in (child.stdin, child.stdout, child.stderr):
        if stream:
            with contextlib.suppress(BrokenPipeError):
                stream.close()
    os.close(reader)
    if stopped:
        raise AssertionError(" ".join(str(word) for word in argv[:3])[:80] + ": " + stopped)
    return Finished(child.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")), value


def run(argv: "Sequence[str]", stdin: str = "", seconds: float = 5.0) -> Finished:
    """Run a command of the agent's in the work folder; AssertionError when it hangs or floods."""
    return _child(argv, stdin, seconds, result=False)[0]


_CALLER = """
import importlib.util, json, os, sys
path, name, arguments = sys.argv[1], sys.argv[2], json.load(sys.stdin)
sys.path.insert(0, os.getcwd())
spec = importlib.util.spec_from_file_location("under_test", path)
module = importlib.util.module_from_spec(spec)
sys.modules["under_test"] = module
spec.loader.exec_module(module)
value = getattr(module, name)(*arguments)
with os.fdopen(int(os.environ["EVALCTL_RESULT"]), "w") as out:
    json.dump(value, out, allow_nan=False)
"""


def call(path: str, function: str, *arguments: Any, seconds: float = 5.0) -> Any:
    """The value of the agent's `function(*arguments)`, computed in a child; both ways through JSON.

    A value of the agent's own class cannot come back, so none can lie about equality. AssertionError when the
    file is absent, the call raises, hangs, or returns what JSON cannot say.
    """
    read_bytes(path)
    argv = [PYTHON, "-I", "-B", "-c", _CALLER, path, function]
    done, value = _child(argv, json.dumps(list(arguments)), seconds, result=True)
    if done.exit != 0 or not value:
        last = done.stderr.strip().splitlines()[-1:] or ["exit " + str(done.exit)]
        raise AssertionError(function + " in " + path + ": " + last[0][:300])
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise AssertionError(function + " in " + path + ": no JSON value") from None


def _hide() -> None:
    """Make this process unreadable to its children (prctl(2), PR_SET_DUMPABLE); OSError where that fails."""
    if ctypes.CDLL(None, use_errno=True).prctl(4, 0, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_DUMPABLE) failed")


def _collect(tests: "dict[str, str]") -> "dict[str, Callable[[], object]]":
    """Name of test to its function, in file order; what a test file does wrong raises."""
    found: dict[str, Callable[[], object]] = {}
    for name in sorted(tests):
        if not (name.rpartition("/")[2].startswith("test_") and name.endswith(".py")):
            continue
        module = types.ModuleType(name[:-3].replace("/", "."))
        # The suite author's own tests, inside the sandbox: never what a model or an agent wrote.
        exec(compile(tests[name], name, "exec"), module.__dict__)  # noqa: S102
        for attribute, value in vars(module).items():
            if attribute.startswith("test_") and callable(value):
                found[name + "::" + attribute] = value
    return found


def _outcome(test: "Callable[[], object]") -> "tuple[str, str]":
    """passed, failed or skipped, with the reason. Any exception fails the test: it saw what the agent left."""
    try:
        test()
    except Skipped as reason:
        return "skipped", str(reason)[:500]
    except AssertionError as error:
        return "failed", str(error)[:500]
    except (Exception, SystemExit) as error:
        return "failed", (type(error).__name__ + ": " + str(error))[:500]
    return "passed", ""


def main() -> None:
    """Read the work order, run every test, report each on a signed line."""
    order = json.load(sys.stdin)
    key = bytes.fromhex(order["key"])

    def say(**line: Any) -> None:
        text = json.dumps(line, sort_keys=True)
        mac = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
        # The leading line break ends whatever anyone else wrote to this pipe; one write, so lines never mix.
        os.write(1, ("\n" + mac + " " + text + "\n").encode())

    try:
        _hide()
        _state["data"] = order["tests"]
        _state["deadline"] = time.monotonic() + order["seconds"]
        sys.modules["verifier"] = sys.modules["__main__"]
        tests = _collect(order["tests"])
    except Exception as error:
        say(fault=(type(error).__name__ + ": " + str(error))[:500])
        return
    say(plan=list(tests))
    for name, test in tests.items():
        outcome, message = _outcome(test)
        say(test=name, outcome=outcome, message=message)
    say(done=len(tests))


if __name__ == "__main__":
    main()
