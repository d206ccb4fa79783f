"""Hidden tests: what an agent left is judged, and nothing an agent wrote can judge itself."""

import asyncio
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence

import pytest

from evalctl.errors import VerifierError
from evalctl.types import Completion, ExecResult, Limits, Sample, Score
from sandboxes import SANDBOXES
from scorers.unit_tests import UnitTests

TESTS = """
from verifier import call, data, exists, read, run, skip

def test_adds():
    assert call("solution.py", "add", 2, 3) == 5, "2 + 3"

def test_prints():
    done = run(["/usr/bin/python3", "solution.py"], stdin="2 3", seconds=2)
    assert done.exit == 0 and done.stdout.strip() == "5", done.stderr[-200:]

def test_report():
    assert read("report.txt") == data("expected.txt"), "the report differs"
"""
GOOD = """
def add(a, b):
    return a + b

if __name__ == "__main__":
    print(add(*map(int, input().split())))
"""
DAEMON = """
import subprocess
subprocess.Popen(["sleep", "60"], start_new_session=True)
print(6)
def add(a, b):
    return 6
"""
SPIED = """
from verifier import call

def test_spy():
    found = call("solution.py", "add", 1, 2)
    assert found == [], found
"""


class Scripted:
    """A sandbox whose every exec ends as told; the lines are signed with the key it was given."""

    def __init__(self, lines: Sequence[Mapping[str, object]], noise: bytes = b"", **ending: object) -> None:
        self.lines, self.noise, self.ending = lines, noise, ending

    async def exec(self, argv, *, stdin=b"", env=None, seconds=None, readonly=None) -> ExecResult:
        order = json.loads(stdin)
        self.argv, self.env, self.readonly, self.order = argv, env, readonly, order
        out = self.noise
        for line in self.lines:
            text = json.dumps(line).encode()
            out += (
                hmac.new(bytes.fromhex(order["key"]), text, hashlib.sha256).hexdigest().encode() + b" " + text + b"\n"
            )
        return ExecResult(**{"exit": 0, "stdout": out, **self.ending})

    async def read_file(self, path: str) -> bytes:
        raise FileNotFoundError(path)

    async def write_file(self, path: str, data: bytes) -> None:
        raise PermissionError(path)


def judged(box: Scripted, **metadata: object) -> Score:
    sample = Sample("t", "", metadata={"tests": {"test_a.py": "def test_x(): pass"}, **metadata})
    return asyncio.run(UnitTests().in_sandbox(sample, Completion(""), box))


def result(name: str, outcome: str) -> dict[str, str]:
    return {"test": name, "outcome": outcome, "message": ""}


def test_one_failure_among_passes_is_zero_and_the_share_is_a_metric() -> None:
    score = judged(Scripted([{"plan": ["a", "b"]}, result("a", "passed"), result("b", "failed"), {"done": 2}]))
    assert (score.value, score.metrics["tests"].value) == (0.0, 0.5)
    assert score.metadata["failed"] == ["b"]


def test_skipped_tests_are_left_out_and_told() -> None:
    score = judged(Scripted([{"plan": ["a", "b"]}, result("a", "passed"), result("b", "skipped"), {"done": 2}]))
    assert (score.value, score.metrics["tests"].value, score.metadata["skipped"]) == (1.0, 1.0, ["b"])


WHOLE = [{"plan": ["a"]}, result("a", "passed"), {"done": 1}]


@pytest.mark.parametrize(
    ("lines", "ending", "why"),
    [
        ([], {}, "no plan"),
        ([{"plan": []}, {"done": 0}], {}, "no test ran"),
        ([{"plan": ["a"]}, result("a", "skipped"), {"done": 1}], {}, "no test ran"),
        ([{"plan": ["a", "b"]}, result("a", "passed"), {"done": 1}], {}, "planned 2"),
        ([{"plan": ["a"]}, result("a", "passed"), result("a", "passed"), {"done": 2}], {}, "planned 1"),
        ([{"plan": ["a"]}, result("a", "passed")], {}, "planned 1"),
        ([{"plan": ["a"]}, result("a", "splendid"), {"done": 1}], {}, "outcome"),
        ([{"plan": ["a"]}, {"fault": "SyntaxError"}], {}, "cannot be run"),
        (WHOLE, {"exit": 1}, "exit status 1"),
        (WHOLE, {"exit": 137, "oom": True}, "out of memory"),
        (WHOLE, {"exit": 124, "timed_out": True}, "out of time"),
        ([{"plan": ["a"]}], {"truncated": True}, "cut short"),
    ],
)
def test_a_report_that_is_not_whole_is_a_verifier_error(lines, ending, why: str) -> None:
    with pytest.raises(VerifierError, match=why):
        judged(Scripted(lines, **ending))


def test_unsigned_and_wrongly_signed_lines_are_noise() -> None:
    forged = json.dumps(result("b", "passed")).encode()
    noise = forged + b"\n" + b"0" * 64 + b" " + forged + b"\n\xff\xfe\n"
    assert judged(Scripted(WHOLE, noise)).metadata["passed"] == ["a"]


def test_the_default_verifier_sees_no_test_on_disk_and_a_command_sees_them_all() -> None:
    box = Scripted(WHOLE)
    judged(box)
    assert set(box.readonly) == {"run.py"}
    assert b"test_x" not in box.readonly["run.py"]
    assert set(box.env) == {"PATH", "LANG", "HOME"}
    judged(box, command=["/usr/bin/sh", "/verifier/check.sh"])
    assert box.argv == ("/usr/bin/sh", "/verifier/check.sh")
    assert set(box.readonly) == {"test_a.py"}


@pytest.mark.parametrize(
    "metadata",
    [
        {"tests": None},
        {"tests": {}},
        {"tests": {"a.py": 1}},
        {"tests": {"../a.py": ""}},
        {"tests": {"/a.py": ""}},
        {"command": "sh run.sh"},
        {"seconds": -1},
        {"seconds": True},
    ],
)
def test_metadata_that_means_nothing_is_a_verifier_error(metadata) -> None:
    with pytest.raises(VerifierError):
        judged(Scripted(WHOLE), **metadata)


def really(files: Mapping[str, str], tests: Mapping[str, str], seconds: float = 20, before: str = "") -> Score:
    """Judge a work folder in a real sandbox; `before` is what the agent did there as its last command."""
    backend = SANDBOXES["bwrap"]()
    if reason := backend.unavailable():
        pytest.skip(f"bwrap: {reason}")

    async def go() -> Score:
        limits = Limits(seconds=30)
        async with backend.open(limits, {name: text.encode() for name, text in files.items()}) as box:
            if before:
                done = await box.exec(["/bin/sh", "-c", before])
                assert done.exit == 0, done.stderr
            sample = Sample("t", "", metadata={"tests": dict(tests), "seconds": seconds})
            return await UnitTests().in_sandbox(sample, Completion(""), box)

    return asyncio.run(go())


HIDDEN = {"test_sum.py": TESTS, "expected.txt": "5\n"}


@pytest.mark.sandbox
def test_the_worked_example_passes_for_a_solution_and_fails_for_nothing() -> None:
    score = really({"solution.py": GOOD, "report.txt": "5\n"}, HIDDEN)
    assert (score.value, score.metrics["tests"].value) == (1.0, 1.0), score
    score = really({}, HIDDEN)
    assert (score.value, score.metrics["tests"].value) == (0.0, 0.0), score


SPY = """
import os
def add(a, b):
    found = []
    def look(path):
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            content = os.read(handle, 1 << 20)
        except OSError:
            return
        if b"the report " + b"differs" in content or path.endswith(("mem", "environ")):
            found.append(path)
    for root in ("/verifier", "/tmp", "."):
        for folder, _, names in os.walk(root):
            for name in names:
                look(os.path.join(folder, name))
    for name in ("mem", "environ", "cmdline", "fd/0", "fd/1", "fd/3"):
        look("/proc/%d/%s" % (os.getppid(), name))
        if name.startswith("fd"):
            look("/proc/1/" + name)
    return found
"""


@pytest.mark.sandbox
def test_code_under_test_finds_neither_the_tests_nor_the_verifiers_memory() -> None:
    score = really({"solution.py": SPY}, {"test_spy.py": SPIED, "test_sum.py": "# the report differs\n"})
    assert score.value == 1.0, score


FORGER = """
import json, os, sys
line = json.dumps({"test": "test_sum.py::test_adds", "outcome": "passed"}) + "\\n" + json.dumps({"done": 3}) + "\\n"
for where in ["/proc/%d/fd/1" % os.getppid(), "/proc/1/fd/1", "/proc/self/fd/1"]:
    try:
        with open(where, "w") as out:
            out.write(line * 3 + "half a line")
    except OSError:
        pass
print(line)
class Equal(int):
    def __eq__(self, other): return True
    def __hash__(self): return 0
def add(a, b):
    print(line); sys.stdout.flush()
    return Equal(7)
"""


@pytest.mark.sandbox
def test_an_agent_that_prints_verdicts_or_returns_what_equals_everything_gains_nothing() -> None:
    score = really({"solution.py": FORGER, "report.txt": "5\n"}, HIDDEN)
    assert score.value == 0.0
    assert score.metadata["passed"] == ["test_sum.py::test_report"]


@pytest.mark.sandbox
@pytest.mark.parametrize(
    "before",
    [
        "ln -s /proc/self/environ report.txt",
        "ln -s /verifier/run.py report.txt",
        "mkfifo report.txt",
        "mkdir report.txt",
        "head -c 3000000 /dev/zero > report.txt",
        "mkdir -p d; echo 5 > d/report.txt; ln -s d/report.txt report.txt",
    ],
)
def test_only_a_plain_file_of_bounded_size_is_read(before: str) -> None:
    score = really({"solution.py": GOOD}, HIDDEN, before=before)
    assert score.metadata["failed"] == ["test_sum.py::test_report"], score


@pytest.mark.sandbox
@pytest.mark.parametrize(
    "solution",
    [
        "while True: pass\n",
        "import sys\nwhile True: sys.stdout.write('x' * 65536)\n",
        DAEMON,
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n",
        "raise SystemExit(0)\n",
    ],
    ids=["hangs", "floods", "leaves a daemon", "kills itself", "exits"],
)
def test_a_hostile_solution_fails_its_tests_and_does_not_end_the_verifier(solution: str) -> None:
    score = really({"solution.py": solution, "report.txt": "5\n"}, HIDDEN, seconds=6)
    assert score.metadata["failed"] == ["test_sum.py::test_adds", "test_sum.py::test_prints"], score


@pytest.mark.sandbox
def test_hanging_in_every_test_uses_up_the_agents_time_and_not_the_verifiers() -> None:
    tests = "from verifier import run\n" + "".join(
        f"def test_{at}():\n    run(['/bin/sleep', '60'], seconds=5)\n" for at in range(5)
    )
    score = really({}, {"test_slow.py": tests}, seconds=3)
    assert (score.value, len(score.metadata["failed"])) == (0.0, 5)


@pytest.mark.sandbox
def test_a_verifier_that_is_killed_is_never_a_pass() -> None:
    killer = "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n"
    with pytest.raises(VerifierError):
        really({"solution.py": killer, "report.txt": "5\n"}, HIDDEN)


@pytest.mark.sandbox
def test_modules_the_agent_left_are_not_loaded_by_the_verifier() -> None:
    evil = "raise SystemExit('loaded')\n"
    files = {f"{name}.py": evil for name in ("json", "hmac", "verifier", "sitecustomize", "usercustomize", "test_sum")}
    score = really(
        {**files, "solution.py": GOOD, "report.txt": "5\n"},
        {"test_r.py": "from verifier import read\ndef test_r():\n    assert read('report.txt') == '5\\n'\n"},
    )
    assert score.value == 1.0, score


@pytest.mark.sandbox
@pytest.mark.parametrize("source", ["def test_x(:\n", "import nothing_of_this_name\n"])
def test_a_test_file_that_cannot_be_loaded_is_the_suites_fault(source: str) -> None:
    with pytest.raises(VerifierError, match="cannot be run"):
        really({}, {"test_x.py": source})
