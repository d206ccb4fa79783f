"""The columns of `trials.parquet`: Trials to Arrow and back, row group by row group.

Text for `variant`, `metrics` and `metadata` is canonical JSON. A figure that was given but is not finite keeps
its own value in its column (Arrow tells NaN from null), is spelled as a token ("NaN") inside JSON text, and is
named in `unfit`, so that readers that cannot tell NaN from null still see it.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from evalctl.digests import canonical
from evalctl.errors import DataError
from evalctl.types import Json, Trial

INTEGERS = ("shard", "context_tokens", "epoch", "input_tokens", "output_tokens", "turns", "tool_calls")
FLOATS = ("score", "seconds", "cost", "reward")
OBJECTS = ("variant", "metrics", "metadata")
"""Columns that hold canonical JSON text."""
NAMES = tuple(field.name for field in fields(Trial))
UNFIT = "unfit"
PREFIX = "metrics."
GROUP_ROWS = 2_000
GROUP_BYTES = 32 * 2**20
"""A row group is closed at either: memory is bounded by it, not by the file."""
MOST_METRICS = 500
TOKENS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def _kind(name: str) -> Any:
    if name in INTEGERS:
        return pa.int64()
    if name in FLOATS:
        return pa.float64()
    if name == "truncated":
        return pa.bool_()
    return pa.list_(pa.float64(), 2) if name == "range" else pa.string()


SCHEMA = pa.schema([*((name, _kind(name)) for name in NAMES), (UNFIT, pa.string())])
"""Every column but the flattened `metrics.<name>`, which follow it as float64."""


def token(value: float) -> str:
    """How a not-finite number is spelled: `NaN`, `Infinity` or `-Infinity`."""
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def plain(value: Json) -> Json:
    """`value` with not-finite floats as their tokens, so that JSON can say it."""
    if isinstance(value, float) and not math.isfinite(value):
        return token(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def clean(text: str) -> str:
    """`text` with lone surrogates, which no file can hold, replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def json_text(value: Json) -> str:
    """Canonical JSON text that a file can hold."""
    try:
        return clean(canonical(value))
    except ValueError:
        return clean(canonical(plain(value)))


def number(value: Json) -> float | None:
    """A metric's value as a float: tokens are read back; None where there is none."""
    if isinstance(value, str):
        return TOKENS.get(value)
    return None if value is None else float(value)


def metric_values(metrics: Mapping[str, Mapping[str, Json]]) -> dict[str, float | None]:
    """Metric name to its value."""
    return {name: number(metric.get("value")) for name, metric in metrics.items()}


def to_row(trial: Trial) -> dict[str, Any]:
    """The trial's columns, but for the flattened metrics."""
    row = {name: getattr(trial, name) for name in NAMES}
    figures = [(name, row[name]) for name in FLOATS]
    figures += [(PREFIX + name, value) for name, value in metric_values(trial.metrics).items()]
    wrong = [f"{name}: not finite: {token(v)}" for name, v in figures if v is not None and not math.isfinite(v)]
    row[UNFIT] = clean("; ".join(wrong)) or None
    for name in OBJECTS:
        row[name] = json_text(row[name])
    return {name: clean(value) if isinstance(value, str) else value for name, value in row.items()}


def from_row(row: Mapping[str, Any]) -> Trial:
    """The trial of `to_row`."""
    data = {name: row[name] for name in NAMES}
    for name in OBJECTS:
        data[name] = json.loads(data[name])
    for metric in data["metrics"].values():
        metric["value"] = number(metric.get("value"))
    data["range"] = None if data["range"] is None else tuple(data["range"])
    return Trial(**data)


def to_table(rows: list[dict[str, Any]]) -> Any:
    """An Arrow table of rows of `to_row`."""
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def flatten(table: Any, names: Iterable[str]) -> Any:
    """`table` with a float column `metrics.<name>` for each of `names`."""
    values = [metric_values(json.loads(text)) for text in table.column("metrics").to_pylist()]
    for name in names:
        table = table.append_column(PREFIX + name, pa.array([v.get(name) for v in values], pa.float64()))
    return table


class TrialsFile:
    """Writes `trials.parquet` from any number of trials in bounded memory.

    Metric names are known only at the end and are columns, so where there are metrics the file is written twice.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows = 0
        self.metrics: dict[str, None] = {}
        self._rows: list[dict[str, Any]] = []
        self._bytes = 0
        self._writer = pq.ParquetWriter(path, SCHEMA, compression="zstd")

    def add(self, trial: Trial) -> None:
        """One more row. Raises DataError past 500 distinct metric names: each is a column."""
        row = to_row(trial)
        self.metrics.update(dict.fromkeys(clean(name) for name in trial.metrics))
        if len(self.metrics) > MOST_METRICS:
            raise DataError(f"more than {MOST_METRICS} distinct metric names; a metric is a column, not a value")
        self._rows.append(row)
        self._bytes += sum(len(value) for value in row.values() if isinstance(value, str))
        self.rows += 1
        if len(self._rows) >= GROUP_ROWS or self._bytes >= GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        self._writer.write_table(to_table(self._rows))
        self._rows, self._bytes = [], 0

    def close(self) -> None:
        """Write what is left and the flattened metrics; the file is whole, not yet synced."""
        if self._rows:
            self._flush()
        self._writer.close()
        if self.metrics:
            again = self.path.with_name(self.path.name + ".flat")
            _copy(self.path, again, lambda table: flatten(table, self.metrics))
            again.replace(self.path)

    def abandon(self) -> None:
        """Let go of the file, whatever state it is in."""
        self._rows = []
        self._writer.close()


def _copy(source: Path, target: Path, change: Callable[[Any], Any]) -> None:
    """Copy a Parquet file row group by row group through `change`."""
    schema = change(SCHEMA.empty_table()).schema
    with pq.ParquetFile(source) as file, pq.ParquetWriter(target, schema, compression="zstd") as writer:
        for group in range(file.num_row_groups):
            writer.write_table(change(file.read_row_group(group)))


def write_trials(path: Path, trials: Iterable[Trial]) -> int:
    """Write `path` and return the number of rows."""
    file = TrialsFile(path)
    try:
        for trial in trials:
            file.add(trial)
    except BaseException:
        file.abandon()
        raise
    file.close()
    return file.rows


def read_trials(path: Path) -> Iterator[Trial]:
    """Every trial of a file, a row group in memory at a time."""
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            for row in file.read_row_group(group, columns=list(NAMES)).to_pylist():
                yield from_row(row)


def exchange(trial: Trial) -> dict[str, Json]:
    """The exchange form: a JSON object a trial, `range` as a list."""
    data = {name: getattr(trial, name) for name in NAMES}
    data["range"] = None if trial.range is None else list(trial.range)
    return data
