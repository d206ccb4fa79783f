"""Weights identity: two folders have one digest when they hold the same model, whatever they are called."""

import contextlib
import json
import os
import time
from pathlib import Path

from ..digests import digest, file_sha256
from ..errors import CheckpointError
from .folder import Layout, read_json

PROVENANCE = frozenset(
    {
        "_name_or_path",
        "_model_name_or_path",
        "name_or_path",
        "base_model_name_or_path",
        "transformers_version",
        "is_local",
        "local_files_only",
    }
)
"""Keys of *_config.json that say where a folder came from and never change an answer. The base of an adapter
enters by its content, so that moving it changes nothing."""
SMALL = 2**20
"""Bytes; a smaller file is read again each time rather than believed."""
RACY_SECONDS = 2.0
"""A file changed this lately could change again within one tick of the file system's clock: not remembered."""


def weights_digest(parts: Layout) -> str:
    """32 hex digits over the sorted (file, SHA-256) of weights, configuration, adapter, tokenizer and template.

    Large files are hashed once and remembered by device, inode, size, mtime and ctime. Raises CheckpointError
    when a file cannot be read or changes while it is.
    """
    memory = _Memory(cache_file())
    rows = [[name, _identity(path, memory)] for name, path in sorted(parts.files().items())]
    memory.save()
    return digest(rows)


def cache_file() -> Path:
    """Where hashes of large files are remembered: `$EVALCTL_HOME/cache`, else the user's cache folder."""
    home = os.environ.get("EVALCTL_HOME")
    if home:
        return Path(home) / "cache" / "weights.json"
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "evalctl" / "weights.json"


def _identity(path: Path, memory: "_Memory") -> str:
    if path.name.endswith("config.json"):
        return digest({key: value for key, value in read_json(path).items() if key not in PROVENANCE})
    try:
        return memory.sha256(path)
    except OSError as error:
        raise CheckpointError(
            f"{path}: cannot be read ({error.strerror}); mend its permissions or copy it again"
        ) from None


class _Memory:
    """SHA-256 of large files by what the file system says of them. ctime is in it: no program can set it back."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, list[object]] = {}
        self._new: dict[str, list[object]] = {}
        # An unreadable cache only costs the time to hash again.
        with contextlib.suppress(OSError, ValueError):
            known = json.loads(path.read_text(encoding="utf-8"))
            self._known = known if isinstance(known, dict) else {}

    def sha256(self, path: Path) -> str:
        place = str(path.resolve())
        before = _stamp(path)
        known = self._known.get(place)
        if isinstance(known, list) and len(known) == len(before) + 1 and known[:-1] == before:
            return str(known[-1])
        whole = file_sha256(path)
        if _stamp(path) != before:
            raise CheckpointError(f"{path}: changed while it was read; wait until it is written, then run again")
        size, changed_ns = path.stat().st_size, path.stat().st_ctime_ns
        if size >= SMALL and time.time_ns() - changed_ns > RACY_SECONDS * 1e9:
            self._new[place] = [*before, whole]
        return whole

    def save(self) -> None:
        """Write what was learned, to a temporary name and then renamed; a read-only home only costs time."""
        if not self._new:
            return
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}")
            temporary.write_text(json.dumps(self._known | self._new), encoding="utf-8")
            temporary.replace(self._path)


def _stamp(path: Path) -> list[object]:
    stat = path.stat()
    return [stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]
