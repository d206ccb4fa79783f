"""Files a person asked for: whole or not at all, and one line where they cannot be written."""

import errno
from pathlib import Path

from evalctl.errors import UsageError
from evalctl.store.files import write_whole


def write(path: Path, text: str) -> None:
    """Write `path` whole or not at all, making its folder. Raises UsageError where it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode())
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise UsageError(f"{path}: cannot be written ({error.strerror}); name another place with --out") from error
