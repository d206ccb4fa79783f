"""The lines of a JSON lines file, each with its number, and the files that only look like one."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evalctl.errors import DataError
from evalctl.types import Json

LONGEST = 256 * 2**20
"""Bytes of one line; a longer one is no row of trials but a file without line ends."""
DEEPEST = 100
"""Objects and lists within each other; what is deeper cannot be written again by every reader."""
TOO_DEEP = f"JSON nested more than {DEEPEST} deep; {DEEPEST} are the most"
BOM = b"\xef\xbb\xbf"
OTHERS = {
    b"version https://git-lfs.github.com/": "a Git LFS pointer, not the file itself; `git lfs pull` fetches it",
    b"\x1f\x8b": "gzip-compressed; unpack it first",
    b"\x28\xb5\x2f\xfd": "zstd-compressed; unpack it first",
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"PAR1": "a Parquet file, not JSON lines",
    b"\xff\xfe": "UTF-16; save it as UTF-8",
    b"\xfe\xff": "UTF-16; save it as UTF-8",
}


def objects(path: Path) -> Iterator[tuple[int, dict[str, Json]]]:
    """(line number from 1, object) for each line that is not blank.

    A byte order mark and CRLF are read as what they are. Raises DataError with file and line for a line that is
    not UTF-8, not JSON, not an object, or says one key twice; for a file that is empty or of another kind.
    """
    seen = False
    with path.open("rb") as file:
        number = 0
        while line := file.readline(LONGEST + 1):
            number += 1
            where = f"{path}:{number}"
            if number == 1:
                line = line.removeprefix(BOM)
                _refuse_others(path, line)
            if len(line) > LONGEST:
                raise DataError(f"{where}: a line of more than {LONGEST // 2**20} MiB; one JSON object a line, please")
            if line.strip():
                seen = True
                yield number, _object(where, line)
    if not seen:
        raise DataError(f"{path}: holds no rows; a file of nothing is no evidence")


def _refuse_others(path: Path, line: bytes) -> None:
    for start, text in OTHERS.items():
        if line.startswith(start):
            raise DataError(f"{path}:1: {text}")


def _object(where: str, line: bytes) -> dict[str, Json]:
    try:
        value = json.loads(line.decode(), object_pairs_hook=lambda pairs: _once(where, pairs))
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: not UTF-8 (byte {error.start + 1} of the line)") from None
    except json.JSONDecodeError as error:
        cut = "" if line.endswith(b"\n") else "; the last line has no end: is the file cut short?"
        raise DataError(f"{where}: not JSON ({error.msg} at column {error.colno}){cut}") from None
    except RecursionError:
        raise DataError(f"{where}: {TOO_DEEP}") from None
    except ValueError as error:
        raise DataError(f"{where}: JSON that cannot be read ({error})") from None
    if _deeper(value):
        raise DataError(f"{where}: {TOO_DEEP}")
    if isinstance(value, dict):
        return value
    hint = "; one object a line, not one list for all" if isinstance(value, list) else ""
    raise DataError(f"{where}: {kind(value)}, not an object{hint}")


def _deeper(value: Json) -> bool:
    """Whether `value` is nested past DEEPEST; level by level, so that no depth breaks this."""
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


def _once(where: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{where}: key {short(twice)} stands twice in one object; which is meant cannot be guessed")
    return found


def kind(value: Json) -> str:
    """What a JSON value is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    return "text" if isinstance(value, str) else "a list" if isinstance(value, list) else "an object"


def short(value: Json) -> str:
    """A value as JSON in at most 60 plain characters."""
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
