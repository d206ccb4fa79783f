"""Files that a power cut or a kill leaves whole or absent, and locks that end with their process."""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from evalctl.errors import ResourceError, StoreError, UsageError
from evalctl.types import Json


def sync_folder(folder: Path) -> None:
    """Make names in `folder` durable: a rename is lost by a power cut until its folder is synced."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_folder(folder: Path) -> Path:
    """`folder` with its parents, each durable in its own parent."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)
    return folder


def sync_file(path: Path) -> None:
    """Make the bytes of a closed file durable."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def write_whole(path: Path, data: bytes) -> Path:
    """Write `path` so that it is only ever absent, as it was, or whole; raises OSError (ENOSPC and others)."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        error.filename = error.filename or str(path)
        raise
    sync_folder(path.parent)
    return path


def write_json(path: Path, value: Json) -> Path:
    """`write_whole` of readable JSON; only finite numbers."""
    text = json.dumps(value, indent=1, ensure_ascii=True, allow_nan=False)
    return write_whole(path, (text + "\n").encode())


def read_json(path: Path) -> dict[str, Json]:
    """The JSON object in `path`. Raises StoreError where it is none: a record of ours is never half a file."""
    try:
        value = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise StoreError(f"{path}: not there") from None
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{path}: not JSON ({error})") from None
    if not isinstance(value, dict):
        raise StoreError(f"{path}: not a JSON object")
    return value


@contextmanager
def locked(path: Path, what: str, wait: float = 0.0) -> Iterator[None]:
    """Hold the lock file `path`; the system frees it when the process ends, however it ends.

    Raises UsageError after `wait` seconds where another process (or thread) holds it.
    """
    end = time.monotonic() + wait
    while (handle := _acquire(path)) is None:
        if time.monotonic() >= end:
            raise UsageError(f"{what} is being written by another process ({_holder(path)}); wait for it to end")
        time.sleep(0.02)
    try:
        yield
    finally:
        os.close(handle)


def _acquire(path: Path) -> int | None:
    """An open handle that holds the lock, or None where another one does."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The holder before us may have moved the folder away: then this is a lock on a file nobody will look at.
        if os.fstat(handle).st_nlink == 0 or path.stat().st_ino != os.fstat(handle).st_ino:
            os.close(handle)
            return None
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
    except (BlockingIOError, FileNotFoundError):
        os.close(handle)
        return None
    except OSError as error:
        os.close(handle)
        raise ResourceError(
            f"{path}: cannot be locked ({error.strerror}); is the folder on a network share?"
        ) from error
    return handle


def _holder(path: Path) -> str:
    try:
        return f"pid {int(path.read_text() or 0)}"
    except (OSError, ValueError):
        return "unknown pid"


def folder_name(name: str, kind: str) -> str:
    """A file name for `name`, one to one: what a file system minds is percent-encoded.

    >>> folder_name("org/model v1", "checkpoint")
    'org%2Fmodel v1'
    """
    text = quote(name, safe=" +@=,:()")
    if text.startswith("."):
        text = "%2E" + text[1:]
    if not name.strip() or len(text) > 200:
        raise UsageError(f"{kind} name {name[:60]!r}: between 1 and 200 characters, please")
    return text
