"""Two runs share a key only where nothing that could change a score differs."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from evalctl.keys import import_key, run_key
from evalctl.types import RunRecord

CHANGES: list[dict[str, Any]] = [
    {"suite": {"name": "tooluse", "version": "1", "digest": "other", "n": 5, "roles": ["bench"]}},
    {"suite": {"name": "tooluse", "version": "1", "digest": "tooluse-digest", "n": 5, "roles": ["bench", "pool"]}},
    {"checkpoint": {"name": "base", "weights_digest": "others", "parent": None}},
    {"expected": (("key0", "{}", 1),)},
    {"expected": tuple((f"key{i}", "{}", 1) for i in reversed(range(5)))},
    {"scorer_digest": "s"},
    {"judge": {"scorer": "judge", "model": "b"}},
    {"prompt_digest": "p"},
    {"sampling": {"temperature": 1.0}},
    {"limits": {"seconds": 3.0}},
    {"sandbox_digest": "s"},
    {"engine": {"name": "transformers", "version": "5", "dtype": "bfloat16", "batch": 32, "threads": 2}},
    {"engine": {"name": "transformers", "version": "5", "dtype": "bfloat16", "batch": 8, "threads": 2}},
    {"seed": 1},
    {"replicate": 1},
]


def test_each_thing_that_could_change_a_score_changes_the_key(record_of: Callable[..., RunRecord]) -> None:
    base = record_of()
    keys = [run_key(base), *(run_key(replace(base, **change)) for change in CHANGES)]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    "change",
    [
        {
            "checkpoint": {
                "name": "renamed",
                "weights_digest": "weights-of-base",
                "parent": None,
                "reference": "/elsewhere",
            }
        },
        {"started": "2027-01-01T00:00:00+00:00"},
        {"seconds": 9.0},
        {"cost": 1.0},
        {"complete": True},
    ],
)
def test_what_cannot_change_a_score_leaves_the_key(change: dict[str, Any], record_of: Callable[..., RunRecord]) -> None:
    assert run_key(replace(record_of(), **change)) == run_key(record_of())


def test_the_key_of_an_import_is_its_bytes_checkpoint_and_suite(record_of: Callable[..., RunRecord]) -> None:
    source = {"format": "jsonl", "file": "a.jsonl", "digest": "abc"}
    base = record_of(source=source)
    same = replace(base, started="later", source={**source, "file": "b.jsonl"})
    others = [
        replace(base, source={**source, "digest": "abd"}),
        record_of(source=source, name="other"),
        record_of(source=source, suite="docqa"),
    ]
    assert import_key(same) == import_key(base)
    assert len({import_key(record) for record in [base, *others]}) == 4
