"""One command behind a gate: started, fed, read and ended from the event loop's own thread.

The chain that is started ends in a small shell, inside the sandbox, that writes one line and waits for one:

    while the gate is shut   the sandbox stands, nothing of the command has run, and we take hold of its processes
    the line never comes     evalctl died; the gate ends, and with it the sandbox: no command runs without its parent

Ending is by the first process of the sandbox's pid namespace, held by a descriptor: the kernel kills all of the
namespace with it, daemons and stopped processes included, and tells us when the last one is gone.
"""

import asyncio
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from evalctl.errors import SandboxError

GATE = ("/bin/sh", "-c", 'echo; read -r _ && exec "$@"', "sh")
"""Stands before the command; one line out says *ready*, one line in says *go*."""
JOIN = ("/bin/sh", "-c", 'until [ "$1" = -- ]; do echo 0 >"$1" || exit 125; shift; done; shift; exec "$@"', "sh")
"""Stands before the chain: enters the groups named before `--`, then becomes the rest."""

START_SECONDS = 30.0
"""A sandbox that does not stand after this long has failed (it takes milliseconds)."""
_END_SECONDS = 10.0
_READ = 1 << 16


@dataclass(frozen=True)
class Launch:
    """What is started and what bounds it."""

    chain: Sequence[str]
    """Up to and with the program that takes `--args FD --json-status-fd FD`."""
    options: Sequence[str]
    """That program's options: passed by descriptor, so that no list of processes shows the environment."""
    bounds: Sequence[str]
    """What stands before the gate, inside the sandbox, and bounds each process."""
    command: Sequence[str]
    owner: int | None
    """Uid of the command, where it differs from ours: it may then open /dev/stdout again."""
    output_bytes: int


@dataclass(frozen=True)
class Outcome:
    """How it ended. `ready` False: the command never ran, and `stderr` is the sandbox's own."""

    ready: bool
    exit: int
    stdout: bytes
    stderr: bytes
    timed_out: bool
    truncated: bool
    seconds: float


class _Output:
    """One stream, kept up to a bound; what comes after is read and thrown away, so that the writer can end."""

    def __init__(self, most: int) -> None:
        self.data = bytearray()
        self.truncated = False
        self._most = most

    def add(self, chunk: bytes) -> None:
        room = self._most - len(self.data)
        self.data += chunk[:room]
        self.truncated |= len(chunk) > room


class Execution:
    """One run of a Launch. `run` may be cancelled at any await: the tree is dead before the cancellation goes on."""

    def __init__(self, launch: Launch, stdin: bytes, seconds: float) -> None:
        self._launch = launch
        self._input = memoryview(b"\n" + stdin)
        self._seconds = seconds
        self._out, self._err = _Output(launch.output_bytes), _Output(launch.output_bytes)
        self._ready = self._timed_out = False
        self._init: int | None = None
        self._fault: str | None = None
        self._fds: set[int] = set()
        self._watched: set[int] = set()
        self._stdin = self._stdout = self._stderr = self._status = self._ended = -1
        self._process: subprocess.Popen[bytes] | None = None
        self._started = 0.0

    async def run(self) -> Outcome:
        """Start, wait for the end or the wall limit, kill what is left, and say how it ended.

        Raises SandboxError when the sandbox failed; OSError E2BIG when the command is too long to be started.
        """
        self._loop = asyncio.get_running_loop()
        self._done: asyncio.Future[None] = self._loop.create_future()
        self._timer = self._loop.call_later(START_SECONDS, self._fail, f"did not stand after {START_SECONDS:.0f} s")
        try:
            self._start()
            await self._done
        finally:
            # Nothing is awaited from here on: a cancelled scope would cancel that too, and leave the tree alive.
            self._timer.cancel()
            try:
                self._end()
            finally:
                self._close()
        if self._fault is not None or self._process is None:
            raise SandboxError(self._fault or "did not start")
        code = self._process.returncode
        return Outcome(
            ready=self._ready,
            exit=124 if self._timed_out else code if code >= 0 else 128 - code,
            stdout=bytes(self._out.data),
            stderr=bytes(self._err.data),
            timed_out=self._timed_out,
            truncated=self._out.truncated or self._err.truncated,
            seconds=time.monotonic() - self._started if self._started else 0.0,
        )

    def _start(self) -> None:
        stdin_read, self._stdin = self._pipe()
        self._stdout, stdout_write = self._pipe()
        self._stderr, stderr_write = self._pipe()
        self._status, status_write = self._pipe()
        options = self._keep(os.memfd_create("options"))
        os.write(options, b"".join(os.fsencode(text) + b"\0" for text in self._launch.options))
        os.lseek(options, 0, os.SEEK_SET)
        if self._launch.owner is not None:
            for fd in (stdin_read, stdout_write, stderr_write):
                os.fchown(fd, self._launch.owner, self._launch.owner)
        descriptors = ["--args", str(options), "--json-status-fd", str(status_write)]
        self._process = subprocess.Popen(
            [*self._launch.chain, *descriptors, "--", *self._launch.bounds, *GATE, *self._launch.command],
            stdin=stdin_read,
            stdout=stdout_write,
            stderr=stderr_write,
            env={},
            cwd="/",
            pass_fds=(options, status_write),
            start_new_session=True,
        )
        for fd in (stdin_read, stdout_write, stderr_write, status_write, options):
            self._drop(fd)
        os.set_blocking(self._stdin, False)
        self._ended = self._keep(os.pidfd_open(self._process.pid))
        self._watch(self._ended, self._finish)
        self._watch(self._stdout, self._read_stdout)
        self._watch(self._stderr, self._read_stderr)

    def _read_stdout(self) -> None:
        chunk = self._read(self._stdout)
        if not self._ready and chunk:
            chunk = chunk[1:]
            self._go()
        self._out.add(chunk)

    def _read_stderr(self) -> None:
        self._err.add(self._read(self._stderr))

    def _read(self, fd: int) -> bytes:
        try:
            chunk = os.read(fd, _READ)
        except BlockingIOError:
            return b""
        if not chunk:
            self._unwatch(fd)
        return chunk

    def _go(self) -> None:
        """The gate reports: take hold of the sandbox, then open it. The clock of the command starts here."""
        if not self._hold():
            self._fail("the sandbox did not say which process is its first")
            return
        self._ready = True
        self._started = time.monotonic()
        self._timer.cancel()
        self._timer = self._loop.call_later(self._seconds, self._expire)
        self._loop.add_writer(self._stdin, self._feed)

    def _feed(self) -> None:
        try:
            self._input = self._input[os.write(self._stdin, self._input[:_READ]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._input = self._input[:0]
        if not self._input:
            self._unfeed()

    def _unfeed(self) -> None:
        if self._stdin in self._fds:
            self._loop.remove_writer(self._stdin)
            self._drop(self._stdin)

    def _expire(self) -> None:
        self._timed_out = True
        self._finish()

    def _fail(self, why: str) -> None:
        self._fault = self._fault or why
        self._finish()

    def _finish(self) -> None:
        if not self._done.done():
            self._done.set_result(None)

    def _hold(self) -> bool:
        """Take hold of the first process of the sandbox's pid namespace; False when it is not known (any more)."""
        said = b""
        with suppress(OSError, ValueError, KeyError):
            # Written in pieces: the line is whole when its end is there.
            while b"\n" not in said and select.select([self._status], [], [], 1.0)[0]:
                piece = os.read(self._status, _READ)
                if not piece:
                    break
                said += piece
            self._init = self._keep(os.pidfd_open(int(json.loads(said.partition(b"\n")[0])["child-pid"])))
        return self._init is not None

    def _end(self) -> None:
        """Kill all of it and wait until the kernel says that it is gone; then take what the pipes still hold."""
        if self._process is None:
            return
        if not self._ready:
            # Half made and killed, it could leave a process that waits for its parent's word for ever. With the
            # gate closed it ends by itself, in milliseconds.
            self._unfeed()
            select.select([self._ended], [], [], 2.0)
        if self._init is None:
            self._hold()
        if self._init is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init, signal.SIGKILL)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        if self._init is not None:
            if not select.select([self._init], [], [], _END_SECONDS)[0]:
                self._fault = f"a process could not be killed in {_END_SECONDS:.0f} s"
                return
            with suppress(ChildProcessError):
                # Where evalctl is the first process of a container, orphans become its children.
                os.waitid(os.P_PIDFD, self._init, os.WEXITED | os.WNOHANG)
        for fd, output in ((self._stdout, self._out), (self._stderr, self._err)):
            with suppress(BlockingIOError):
                while chunk := os.read(fd, _READ):
                    output.add(chunk)

    def _pipe(self) -> tuple[int, int]:
        read, write = os.pipe2(os.O_CLOEXEC)
        self._keep(read)
        self._keep(write)
        return read, write

    def _keep(self, fd: int) -> int:
        self._fds.add(fd)
        return fd

    def _drop(self, fd: int) -> None:
        if fd in self._fds:
            self._fds.discard(fd)
            os.close(fd)

    def _watch(self, fd: int, callback: Callable[[], None]) -> None:
        os.set_blocking(fd, False)
        self._watched.add(fd)
        self._loop.add_reader(fd, callback)

    def _unwatch(self, fd: int) -> None:
        self._watched.discard(fd)
        self._loop.remove_reader(fd)

    def _close(self) -> None:
        for fd in list(self._watched):
            self._unwatch(fd)
        self._unfeed()
        for fd in list(self._fds):
            self._drop(fd)
