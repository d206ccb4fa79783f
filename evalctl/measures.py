"""One metric read out of the trials of a Run: values, what they may be, and which way is better.

Frames are those of Run: a row a trial, `variant`, `metrics` and `metadata` as canonical JSON text.
"""

import json
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .store import frames

Floats: TypeAlias = NDArray[np.float64]
FIGURES = ("seconds", "input_tokens", "output_tokens", "turns", "tool_calls", "cost")
"""Metrics that are columns of their own."""
CORRECT_LIKE = frozenset({"acc", "accuracy", "anls", "correct", "em", "exact", "exact_match", "f1", "text_f1"}) | {
    *("pass", "passed", "resolved", "solved", "success")
}
"""Metrics whose name says what they are: higher is better, in [0, 1], unless something else is declared."""
WIDEST = 1e15
"""Of a range: beyond it a double tells no difference of 1, and sums of squares overflow."""
COUNTED = ("ok", "limit", "model_error")
"""Statuses that say something about the model."""
OWN_FAILURES = ("limit", "model_error")
"""Statuses that count as 0 where there is no score."""


@dataclass(frozen=True)
class Declared:
    """What rows say about a metric: every direction and range they declare."""

    directions: frozenset[str]
    ranges: frozenset[tuple[float, float]]
    found: bool
    """False where no row holds the metric at all."""


def raw_values(frame: pd.DataFrame, metric: str) -> Floats:
    """Float64 of shape (rows,), NaN where a row holds no value of `metric`: its own column, else `metrics.<name>`,
    else `score` where the row's `metric` is that."""
    if metric in FIGURES:
        return _floats(frame, metric)
    own = _floats(frame, f"metrics.{metric}")
    scores = np.where((frame["metric"] == metric).to_numpy(bool), _floats(frame, "score"), np.nan)
    return np.where(np.isnan(own), scores, own)


def two_valued(frame: pd.DataFrame, metric: str) -> NDArray[np.bool_]:
    """Rows whose `metrics.<name>` is not their score, although the score is of that metric."""
    own, score = _floats(frame, f"metrics.{metric}"), _floats(frame, "score")
    return (frame["metric"] == metric).to_numpy(bool) & ~np.isnan(own) & ~(np.abs(own - score) <= 1e-9)


def counted_values(frame: pd.DataFrame, metric: str, zero: float) -> Floats:
    """`raw_values` where the status speaks of the model, NaN elsewhere; `zero` for its own failures without a value."""
    values = raw_values(frame, metric)
    status = frame["status"]
    values = np.where(status.isin(COUNTED).to_numpy(bool), values, np.nan)
    own = status.isin(OWN_FAILURES).to_numpy(bool)
    return np.where(np.isnan(values) & own, zero, values)


def not_finite(frame: pd.DataFrame, metric: str) -> NDArray[np.bool_]:
    """Rows whose value of `metric` was given and is no finite number."""
    bad = np.isinf(raw_values(frame, metric))
    if "unfit" not in frame.columns or not frame["unfit"].notna().any():
        return bad
    if metric in FIGURES:
        return bad | frames.not_finite(frame, metric).to_numpy(bool)
    own = (frame["metric"] == metric).to_numpy(bool)
    bad |= frames.not_finite(frame, f"metrics.{metric}").to_numpy(bool)
    return bad | (frames.not_finite(frame, "score").to_numpy(bool) & own)


def declared(frame: pd.DataFrame, metric: str) -> Declared:
    """What the rows themselves declare about `metric`."""
    found = bool(np.isfinite(raw_values(frame, metric)).any())
    if metric in FIGURES:
        return Declared(frozenset(), frozenset(), found)
    directions: set[str] = set()
    ranges: set[tuple[float, float]] = set()
    column = f"metrics.{metric}"
    if column in frame.columns:
        for text in frame.loc[frame[column].notna(), "metrics"].unique():
            entry = json.loads(text).get(metric, {})
            _note(entry.get("direction"), entry.get("range"), directions, ranges)
    rows = frame[frame["metric"] == metric]
    if len(rows):
        found = True
        for direction in rows["direction"].dropna().unique():
            directions.add(str(direction))
        if "range" in rows.columns:
            for text in rows["range"].dropna().map(lambda r: json.dumps([float(x) for x in r])).unique():
                _note(None, json.loads(text), directions, ranges)
    return Declared(frozenset(directions), frozenset(ranges), found or column in frame.columns)


def default_range(metric: str) -> tuple[float, float] | None:
    """[0, 1] for a metric whose name says so, else None: it must be declared."""
    return (0.0, 1.0) if metric in CORRECT_LIKE else None


def zero_of(direction: str, bounds: tuple[float, float] | None, values: Floats) -> float:
    """What the model's own failure counts as where it has no value: 0, or the bad end where lower is better."""
    if direction == "lower":
        seen = values[np.isfinite(values)]
        return bounds[1] if bounds else float(seen.max()) if len(seen) else 0.0
    return min(max(0.0, bounds[0]), bounds[1]) if bounds else 0.0


def unit_names(frame: pd.DataFrame) -> "pd.Series[str]":
    """What pairs: content key and variant as one text."""
    names: pd.Series[str] = frame["content_key"].astype(str) + "\x1f" + frame["variant"].astype(str)
    return names


def cluster_names(frame: pd.DataFrame) -> "pd.Series[str]":
    """The declared cluster; a row without one stands alone, under its content key."""
    named = frame["cluster"].astype(str)
    alone = frame["cluster"].isna() | (named == "")
    return named.where(~alone, "\x1f" + frame["content_key"].astype(str))


def _floats(frame: pd.DataFrame, column: str) -> Floats:
    if column not in frame.columns:
        return np.full(len(frame), np.nan)
    values: Floats = pd.to_numeric(frame[column], errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    return values


def _note(direction: Any, bounds: Any, directions: set[str], ranges: set[tuple[float, float]]) -> None:
    if direction is not None:
        directions.add(str(direction))
    if bounds is not None:
        low, high = bounds
        ranges.add((float(low), float(high)))
