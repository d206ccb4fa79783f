"""A uid of its own for each sandbox, where we are root: no two sandboxes share a process count or a file's owner."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from evalctl.errors import SandboxError

_FIRST = 0x40000000
"""Above all that people, packages and rootless containers are given; pids have 22 bits, which leaves 256 a process."""
_EACH = 256
_lent: set[int] = set()
_lock = Lock()


def uids(uid_map: str | None = None, pid: int | None = None) -> range:
    """The uids that this process may lend: another process of this machine lends others.

    Where our own user namespace has not so many (a rootless container), the last thousands of what it has, and
    two processes may then meet. Empty where it has fewer than that.
    """
    text = Path("/proc/self/uid_map").read_text() if uid_map is None else uid_map
    pid = os.getpid() if pid is None else pid
    last = max((int(first) + int(length) for first, _, length in map(str.split, text.splitlines())), default=0)
    first = _FIRST + (pid % (1 << 22)) * _EACH
    if first + _EACH <= last:
        return range(first, first + _EACH)
    room = last - 32768
    if room < _EACH:
        return range(0)
    first = 32768 + (pid % (room // _EACH)) * _EACH
    return range(first, first + _EACH)


@contextmanager
def lend(among: range) -> Iterator[int]:
    """A uid that no other sandbox of this process has. SandboxError when all are lent."""
    with _lock:
        free = next((uid for uid in among if uid not in _lent), None)
        if free is None:
            raise SandboxError(f"all {len(among)} uids for sandboxes are in use; open fewer at once")
        _lent.add(free)
    try:
        yield free
    finally:
        with _lock:
            _lent.discard(free)
