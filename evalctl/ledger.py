"""Looks at sealed samples: counted, never taken back.

One look is one (suite, candidate, baseline), however often it is repeated; a refused look is spent too. The
record is `ledger/looks.jsonl`, a line a look, append-only and fsynced under a lock.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .digests import canonical
from .errors import StoreError

FILE = "looks.jsonl"


@dataclass(frozen=True)
class Look:
    """One (suite, candidate, baseline) at sealed samples."""

    suite: str
    candidate: str
    """Weights digest of the candidate; its run key where the weights could not be read (served, imported)."""
    baseline: str
    """The same of the baseline."""
    number: int
    """Which look at this suite it is, from 1."""
    budget: int | None = None
    """Looks the policy allows; None where the look was taken outside a gate (`compare`, `run`, a report)."""
    first: bool = True
    """False where the same look was taken before."""

    @property
    def refused(self) -> bool:
        """Past the budget: nothing may be shown or decided."""
        return self.budget is not None and self.number > self.budget


class Ledger:
    """The looks under one EVALCTL_HOME. Reading creates nothing."""

    def __init__(self, home: Path) -> None:
        self.path = home / "ledger" / FILE

    def entries(self) -> list[dict[str, Any]]:
        """Every look in order. Raises StoreError with the line that is not what was written."""
        if not self.path.exists():
            return []
        return _parse(self.path, self.path.read_bytes())

    def take(self, suite: str, candidate: str, baseline: str, budget: int | None = None) -> Look:
        """Count a look, before anything sealed is shown. A repeated look keeps its number and costs nothing.

        The count is by suite name, whatever its version: a larger or renumbered suite is no fresh budget.
        """
        with self._locked() as file:
            file.seek(0)
            seen = [entry for entry in _parse(self.path, file.read()) if entry["suite"] == suite]
            for entry in seen:
                if (entry["candidate"], entry["baseline"]) == (candidate, baseline):
                    return Look(suite, candidate, baseline, entry["number"], budget, first=False)
            look = Look(suite, candidate, baseline, len(seen) + 1, budget)
            line = canonical(
                {
                    "suite": suite,
                    "candidate": candidate,
                    "baseline": baseline,
                    "number": look.number,
                    "budget": budget,
                    "refused": look.refused,
                    "taken": datetime.now(UTC).isoformat(timespec="seconds"),
                }
            )
            file.seek(0, os.SEEK_END)
            file.write(line.encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
            return look

    @contextmanager
    def _locked(self) -> Iterator[Any]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file


def _parse(path: Path, data: bytes) -> list[dict[str, Any]]:
    entries = []
    for number, line in enumerate(data.splitlines(), 1):
        try:
            entry = json.loads(line)
        except ValueError:
            entry = None
        if not isinstance(entry, dict) or not entry.keys() >= {"suite", "candidate", "baseline", "number"}:
            raise StoreError(
                f"{path}:{number}: not a look as it was written; nothing sealed is read until the line is mended"
            )
        entries.append(entry)
    return entries
