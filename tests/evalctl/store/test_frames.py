"""Trials keep every value on their way through frames, JSON and Parquet; unscored and NaN stay apart."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalctl.errors import DataError, StoreError
from evalctl.store.columns import MOST_METRICS, NAMES, read_trials, write_trials
from evalctl.store.frames import not_finite, to_frame, to_trials, trial_from_json, trial_to_json
from evalctl.types import Trial

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
figure = st.floats(allow_nan=False, allow_infinity=False)
whole = st.integers(0, 2**53)
value = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | figure | text
metric = st.fixed_dictionaries({"value": st.none() | figure, "direction": st.sampled_from(["higher", "lower"])})
trials = st.builds(
    Trial,
    suite=text,
    suite_digest=st.none() | text,
    sample_id=text,
    content_key=text,
    shard=st.none() | whole,
    variant=st.dictionaries(st.sampled_from(["context", "attempt"]), st.integers(0, 9) | text, max_size=2),
    context_tokens=st.none() | whole,
    epoch=st.integers(0, 99),
    score=st.none() | figure,
    direction=st.none() | st.sampled_from(["higher", "lower"]),
    range=st.none() | st.just((0.0, 1.0)),
    metrics=st.dictionaries(text, metric, max_size=2),
    answer=st.none() | text,
    truncated=st.booleans(),
    seconds=st.none() | figure,
    error=st.none() | text,
    metadata=st.dictionaries(text, value, max_size=3),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(trials, max_size=4))
def test_trials_come_back_from_a_frame_as_they_were(given_trials: list[Trial]) -> None:
    assert to_trials(to_frame(given_trials)) == given_trials


@settings(max_examples=60, deadline=None)
@given(trials)
def test_a_trial_comes_back_from_its_json_line(trial: Trial) -> None:
    assert trial_from_json(json.loads(json.dumps(trial_to_json(trial)))) == trial


def test_trials_come_back_from_parquet_across_row_groups(tmp_path: Path, trial_of: Callable[..., Trial]) -> None:
    many = [trial_of(i, metrics={f"m{i % 3}": {"value": i / 7}}, answer="x" * 20) for i in range(4_500)]
    assert write_trials(tmp_path / "t.parquet", iter(many)) == 4_500
    assert list(read_trials(tmp_path / "t.parquet")) == many
    frame = pd.read_parquet(tmp_path / "t.parquet")
    assert list(frame.columns[-3:]) == ["metrics.m0", "metrics.m1", "metrics.m2"]
    assert frame["metrics.m1"].notna().sum() == 1_500


def test_columns_and_types_do_not_depend_on_the_rows(trial_of: Callable[..., Trial]) -> None:
    empty, full = to_frame([]), to_frame([trial_of()])
    assert list(empty.columns) == [*NAMES, "unfit"]
    assert [*empty.dtypes] == [*full.dtypes[: len(empty.columns)]]


@pytest.mark.parametrize(("score", "named"), [(math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity")])
def test_a_score_that_is_not_finite_is_told_from_one_that_is_not_there(
    score: float, named: str, trial_of: Callable[..., Trial], tmp_path: Path
) -> None:
    frame = to_frame([trial_of(0, score=None), trial_of(1, score=score), trial_of(2, score=1.0)])
    assert not_finite(frame).tolist() == [False, True, False]
    assert frame["unfit"].tolist()[1] == f"score: not finite: {named}"
    assert frame["unfit"].isna().tolist() == [True, False, True]
    back = to_trials(frame)
    assert back[0].score is None
    assert repr(back[1].score) == repr(score)
    write_trials(tmp_path / "t.parquet", back)
    again = [trial.score for trial in read_trials(tmp_path / "t.parquet")]
    assert again[0] is None
    assert repr(again[1]) == repr(score)


def test_a_metric_that_is_not_finite_is_named_and_comes_back(trial_of: Callable[..., Trial]) -> None:
    odd = {"f1": {"value": math.nan}, "g": {"value": None}, "a; score": {"value": math.inf}}
    frame = to_frame([trial_of(0, metrics=odd)])
    assert not_finite(frame, "metrics.f1").tolist() == [True]
    assert not_finite(frame, "metrics.g").tolist() == [False]
    assert not_finite(frame, "metrics.a; score").tolist() == [True]
    assert json.loads(frame["metrics"][0])["f1"]["value"] == "NaN"
    (back,) = to_trials(frame)
    assert math.isnan(back.metrics["f1"]["value"])
    assert back.metrics["a; score"]["value"] == math.inf


def test_a_frame_made_by_hand_without_the_column_is_all_fit() -> None:
    assert not_finite(pd.DataFrame({"score": [1.0, None]})).tolist() == [False, False]


def test_what_no_file_can_hold_is_replaced_and_nothing_fails(tmp_path: Path, trial_of: Callable[..., Trial]) -> None:
    odd = trial_of(
        0, answer="a\ud800b", metadata={"k\udfff": [math.nan, "\ud83d\ude00"]}, metrics={"m\ud800": {"value": 1}}
    )
    write_trials(tmp_path / "t.parquet", [odd])
    (back,) = read_trials(tmp_path / "t.parquet")
    assert back.answer == "a\ufffdb"
    assert back.metadata == {"k\ufffd": ["NaN", "\U0001f600"]}
    assert to_frame([odd])["answer"][0] == "a\ufffdb"


def test_a_metric_name_is_a_column_and_not_a_value(tmp_path: Path, trial_of: Callable[..., Trial]) -> None:
    names = ({f"m{i}": {"value": 1.0}} for i in range(MOST_METRICS + 1))
    with pytest.raises(DataError, match="distinct metric names"):
        write_trials(tmp_path / "t.parquet", (trial_of(i, metrics=m) for i, m in enumerate(names)))


@pytest.mark.parametrize("change", [{"scroe": 1}, {"sample_id": ...}])
def test_a_line_that_is_no_trial_is_refused(change: dict[str, Any], trial_of: Callable[..., Trial]) -> None:
    data = {name: v for name, v in {**trial_to_json(trial_of()), **change}.items() if v is not ...}
    with pytest.raises(StoreError, match="not a trial"):
        trial_from_json(data)
