"""Hidden tests that judge what an agent left in its sandbox.

A sample's metadata holds `tests`, a mapping of relative path to text. Nothing else is needed:

    metadata = {"tests": {
        "test_sum.py": '''
    from verifier import call, data, exists, read, run, skip

    def test_adds():
        assert call("solution.py", "add", 2, 3) == 5            # the agent's function, in a child process

    def test_prints_the_sum():
        done = run(["/usr/bin/python3", "solution.py"], stdin="2 3")
        assert done.exit == 0 and done.stdout.strip() == "5"

    def test_report_is_written():
        assert read("out/report.txt") == data("expected.txt")   # read: no symbolic link, no pipe, at most 1 MiB
    ''',
        "expected.txt": "5\n",
    }}

Every function `test_*` of every file `test_*.py` is one test. It passes when it returns, fails when it raises
(whatever it raises: it looked at what the agent left), and is skipped by `skip("reason")`. A file that cannot be
loaded is the suite's own fault: verifier_error. The rest of `tests` is data, read with `data(name)`.

    run(argv, stdin="", seconds=5.0) -> (exit, stdout, stderr)   a command in the work folder
    call(path, function, *arguments, seconds=5.0) -> value       JSON in, JSON out
    read(path) -> str, read_bytes(path) -> bytes, exists(path) -> bool
    data(name) -> str, skip(reason)

The value is 1 only if every test that ran passed; the metric `tests` is the share that passed. At least one must
have run. Skipped tests are left out and told in the metadata: never skip on anything the agent can change.

Hostile code. The tests are sent on standard input and never touch the disk, so the code under test cannot read
them; that code runs only in children of the verifier (see `scorers/harness.py`), never by `import`. Under
`/verifier`, read-only, stands the harness alone. Metadata `command` (an argv) replaces the harness by the suite's
own program: then every file of `tests` stands under `/verifier`, readable by what it runs.

The protocol, for such a program. Standard input is one JSON object: `key` (64 hex digits), `seconds` (the time
all agent code together may take) and `tests`. Standard output holds lines `MAC TEXT`, where TEXT is a JSON object
and MAC the hex HMAC-SHA256 of TEXT under the key; whatever else is printed is ignored. In order:

    {"plan": ["test_sum.py::test_adds", …]}
    {"test": "test_sum.py::test_adds", "outcome": "passed" | "failed" | "skipped", "message": "…"}   once each
    {"done": 3}                    or at any point   {"fault": "why the tests cannot be run"}

Exit status 0. A missing, repeated or unplanned line, another exit status, a time-out or output cut short is a
VerifierError: the judge could not judge. Signed lines rather than a shared word, because the code under test may
reach the verifier's pipe, and could repeat a word that it read there.
"""

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalctl.errors import VerifierError
from evalctl.types import Completion, ExecResult, Json, Metric, Sample, Sandbox, Score

HARNESS = Path(__file__).with_name("harness.py")
COMMAND = ("/usr/bin/python3", "-I", "-S", "-B", "/verifier/run.py")
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/tmp"}  # noqa: S108 - in the sandbox
AGENT_SHARE = 0.8
"""Of the verifier's time, what agent code may take: a solution that hangs fails its tests, not the verifier."""


@dataclass(frozen=True)
class UnitTests:
    """Value 1 when every hidden test passes in the sandbox after the agent has ended; metric `tests`.

    Metadata: `tests`, `command`, `seconds` (of the whole verification; default the option `seconds`).
    Raises VerifierError when no test ran or the results cannot be read; SandboxError passes through.
    """

    seconds: float = 30.0

    async def in_sandbox(self, sample: Sample, completion: Completion, sandbox: Sandbox) -> Score:
        """Run the sample's tests; the sandbox holds what the agent left."""
        tests, command, seconds = _order(sample, self.seconds)
        key = secrets.token_bytes(32)
        stdin = json.dumps({"key": key.hex(), "seconds": seconds * AGENT_SHARE, "tests": tests}).encode()
        shown = {"run.py": HARNESS.read_bytes()} if command is None else {k: v.encode() for k, v in tests.items()}
        argv = COMMAND if command is None else command
        done = await sandbox.exec(argv, stdin=stdin, env=ENVIRONMENT, seconds=seconds, readonly=shown)
        return _score(sample.id, _read(sample.id, done, key))


def _order(sample: Sample, default: float) -> tuple[dict[str, str], tuple[str, ...] | None, float]:
    """Tests, command and seconds of a sample's metadata, checked."""
    tests, command = sample.metadata.get("tests"), sample.metadata.get("command")
    seconds = sample.metadata.get("seconds", default)
    if not isinstance(tests, Mapping) or not tests or not all(isinstance(v, str) for v in tests.values()):
        raise VerifierError(f"{sample.id}: metadata `tests` must map relative paths to text, at least one")
    for name in tests:
        if name.startswith("/") or ".." in name.split("/"):
            raise VerifierError(f"{sample.id}: metadata `tests`: {name!r} is not a relative path")
    if command is not None and (isinstance(command, str) or not isinstance(command, Sequence) or not command):
        raise VerifierError(f"{sample.id}: metadata `command` must be a list of words")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= 3600:
        raise VerifierError(f"{sample.id}: metadata `seconds` must be a number in (0, 3600]")
    return dict(tests), None if command is None else tuple(str(word) for word in command), float(seconds)


def _lines(done: ExecResult, key: bytes) -> list[dict[str, Json]]:
    """The signed lines of the output, in order; everything else is noise."""
    found = []
    for line in done.stdout.split(b"\n"):
        mac, _, text = line.strip().partition(b" ")
        if len(mac) == 64 and hmac.compare_digest(mac, hmac.new(key, text, hashlib.sha256).hexdigest().encode()):
            found.append(json.loads(text))
    return found


def _read(where: str, done: ExecResult, key: bytes) -> dict[str, tuple[str, str]]:
    """Test name to (outcome, message); VerifierError unless the report is whole."""
    lines = _lines(done, key)
    tail = done.stderr[-300:].decode("utf-8", "replace").strip()
    for line in lines:
        if "fault" in line:
            raise VerifierError(f"{where}: the hidden tests cannot be run: {line['fault']}")
    if done.timed_out:
        raise VerifierError(
            f"{where}: the verifier ran out of time; raise metadata `seconds` or make the tests quicker"
        )
    if done.oom or done.exit != 0:
        how = "out of memory" if done.oom else f"exit status {done.exit}"
        raise VerifierError(f"{where}: the verifier ended with {how} {tail}".rstrip())
    plans = [line["plan"] for line in lines if "plan" in line]
    results = [line for line in lines if "test" in line]
    names = [line["test"] for line in results]
    if len(plans) != 1 or not isinstance(plans[0], list):
        raise VerifierError(f"{where}: the verifier reported no plan {tail}".rstrip())
    if sorted(names) != sorted(plans[0]) or len(set(names)) != len(names) or lines[-1] != {"done": len(names)}:
        cut = " (output was cut short)" if done.truncated else ""
        raise VerifierError(f"{where}: the verifier planned {len(plans[0])} tests and reported {len(names)}{cut}")
    return {line["test"]: (line.get("outcome", ""), str(line.get("message", ""))) for line in results}


def _score(where: str, results: Mapping[str, tuple[str, str]]) -> Score:
    """The share that passed of the tests that ran."""
    by = {kind: [name for name, (outcome, _) in results.items() if outcome == kind] for kind in _OUTCOMES}
    if sum(map(len, by.values())) != len(results):
        raise VerifierError(f"{where}: an outcome is none of {', '.join(_OUTCOMES)}")
    ran = len(by["passed"]) + len(by["failed"])
    if ran == 0:
        raise VerifierError(f"{where}: no test ran ({len(by['skipped'])} skipped); nothing was judged")
    solved = not by["failed"]
    said = "; ".join(f"{name}: {results[name][1]}" for name in by["failed"][:5])
    return Score(
        1.0 if solved else 0.0,
        explanation=said or f"{ran} of {ran} tests passed",
        metadata={**by, "failure": None if solved else "tests_failed"},
        metrics={"tests": Metric(len(by["passed"]) / ran)},
    )


_OUTCOMES = ("passed", "failed", "skipped")
