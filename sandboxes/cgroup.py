"""Control groups: memory and process counts of a whole tree, on v1, on v2, or not at all.

A machine may mount v1, v2, both, or give us none that we may write. `detect` looks once and says
what there is; `Cgroup` is one sandbox's own group under it. Groups stand under the group that
evalctl itself runs in, so a bound that holds for evalctl still holds for what it starts.
"""

import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

PREFIX = "evalctl-"
_numbers = count()

V1_LIMITS = {"memory": "memory.limit_in_bytes", "pids": "pids.max"}
V2_LIMITS = {"memory": "memory.max", "pids": "pids.max"}


@dataclass(frozen=True)
class Controllers:
    """Controller (`memory`, `pids`) to the folder under which a group of ours can be made."""

    version: int = 0
    """1 or 2; 0 where nothing can be written."""
    parents: Mapping[str, Path] = field(default_factory=dict)
    mounts: tuple[Path, ...] = ()
    """Where the hierarchies are mounted, for looking after groups that a crash left."""


NONE = Controllers()


def _mounts(mountinfo: str) -> Iterator[tuple[str, Path, str, set[str]]]:
    """(file system type, mount point, root within the file system, options) of every cgroup mount."""
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        fields, kind = left.split(), right.split()
        if len(fields) >= 5 and len(kind) >= 3 and kind[0] in ("cgroup", "cgroup2"):
            yield kind[0], Path(fields[4]), fields[3], set(kind[2].split(","))


def _own(cgroup: str) -> dict[str, str]:
    """Controller to our own path in its hierarchy; the v2 path stands under the empty name."""
    own: dict[str, str] = {}
    for line in cgroup.splitlines():
        _, names, path = line.split(":", 2)
        own.update(dict.fromkeys(names.split(","), path))
    return own


def _inside(mount: Path, root: str, path: str) -> Path:
    # In a container the mount may show only a part of the hierarchy: paths count from that part.
    relative = os.path.relpath(path, root)
    place = mount / relative
    return mount if relative.startswith("..") or not place.is_dir() else place


def _writable(folder: Path) -> bool:
    probe = folder / f"{PREFIX}probe-{os.getpid()}-{next(_numbers)}"
    try:
        probe.mkdir()
        probe.rmdir()
    except OSError:
        return False
    return True


def _enabled(folder: Path) -> set[str]:
    """The v2 controllers that children of `folder` have, enabling ours where the kernel lets us."""
    control = folder / "cgroup.subtree_control"
    with suppress(OSError):
        for name in ("memory", "pids"):
            if name not in control.read_text().split():
                control.write_text(f"+{name}")
    with suppress(OSError):
        return set(control.read_text().split()) & {"memory", "pids"}
    return set()


def detect(mountinfo: str | None = None, own: str | None = None) -> Controllers:
    """What can be written here, from the texts of /proc/self/mountinfo and /proc/self/cgroup.

    v1 hierarchies are taken where they carry the controller; else v2, in our own group or in the one above
    (a v2 group that holds processes cannot share out controllers).
    """
    try:
        mountinfo = Path("/proc/self/mountinfo").read_text() if mountinfo is None else mountinfo
        mine = _own(Path("/proc/self/cgroup").read_text() if own is None else own)
    except (OSError, ValueError):
        return NONE
    found = list(_mounts(mountinfo))
    parents: dict[str, Path] = {
        name: place
        for name in ("memory", "pids")
        for kind, mount, root, options in found
        if kind == "cgroup" and name in options
        for place in [_inside(mount, root, mine.get(name, "/"))]
        if _writable(place)
    }
    if parents:
        return Controllers(
            1, parents, tuple(m for kind, m, _, o in found if kind == "cgroup" and o & {"memory", "pids"})
        )
    for kind, mount, root, _ in found:
        if kind != "cgroup2":
            continue
        here = _inside(mount, root, mine.get("", "/"))
        for place in [here, here.parent] if here != mount else [here]:
            names = _enabled(place)
            if names and _writable(place):
                return Controllers(2, dict.fromkeys(sorted(names), place), (mount,))
    return NONE


def _start_time(pid: int) -> str:
    """Clock ticks since boot at which `pid` started: with the pid, an identity that is not used twice."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def _pid_namespace() -> str:
    return str(Path("/proc/self/ns/pid").stat().st_ino)


class Cgroup:
    """One sandbox's group. `close` kills what is left in it and removes it; it never raises."""

    def __init__(self, controllers: Controllers, memory_bytes: int, pids: int) -> None:
        """Make the group and set its bounds; OSError where the kernel refuses (nothing is left behind)."""
        self._version = controllers.version
        name = f"{PREFIX}{_pid_namespace()}-{os.getpid()}-{_start_time(os.getpid())}-{next(_numbers)}"
        self._folders = {key: parent / name for key, parent in controllers.parents.items()}
        try:
            for folder in dict.fromkeys(self._folders.values()):
                folder.mkdir()
            self._bound("memory", memory_bytes)
            self._bound("pids", pids)
        except OSError:
            self.close()
            raise

    def _bound(self, name: str, value: int) -> None:
        if name not in self._folders:
            return
        folder = self._folders[name]
        (folder / (V1_LIMITS if self._version == 1 else V2_LIMITS)[name]).write_text(str(value))
        if name == "memory":
            # Without these the tree would go on in swap; a kernel without swap accounting has no such file.
            file, bound = ("memory.memsw.limit_in_bytes", value) if self._version == 1 else ("memory.swap.max", 0)
            if (folder / file).exists():
                (folder / file).write_text(str(bound))

    @property
    def entrances(self) -> list[str]:
        """The files into which a process writes 0 to come in, one a hierarchy."""
        return [str(folder / "cgroup.procs") for folder in dict.fromkeys(self._folders.values())]

    def oom_kills(self) -> int:
        """How many processes the kernel has killed here for want of memory."""
        if "memory" not in self._folders:
            return 0
        file = "memory.oom_control" if self._version == 1 else "memory.events"
        with suppress(OSError, ValueError):
            for line in (self._folders["memory"] / file).read_text().splitlines():
                name, _, value = line.partition(" ")
                if name == "oom_kill":
                    return int(value)
        return 0

    def close(self) -> None:
        """Kill what is left and remove the group. What cannot be removed is found by `stale` later."""
        for folder in dict.fromkeys(self._folders.values()):
            remove(folder)


def remove(folder: Path) -> bool:
    """Kill every process in a group and remove it; True when it is gone."""
    for wait in (0.0, 0.001, 0.005, 0.02, 0.1, 0.5):
        time.sleep(wait)
        with suppress(OSError, ValueError):
            for pid in (folder / "cgroup.procs").read_text().split():
                with suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
        try:
            folder.rmdir()
        except FileNotFoundError:
            return True
        except OSError:
            continue
        return True
    return False


def _abandoned(folder: Path) -> bool:
    """Whether a group is ours and its evalctl is dead; one of another pid namespace is not judged."""
    parts = folder.name.removeprefix(PREFIX).split("-")
    if not folder.name.startswith(PREFIX) or len(parts) != 4 or parts[0] != _pid_namespace():
        return False
    try:
        return _start_time(int(parts[1])) != parts[2]
    except (OSError, ValueError, IndexError):
        return True


def stale(controllers: Controllers) -> list[Path]:
    """Groups of ours, anywhere in the hierarchies, whose evalctl is dead: what a crash left."""
    folders = (Path(folder) for mount in controllers.mounts for folder, _, _ in os.walk(mount))
    return sorted(folder for folder in folders if _abandoned(folder))


def sweep(controllers: Controllers) -> None:
    """Remove what a crash left beside the groups that we would make. Never raises."""
    for parent in dict.fromkeys(controllers.parents.values()):
        with suppress(OSError):
            for folder in filter(_abandoned, parent.glob(f"{PREFIX}*")):
                remove(folder)
