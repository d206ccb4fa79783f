"""What a campaign is doing now: forwarded to a display, and kept in `progress.json` for who looks from outside."""

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from evalctl.runner import Watch
from evalctl.store.files import write_json
from evalctl.types import Json, Trial

EVERY = 1.0
"""Seconds between two writes, at least."""


class CampaignWatch(Watch, Protocol):
    """Who is told how a campaign goes: a run's Watch, and the steps and training stages between runs."""

    def step(self, number: int, of: int, text: str) -> None:
        """A step begins."""
        ...

    def tick(self, done: int) -> None:
        """`done` of the total that `begin` named: a training stage goes on."""
        ...


class Progress:
    """A CampaignWatch that passes everything on to `display` and keeps the newest of it in a file."""

    def __init__(self, path: Path, display: CampaignWatch, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._display = display
        self._clock = clock
        self._written = self._began = 0.0
        self._first = 0
        self._state: dict[str, Json] = {"pid": os.getpid(), "began": _now(), "stage": None, "fold": None}
        self._fold: int | None = None

    def fold(self, number: int | None) -> None:
        """What follows belongs to this fold; None for none."""
        self._fold = number

    def step(self, number: int, of: int, text: str) -> None:
        """A step begins."""
        self._fold = None
        self._state |= {"step": text, "number": number, "of": of, "stage": None, "fold": None}
        self._state |= {"done": 0, "total": 0, "left_seconds": None}
        self._write()
        self._display.step(number, of, text)

    def begin(self, label: str, total: int, done: int) -> None:
        """A run or a training stage starts."""
        self._began, self._first = self._clock(), done
        self._state |= {"stage": label, "fold": self._fold, "done": done, "total": total, "left_seconds": None}
        self._write()
        self._display.begin(label, total, done)

    def advance(self, trial: Trial) -> None:
        """One more trial has finished."""
        self._at(int(self._state.get("done", 0)) + 1)
        self._display.advance(trial)

    def tick(self, done: int) -> None:
        """A training stage has come to step `done`."""
        self._at(done)
        self._display.tick(done)

    def say(self, text: str) -> None:
        """One line a person should read."""
        self._display.say(text)

    def end(self) -> None:
        """What `begin` began is over."""
        self._display.end()

    def _at(self, done: int) -> None:
        fresh, spent = done - self._first, self._clock() - self._began
        left = spent / fresh * (int(self._state.get("total", 0)) - done) if fresh > 0 else None
        self._state |= {"done": done, "left_seconds": None if left is None else round(left, 1)}
        if self._clock() - self._written >= EVERY:
            self._write()

    def _write(self) -> None:
        self._written = self._clock()
        write_json(self._path, self._state | {"updated": _now()})


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
