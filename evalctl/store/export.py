"""Trials of finished runs as JSON lines, CSV or Parquet, a row group in memory at a time."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from .columns import FLOATS, NAMES, PREFIX, SCHEMA, exchange, from_row, token
from .store import Store

WHICH = ("run", "checkpoint")
"""Columns that stand first where several runs share a file."""
FORMULA = re.compile(r"[=+\-@\t\r]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]")
"""What moves a terminal, ends a line or turns text around; tab and line feed stand, quoted, as they are."""


@dataclass(frozen=True)
class Exported:
    """How much was written, and how much was not shown."""

    rows: int
    withheld: int
    """Trials of the sealed role: each view of a sealed score is a look, and an export is none."""


@dataclass
class _Reading:
    """The chosen runs, read once, row group by row group."""

    store: Store
    keys: Sequence[str]
    rows: int = 0
    withheld: int = 0

    def tables(self) -> Iterator[Any]:
        """Arrow tables without sealed rows, `run` and `checkpoint` first where there are several runs."""
        for key in self.keys:
            name = self.store.stored(key).record.checkpoint["name"]
            with pq.ParquetFile(self.store.trials_file(key)) as file:
                for group in range(file.num_row_groups):
                    table = file.read_row_group(group)
                    shown = table.filter(pc.not_equal(table.column("role"), "sealed"))
                    self.rows += shown.num_rows
                    self.withheld += table.num_rows - shown.num_rows
                    yield self._named(shown, key, name)

    def metrics(self) -> list[str]:
        """Every `metrics.<name>` column of the chosen runs."""
        names = dict[str, None]()
        for key in self.keys:
            schema = pq.read_schema(self.store.trials_file(key))
            names.update(dict.fromkeys(name for name in schema.names if name.startswith(PREFIX)))
        return list(names)

    def which(self) -> tuple[str, ...]:
        return WHICH if len(self.keys) > 1 else ()

    def _named(self, table: Any, key: str, checkpoint: str) -> Any:
        for at, name in enumerate(self.which()):
            value = (key, checkpoint)[at]
            table = table.add_column(at, name, pa.array([value] * table.num_rows, pa.string()))
        return table


def export(store: Store, keys: Sequence[str], form: str, file: BinaryIO) -> Exported:
    """Write the trials of finished runs to `file` in one of FORMATS.

    With several runs each row begins with `run` and `checkpoint`. Raises UsageError, StoreError.
    """
    reading = _Reading(store, keys)
    FORMATS[form](reading, file)
    return Exported(reading.rows, reading.withheld)


def _jsonl(reading: _Reading, file: BinaryIO) -> None:
    """The exchange form; a not-finite figure is written as the token that an import reads back."""
    for table in reading.tables():
        for row in table.to_pylist():
            named = {name: row[name] for name in reading.which()}
            line = json.dumps({**named, **exchange(from_row(row))}, ensure_ascii=False)
            file.write(line.encode() + b"\n")


def _csv(reading: _Reading, file: BinaryIO) -> None:
    """A header, then a row a trial; null is an empty cell.

    A text cell that a spreadsheet would take for a formula gets an apostrophe before it, unless it is a plain
    number; control characters but tab and line feed are written out; number columns are written as they are.
    """
    columns = [*reading.which(), *NAMES, *reading.metrics()]
    text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
    try:
        writer = csv.writer(text)
        writer.writerow([_cell("", name) for name in columns])
        for table in reading.tables():
            for row in table.to_pylist():
                writer.writerow([_cell(name, row.get(name)) for name in columns])
    finally:
        text.detach()


def _written_out(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def _cell(column: str, value: Any) -> Any:
    if isinstance(value, str):
        value = CONTROL.sub(_written_out, value)
        return f"'{value}" if FORMULA.match(value) and not NUMBER.fullmatch(value) else value
    if isinstance(value, float) and (column in FLOATS or column.startswith(PREFIX)) and value - value != 0:
        return token(value)
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, list) else value


def _parquet(reading: _Reading, file: BinaryIO) -> None:
    """The columns of `trials.parquet`, with the metrics of all chosen runs."""
    fields = [pa.field(name, pa.string()) for name in reading.which()] + list(SCHEMA)
    schema = pa.schema([*fields, *(pa.field(name, pa.float64()) for name in reading.metrics())])
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for table in reading.tables():
            for name in schema.names:
                if name not in table.column_names:
                    table = table.append_column(name, pa.nulls(table.num_rows, pa.float64()))
            writer.write_table(table.select(schema.names))


FORMATS: dict[str, Callable[[_Reading, BinaryIO], None]] = {"jsonl": _jsonl, "csv": _csv, "parquet": _parquet}
"""Format to what writes it."""
