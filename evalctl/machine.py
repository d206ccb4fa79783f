"""What this machine has, found by looking only: nothing heavy is imported, nothing is started but `nvidia-smi`.

Every probe answers in well under a second and never raises: what cannot be found out is None or empty.
"""

import http.client
import json
import os
import platform
import shutil
import socket
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from urllib.parse import urlsplit

_SECONDS = 2.0
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@dataclass(frozen=True)
class Accelerator:
    """One device that could train or answer."""

    name: str
    memory_bytes: int | None = None


@dataclass(frozen=True)
class Engine:
    """A Docker engine: where it was looked for, and what answered."""

    address: str
    version: str | None
    """None where nothing answers."""
    reason: str = ""
    """Why nothing does."""


def versions(distributions: Iterable[str]) -> dict[str, str | None]:
    """Distribution to the installed version, None where it is not; from metadata, nothing is imported.

    >>> versions(["no-such-distribution"])
    {'no-such-distribution': None}
    """
    found: dict[str, str | None] = {}
    for name in distributions:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def system() -> dict[str, str]:
    """Python, kernel and distribution."""
    try:
        distribution = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        distribution = ""
    return {"python": platform.python_version(), "kernel": platform.release(), "system": distribution}


def cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0))


def memory() -> dict[str, int | None]:
    """`total` and `available` bytes; a control group's bound counts where it is lower than the machine's."""
    found: dict[str, int | None] = {"total": None, "available": None}
    with suppress(OSError, ValueError):
        rows = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
        sizes = {row[0].rstrip(":"): int(row[1]) * 1024 for row in rows if len(row) > 1}
        found = {"total": sizes.get("MemTotal"), "available": sizes.get("MemAvailable")}
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):
            bound = int(Path(file).read_text())
            found = {key: min(value, bound) if value is not None else None for key, value in found.items()}
    return found


def free_disk(place: Path) -> int | None:
    """Free bytes where `place` is, or would be made."""
    place = place.absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    with suppress(OSError):
        return shutil.disk_usage(place).free
    return None


def accelerators() -> list[Accelerator]:
    """NVIDIA devices by `nvidia-smi`, AMD's by their kernel driver; empty where there is none."""
    found = []
    if tool := shutil.which("nvidia-smi"):
        asked = [tool, "--query-gpu=name,memory.total", "--format=csv,noheader,nounits"]
        with suppress(OSError, subprocess.SubprocessError, ValueError):
            said = subprocess.run(asked, capture_output=True, text=True, timeout=10, check=True).stdout
            for line in said.splitlines():
                name, _, size = line.rpartition(",")
                found.append(Accelerator(name.strip(), int(size) * 2**20))
    if not found and Path("/dev/kfd").exists():
        found.append(Accelerator("AMD (kfd)"))
    return found


def browser() -> str | None:
    """Path of a Chromium, for looking at reports and the dashboard."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


class _Unix(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=_SECONDS)
        self._path = path

    def connect(self) -> None:
        """Connect to the socket file."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(_SECONDS)
        self.sock.connect(self._path)


def docker(environment: Mapping[str, str] = os.environ) -> Engine:
    """The Docker engine at DOCKER_HOST, or at the usual socket; asked for its version once."""
    address = environment.get("DOCKER_HOST") or "unix:///var/run/docker.sock"
    parts = urlsplit(address)
    try:
        if parts.scheme == "unix":
            connection: http.client.HTTPConnection = _Unix(parts.path)
        elif parts.scheme in ("tcp", "http") and parts.hostname:
            connection = http.client.HTTPConnection(parts.hostname, parts.port or 2375, timeout=_SECONDS)
        else:
            return Engine(address, None, f"no way to ask over {parts.scheme or 'this address'}")
        try:
            connection.request("GET", "/version")
            answer = json.loads(connection.getresponse().read(1 << 20))
        finally:
            connection.close()
        return Engine(address, str(answer["Version"]))
    except OSError as error:
        return Engine(address, None, error.strerror or str(error))
    except (http.client.HTTPException, ValueError, KeyError, TypeError):
        return Engine(address, None, "what answers there is no Docker engine")
