"""Trials as a pandas frame and as JSON: the two forms that leave the store.

The frame has one column a field of Trial (`variant`, `metrics`, `metadata` as canonical JSON text; `range` a tuple
or None; whole numbers as Int64; text as str), then `unfit`, then a float column `metrics.<name>` for each metric.

NaN in a float column means *not there*: for `score`, unscored. pandas cannot tell that from a NaN that was given,
so `unfit` (text, null where all is well) names every figure that was given and is not finite, the score and the
metrics alike: `score: not finite: NaN; metrics.f1: not finite: Infinity`. `not_finite` reads it for one column.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from evalctl.errors import StoreError
from evalctl.types import Json, Trial

from .columns import FLOATS, INTEGERS, NAMES, OBJECTS, UNFIT, clean, exchange, flatten, number, plain, to_row, to_table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["not_finite", "table_to_frame", "to_frame", "to_trials", "trial_from_json", "trial_to_json"]


def to_frame(trials: Iterable[Trial]) -> "pd.DataFrame":
    """One row a trial, in order; all columns are there even where there is no trial."""
    rows, names = [], dict[str, None]()
    for trial in trials:
        rows.append(to_row(trial))
        names.update(dict.fromkeys(clean(name) for name in trial.metrics))
    return table_to_frame(flatten(to_table(rows), names))


def table_to_frame(table: Any) -> "pd.DataFrame":
    """The frame of an Arrow table as `columns` makes it."""
    import pandas as pd
    import pyarrow as pa  # type: ignore[import-untyped]

    frame: pd.DataFrame = table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
    ranges = [None if pair is None else tuple(pair) for pair in table.column("range").to_pylist()]
    frame["range"] = pd.Series(ranges, index=frame.index, dtype=object)
    return frame.astype({"epoch": "int64", "truncated": "bool"})


def not_finite(frame: "pd.DataFrame", column: str = "score") -> "pd.Series[bool]":
    """Where `column` was given a figure that is not finite; False everywhere for a frame without `unfit`."""
    import pandas as pd

    if UNFIT not in frame.columns:
        return pd.Series(False, index=frame.index)
    pattern = rf"(?:^|; ){re.escape(column)}: not finite: "
    found = frame[UNFIT].astype("str").str.contains(pattern, regex=True, na=False).astype(bool)
    return found.rename(column)


def to_trials(frame: "pd.DataFrame") -> list[Trial]:
    """The trials of a frame, in order; columns that Trial does not have are left out."""
    wrong = {name: not_finite(frame, name).tolist() for name in FLOATS}
    here = [name for name in NAMES if name in frame.columns]
    rows = frame[here].to_dict("records")
    return [_trial(row, {name: given[at] for name, given in wrong.items()}) for at, row in enumerate(rows)]


def _trial(row: Mapping[Any, Any], wrong: Mapping[str, bool]) -> Trial:
    data: dict[str, Any] = {
        str(name): None if _absent(value) and not wrong.get(name) else value for name, value in row.items()
    }
    for name in INTEGERS:
        data[name] = None if data.get(name) is None else int(data[name])
    for name in OBJECTS:
        data[name] = json.loads(data.get(name) or "{}")
    for metric in data["metrics"].values():
        metric["value"] = number(metric.get("value"))
    data["epoch"] = 1 if data["epoch"] is None else data["epoch"]
    data["truncated"] = bool(data.get("truncated"))
    data["range"] = None if data.get("range") is None else tuple(data["range"])
    return Trial(**data)


def _absent(value: Any) -> bool:
    import pandas as pd

    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def trial_to_json(trial: Trial) -> dict[str, Json]:
    """The exchange form, an object a trial. Not-finite figures stay floats (`json.dumps` writes their tokens)."""
    return exchange(trial)


def trial_from_json(data: Mapping[str, Json]) -> Trial:
    """The trial of `trial_to_json`. Raises StoreError where a required field is absent or one is unknown."""
    unknown = [name for name in data if name not in NAMES]
    absent = [name for name in NAMES[:4] if name not in data]
    if unknown or absent:
        raise StoreError(f"not a trial: unknown {unknown or 'nothing'}, absent {absent or 'nothing'}")
    fields = dict(data)
    if fields.get("range") is not None:
        fields["range"] = tuple(fields["range"])
    fields["metadata"] = plain(fields.get("metadata") or {})
    return Trial(**fields)
