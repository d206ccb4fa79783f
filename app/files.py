"""Files a person asked for: whole or not at all, and one line, before the work, where they cannot be written."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from evalctl.errors import UsageError
from evalctl.store.files import sync_folder


def ready(path: Path, option: str = "--out") -> None:
    """Make the folder of `path` and try it. Raises UsageError where `path` cannot be written."""
    made: list[Path] = []
    try:
        if path.is_dir():
            raise UsageError(f"{_short(path)}: is a folder; name a file with {option}")
        if _is_stream(path):
            return
        path = Path(os.path.realpath(path))
        above = path.parent
        while not above.exists():
            made.append(above)
            above = above.parent
        path.parent.mkdir(parents=True, exist_ok=True)
        part = _part(path)
        part.open("wb").close()
        part.unlink()
    except OSError as error:
        for folder in made:
            if folder.is_dir():
                folder.rmdir()
        raise _told(path, option, error) from error


def write(path: Path, text: str, option: str = "--out") -> None:
    """Write `path` whole or not at all, making its folder. Raises UsageError where it cannot be written."""
    with writing(path, option) as file:
        file.write(text.encode())


@contextmanager
def writing(path: Path, option: str = "--out") -> Iterator[BinaryIO]:
    """A file that stands at `path` only once it is whole. Raises UsageError where it cannot be written."""
    ready(path, option)
    if _is_stream(path):
        with path.open("wb") as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    part = _part(target)
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
        sync_folder(target.parent)
    except OSError as error:
        raise _told(path, option, error) from error
    finally:
        part.unlink(missing_ok=True)


def _is_stream(path: Path) -> bool:
    """A device or a pipe takes what is written; a file put in its place would be another thing."""
    return path.exists() and (not path.is_file() or path.is_relative_to("/dev") or path.is_relative_to("/proc"))


def _part(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def _told(path: Path, option: str, error: OSError) -> Exception:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return error
    return UsageError(f"{_short(path)}: cannot be written ({error.strerror}); name another place with {option}")


def _short(path: Path) -> str:
    text = str(path)
    return text if len(text) <= 200 else f"{text[:200]}..."
