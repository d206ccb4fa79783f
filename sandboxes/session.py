"""One open bubblewrap sandbox: its commands, its files, and the end of both."""

import errno
import os
import shutil
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from evalctl.errors import SandboxError, UsageError
from evalctl.types import ExecResult, Limits

from . import cgroup, state
from .files import Tree
from .limits import SLACK, bounds
from .process import JOIN, Execution, Launch, Outcome
from .uids import lend, uids

WORK = "/work"
VERIFIER = "/verifier"
_UID = "1000"
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": WORK, "TMPDIR": "/tmp", "LANG": "C.UTF-8"}  # noqa: S108
_APART = {"HOME": "/nonexistent", "PYTHONNOUSERSITE": "1", "PYTHONDONTWRITEBYTECODE": "1"}
"""With read-only files comes a verifier: it must not load what an agent left in its home."""
_ETC_FILES = {
    "passwd": f"root:x:0:0::/:/usr/sbin/nologin\nsandbox:x:{_UID}:{_UID}::{WORK}:/bin/sh\n",
    "group": f"root:x:0:\nsandbox:x:{_UID}:\n",
    "hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


@dataclass(frozen=True)
class Means:
    """What was found to work here."""

    program: state.Program
    version: str
    own_uid: bool
    """A uid of its own for each sandbox; else our own uid."""
    controllers: cgroup.Controllers


@contextmanager
def made(means: Means, limits: Limits) -> "Iterator[BwrapSandbox]":
    """A sandbox, and all that it holds given back in the end, whatever happened."""
    with ExitStack() as stack:
        try:
            uid = stack.enter_context(lend(uids())) if means.own_uid else None
            group = None
            if means.controllers.parents:
                group = cgroup.Cgroup(means.controllers, limits.memory_bytes, limits.pids + SLACK)
                stack.callback(group.close)
            world = state.make(means.program, limits, uid)
            stack.callback(world.close)
            sandbox = BwrapSandbox(means, limits, world, group)
        except OSError as error:
            raise SandboxError(f"bwrap: a sandbox could not be made: {error}") from error
        stack.callback(sandbox.end)
        yield sandbox


class BwrapSandbox:
    """One open sandbox. Its commands share /work, /tmp, /dev/shm and an empty network; each has its own processes."""

    def __init__(self, means: Means, limits: Limits, world: state.State, group: cgroup.Cgroup | None) -> None:
        self._means, self._limits, self._world, self._group = means, limits, world, group
        self._work = Tree(world.work, WORK, world.uid)
        self._root = Tree(world.root, state.ROOT)
        self._verifiers = count()
        self._ended = False
        for name, text in _ETC_FILES.items():
            self._root.write(f"etc/{name}", text.encode())

    def end(self) -> None:
        """From here on every use is an error; what it holds is given back by who made it."""
        self._ended = True

    def _alive(self) -> None:
        if self._ended:
            raise SandboxError("bwrap: this sandbox has ended; open a new one")

    def chain(self) -> list[str]:
        """What is started on the host: into the groups, into the namespace, and bwrap."""
        join = [*JOIN, *self._group.entrances, "--"] if self._group else []
        return [*join, *self._world.enter()]

    def options(self, env: Mapping[str, str], verifier: str | None) -> list[str]:
        """bwrap's options for one command."""
        options = ["--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"]
        options += ["--unshare-user", "--disable-userns", "--uid", _UID, "--gid", _UID]
        options += ["--hostname", "sandbox", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
        options += [*state.system(), "--ro-bind", f"{state.ROOT}/etc", "/etc"]
        # A read-only /proc: where the sandbox is root's own uid, its sysctls would be the host's.
        options += ["--proc", "/proc", "--remount-ro", "/proc"]
        options += ["--dev", "/dev", "--bind", f"{state.ROOT}/shm", "/dev/shm", "--remount-ro", "/dev"]  # noqa: S108
        options += ["--bind", f"{state.ROOT}/tmp", "/tmp", "--bind", f"{state.ROOT}/work", WORK]  # noqa: S108
        if verifier:
            options += ["--ro-bind", f"{state.ROOT}/{verifier}", VERIFIER]
        options += ["--remount-ro", "/", "--chdir", WORK]
        for name, value in {**_ENVIRONMENT, **(_APART if verifier else {}), **env}.items():
            options += ["--setenv", name, value]
        return options

    async def exec(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        seconds: float | None = None,
        readonly: Mapping[str, bytes] | None = None,
    ) -> ExecResult:
        """Run `argv` in the work folder; the whole tree is dead when this returns, raises or is cancelled.

        The environment is PATH, HOME, TMPDIR and LANG, and `env` over them. `seconds` replaces the limits' wall
        time. `readonly` files (relative path to bytes, all executable) stand under /verifier; then HOME is no
        folder, so that a verifier loads nothing an agent left there. Raises SandboxError, UsageError.
        """
        self._alive()
        refused = _refused(argv)
        if refused:
            return refused
        for name, value in (env or {}).items():
            if not name or "=" in name or "\0" in name + value:
                raise UsageError(
                    f"environment variable {name!r}: a name is not empty and holds no =, and neither a zero byte"
                )
        with self._verifier(readonly) as verifier:
            launch = Launch(
                chain=self.chain(),
                options=self.options(env or {}, verifier),
                command=argv,
                bounds=bounds(self._limits, memory="memory" not in self._means.controllers.parents),
                owner=self._world.uid,
                output_bytes=self._limits.output_bytes,
            )
            kills = self._group.oom_kills() if self._group else 0
            try:
                outcome = await Execution(launch, stdin, seconds or self._limits.seconds).run()
            except SandboxError as error:
                raise SandboxError(f"bwrap: the sandbox failed: {error}") from error
            except OSError as error:
                if error.errno == errno.E2BIG:
                    return ExecResult(126, stderr=b"sandbox: the command is too long\n")
                raise SandboxError(f"bwrap: a command could not be started: {error}") from error
            return _result(outcome, oom=self._group is not None and self._group.oom_kills() > kills)

    @contextmanager
    def _verifier(self, readonly: Mapping[str, bytes] | None) -> Iterator[str | None]:
        """The folder that is shown as /verifier for one command: where no sandbox can write, gone afterwards."""
        if readonly is None:
            yield None
            return
        name = f"verifier-{next(self._verifiers)}"
        os.mkdir(name, 0o755, dir_fd=self._world.root)
        try:
            for path, data in readonly.items():
                if Path(path).is_absolute() or ".." in Path(path).parts:
                    raise UsageError(f"read-only file {path!r}: a path below {VERIFIER} is relative and has no ..")
                self._root.write(f"{name}/{path}", data, mode=0o755)
            yield name
        finally:
            shutil.rmtree(name, ignore_errors=True, dir_fd=self._world.root)

    async def read_file(self, path: str) -> bytes:
        """A file of the work folder: relative, or below /work. Larger than the work folder may be: OSError EFBIG."""
        self._alive()
        return self._work.read(path, self._limits.work_bytes)

    async def write_file(self, path: str, data: bytes) -> None:
        """Write a file in the work folder, making parents. SandboxError when the folder is full."""
        self._alive()
        try:
            self._work.write(path, data)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            raise SandboxError(
                f"bwrap: {path}: the work folder is full ({self._limits.work_bytes} bytes); raise work_bytes"
            ) from error


def _refused(argv: Sequence[str]) -> ExecResult | None:
    """What no shell could start either is the command's own failure, with a shell's exit status for it."""
    if not argv:
        raise UsageError("no command: argv is empty")
    if any("\0" in part for part in argv):
        return ExecResult(126, stderr=b"sandbox: a command holds no zero byte\n")
    if not argv[0] or argv[0].startswith("-"):
        return ExecResult(127, stderr=b"sandbox: " + os.fsencode(argv[0]) + b": not found\n")
    return None


def _result(outcome: Outcome, oom: bool) -> ExecResult:
    if not outcome.ready and not oom:
        said = outcome.stderr.decode(errors="replace").strip()
        raise SandboxError(f"bwrap: the sandbox did not start: {said or f'exit {outcome.exit}'}")
    # RLIMIT_CPU speaks by signal; the time limit it is.
    timed_out = outcome.timed_out or outcome.exit == 128 + signal.SIGXCPU
    return ExecResult(
        exit=124 if timed_out else 137 if oom else outcome.exit,
        stdout=outcome.stdout,
        stderr=outcome.stderr,
        timed_out=timed_out,
        oom=oom,
        truncated=outcome.truncated,
        seconds=outcome.seconds,
    )
