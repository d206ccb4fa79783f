"""Reading and writing below one folder, whatever links and odd files an agent has put there.

Every step of a path is opened by itself, from the folder before it and never through a link of the kernel's
choosing; links are followed by hand and only as long as they stay below the top. A path is never resolved as
a whole, so nothing can be swapped in between the check and the use.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import PurePosixPath

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_LINKS = 40


class Tree:
    """A folder, held open, and what may be done below it. `name` is what the folder is called inside the sandbox."""

    def __init__(self, fd: int, name: str, owner: int | None = None) -> None:
        self.fd = fd
        self._name = name
        self._owner = owner

    def read(self, path: str, most: int) -> bytes:
        """The bytes of a regular file of at most `most` bytes.

        Raises FileNotFoundError, IsADirectoryError, PermissionError (outside, or not a regular file), OSError
        EFBIG for a larger one.
        """
        with self._parent(path) as (folder, leaf):
            # Not blocking: a named pipe in the file's place must not hold us.
            fd = _open(leaf, os.O_RDONLY | os.O_NONBLOCK, folder, path)
        with os.fdopen(fd, "rb") as file:
            self._regular(fd, path)
            if os.fstat(fd).st_size > most:
                raise OSError(errno.EFBIG, f"larger than the {most} bytes that are read", path)
            data = file.read(most + 1)
        if len(data) > most:
            raise OSError(errno.EFBIG, f"larger than the {most} bytes that are read", path)
        return data

    def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Write a regular file, making parents. Raises as `read` does, and OSError ENOSPC when the folder is full."""
        with self._parent(path, make=True) as (folder, leaf):
            fd = _open(leaf, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK, folder, path, mode)
        with os.fdopen(fd, "wb") as file:
            self._regular(fd, path)
            os.ftruncate(fd, 0)
            self._own(fd)
            file.write(data)

    def _own(self, fd: int) -> None:
        if self._owner is not None:
            os.fchown(fd, self._owner, self._owner)

    def _regular(self, fd: int, path: str) -> None:
        mode = os.fstat(fd).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "is a folder", path)
        if not stat.S_ISREG(mode):
            raise PermissionError(errno.EACCES, "not a regular file", path)

    def _steps(self, path: str) -> list[str]:
        """The steps of a path from the top; an absolute one must begin with the folder's own name."""
        if "\0" in path:
            raise FileNotFoundError(errno.ENOENT, "a path holds no zero byte", path)
        pure = PurePosixPath(path)
        if not pure.is_absolute():
            return list(pure.parts)
        if not pure.is_relative_to(self._name):
            raise PermissionError(errno.EACCES, f"outside of {self._name}", path)
        return list(pure.relative_to(self._name).parts)

    @contextmanager
    def _parent(self, path: str, make: bool = False) -> Iterator[tuple[int, str]]:
        """The open folder that holds the last step of `path`, and that step, links resolved below the top."""
        todo = self._steps(path)[::-1]
        chain = [os.dup(self.fd)]
        links = 0
        try:
            while True:
                if not todo:
                    raise IsADirectoryError(errno.EISDIR, "is a folder", path)
                step = todo.pop()
                if step == "..":
                    if len(chain) == 1:
                        raise PermissionError(errno.EACCES, f"outside of {self._name}", path)
                    os.close(chain.pop())
                    continue
                target = _link(step, chain[-1])
                if target is not None:
                    links += 1
                    if links > _MOST_LINKS:
                        raise PermissionError(errno.ELOOP, "too many links", path)
                    if target.startswith("/"):
                        while len(chain) > 1:
                            os.close(chain.pop())
                    todo.extend(self._steps(target)[::-1])
                elif not todo:
                    yield chain[-1], step
                    return
                else:
                    chain.append(self._enter(step, chain[-1], path, make))
        finally:
            for fd in chain:
                os.close(fd)

    def _enter(self, step: str, folder: int, path: str, make: bool) -> int:
        if make:
            with suppress(FileExistsError):
                os.mkdir(step, 0o755, dir_fd=folder)
                fd = _open(step, _FOLDER, folder, path)
                self._own(fd)
                return fd
        return _open(step, _FOLDER, folder, path)


def _link(step: str, folder: int) -> str | None:
    """The target of `step` when it is a symbolic link."""
    try:
        return os.readlink(step, dir_fd=folder)
    except OSError:
        return None


def _open(step: str, flags: int, folder: int, path: str, mode: int = 0) -> int:
    """Open one step, never through a link; errors name the whole path."""
    try:
        return os.open(step, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            raise PermissionError(errno.EACCES, "not a regular file", path) from error
        if error.errno == errno.ENOTDIR:
            raise FileNotFoundError(errno.ENOENT, "no such file", path) from error
        raise type(error)(error.errno, error.strerror, path) from error
