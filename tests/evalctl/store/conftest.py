"""Records and trials small enough to read, for the store's tests."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalctl.keys import run_key
from evalctl.store import Store
from evalctl.types import RunRecord, Trial


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "home")


@pytest.fixture
def record_of() -> Callable[..., RunRecord]:
    """A record of `n` expected trials of checkpoint `name`; other fields as given."""

    def make(
        n: int = 5, name: str = "base", weights: str | None = None, suite: str = "tooluse", **fields: Any
    ) -> RunRecord:
        roles, version = fields.pop("roles", ["bench"]), fields.pop("digest", f"{suite}-digest")
        record = RunRecord(
            key="",
            suite={"name": suite, "version": "1", "digest": version, "n": n, "roles": roles},
            checkpoint={"name": name, "weights_digest": weights or f"weights-of-{name}", "parent": None},
            sampling={"temperature": 0.0},
            expected=tuple((f"key{i}", "{}", 1) for i in range(n)),
            started="2026-01-01T00:00:00.000000+00:00",
            **fields,
        )
        return replace(record, key=run_key(record))

    return make


@pytest.fixture
def trial_of() -> Callable[..., Trial]:
    """The i-th trial; other fields as given."""

    def make(i: int = 0, **fields: Any) -> Trial:
        given: dict[str, Any] = {
            "cluster": f"cluster{i}",
            "score": float(i % 2),
            "range": (0.0, 1.0),
            "metrics": {"f1": {"value": 0.5, "direction": "higher", "range": [0.0, 1.0]}},
            **fields,
        }
        return Trial("tooluse", "tooluse-digest", f"sample{i}", f"key{i}", **given)

    return make


@pytest.fixture
def finished(store: Store, record_of: Callable[..., RunRecord], trial_of: Callable[..., Trial]) -> Callable[..., str]:
    """Make a finished run and return its key."""

    def make(n: int = 5, complete: bool = True, **fields: Any) -> str:
        record = record_of(n, **fields)
        with store.begin(record) as writer:
            writer.append(*(trial_of(i) for i in range(n)))
            writer.finish(complete, 1.0)
        return record.key

    return make
