"""The index: one SQLite table of finished runs, always answered from after a look at the folders.

The files are the truth. Each look compares the folders' names, sizes and times with the table and mends the
difference, so an index that is missing, old, corrupt or not writable costs time and never gives a wrong answer.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import astuple, fields
from pathlib import Path

from evalctl.errors import ResourceError, StoreError

from .records import RunRow, read_run

VERSION = 1
COLUMNS = tuple(field.name for field in fields(RunRow))
TABLE = f"CREATE TABLE runs ({', '.join(COLUMNS)}, mark, PRIMARY KEY (key))"
INSERT = f"INSERT OR REPLACE INTO runs VALUES ({', '.join('?' * (len(COLUMNS) + 1))})"  # noqa: S608 - no data in it
SELECT = "SELECT * FROM runs ORDER BY finished DESC, started DESC, key"


class Index:
    """The table in `database` over the folders in `runs`."""

    def __init__(self, database: Path, runs: Path) -> None:
        self.database = database
        self.runs = runs

    def rows(self) -> tuple[list[RunRow], list[str]]:
        """Every finished run, newest first, and a line for each folder that cannot be read."""
        if not self.runs.is_dir():
            return [], []
        try:
            with self._open() as connection:
                return self._look(connection)
        except sqlite3.OperationalError:
            # Read-only, full or locked: the folders are read without an index, slower and as right.
            return self._without()
        except sqlite3.DatabaseError:
            self._discard()
        try:
            with self._open() as connection:
                return self._look(connection)
        except sqlite3.Error:
            return self._without()

    def rebuild(self) -> tuple[int, list[str]]:
        """Make the table anew from the folders; how many runs it holds, and what could not be read.

        Raises ResourceError where it cannot be written.
        """
        try:
            try:
                rows, problems = self._anew()
            except sqlite3.DatabaseError:
                self._discard()
                rows, problems = self._anew()
        except sqlite3.Error as error:
            raise ResourceError(
                f"{self.database}: cannot be written ({error}); the runs themselves are whole"
            ) from error
        return len(rows), problems

    def _anew(self) -> tuple[list[RunRow], list[str]]:
        with self._open() as connection:
            connection.execute("DELETE FROM runs")
            return self._look(connection)

    def disagreements(self) -> list[str]:
        """What the table says that the folders do not, as it stands, mending nothing."""
        folders = dict(self._folders())
        if not self.database.exists():
            return ["index: missing; `evalctl store rebuild` makes it"] if folders else []
        try:
            with closing(sqlite3.connect(f"{self.database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
                held = {row[0]: row[:-1] for row in connection.execute("SELECT * FROM runs")}
        except sqlite3.Error as error:
            return [f"index: cannot be read ({error}); `evalctl store rebuild` makes it anew"]
        lines = [
            f"index: names run {key}, which is not there; `evalctl store rebuild`" for key in held.keys() - folders
        ]
        for key, path in folders.items():
            try:
                row = read_run(path).row
            except StoreError:
                continue
            if key not in held:
                lines.append(f"index: does not name run {key}; `evalctl store rebuild`")
            elif _values(row) != held[key]:
                lines.append(f"index: says other things of run {key} than its folder; `evalctl store rebuild`")
        return lines

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.database, timeout=30, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute("BEGIN IMMEDIATE" if _version(connection) != VERSION else "BEGIN")
            if _version(connection) != VERSION:
                connection.execute("DROP TABLE IF EXISTS runs")
                connection.execute(TABLE)
                connection.execute(f"PRAGMA user_version = {VERSION}")
            yield connection
            connection.execute("COMMIT")

    def _without(self) -> tuple[list[RunRow], list[str]]:
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
            connection.execute(TABLE)
            return self._look(connection)

    def _discard(self) -> None:
        """Remove a corrupt database; its log first, which must never be replayed into a new one."""
        for suffix in ("-wal", "-shm", ""):
            self.database.with_name(self.database.name + suffix).unlink(missing_ok=True)

    def _folders(self) -> Iterator[tuple[str, Path]]:
        if self.runs.is_dir():
            for folder in sorted(self.runs.iterdir()):
                if not folder.name.startswith("."):
                    yield folder.name, folder / "run.json"

    def _look(self, connection: sqlite3.Connection) -> tuple[list[RunRow], list[str]]:
        # The table before the folders: a run added meanwhile is then only read twice, never dropped.
        held: dict[str, str] = dict(connection.execute("SELECT key, mark FROM runs"))
        problems, seen = [], set()
        for key, path in self._folders():
            seen.add(key)
            mark = _mark(path)
            if held.get(key) == mark:
                continue
            try:
                row = read_run(path).row
                if row.key != key:
                    raise StoreError(f"{path}: holds run {row.key}; a run folder is named by its key")
            except StoreError as error:
                problems.append(str(error))
                connection.execute("DELETE FROM runs WHERE key = ?", (key,))
                continue
            connection.execute(INSERT, (*_values(row), mark))
        gone = held.keys() - seen
        connection.executemany("DELETE FROM runs WHERE key = ?", [(key,) for key in gone])
        return [_row(values) for values in connection.execute(SELECT)], problems


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _mark(path: Path) -> str:
    """Changes whenever the file is written again."""
    try:
        found = path.stat()
    except OSError:
        return "none"
    return f"{found.st_mtime_ns}.{found.st_size}.{found.st_ino}"


def _values(row: RunRow) -> tuple[object, ...]:
    return tuple(_value(value) for value in astuple(row))


def _value(value: object) -> object:
    """What a column can hold: a number past 64 bits is text, which `_row` reads back."""
    if isinstance(value, tuple):
        return json.dumps(value)
    if isinstance(value, int):
        return int(value) if -(2**63) <= value < 2**63 else str(value)
    return value


def _row(values: tuple[object, ...]) -> RunRow:
    data = dict(zip(COLUMNS, values, strict=False))
    data["roles"] = tuple(json.loads(str(data["roles"])))
    data["complete"], data["imported"] = bool(data["complete"]), bool(data["imported"])
    data["n"], data["replicate"] = int(str(data["n"])), int(str(data["replicate"]))
    return RunRow(**data)  # type: ignore[arg-type]
