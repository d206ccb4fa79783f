"""Three-valued rewards from the suites' own scorers: a finite number in [0, 1], or None where nothing could be said.

Verification runs in a process of its own, one item at a time with a time limit. An item past its limit, or whose
verifier dies, is invalid, and the process is killed and started anew; the others go on. Invalid is dropped, never 0.
"""

import contextlib
import json
import math
import os
import selectors
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import TracebackType

from evalctl.errors import ResourceError
from evalctl.types import Json, Sample, ScorerSpec
from suites.export import row_of

START_SECONDS = 60.0
"""For the process to import its scorers."""


class Rewards:
    """Use it with `with`; calling it gives one reward an item."""

    def __init__(self, scorers: Mapping[str, ScorerSpec], seconds: float) -> None:
        self._scorers = {suite: {"name": spec.name, "options": dict(spec.options)} for suite, spec in scorers.items()}
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._read = b""
        self.invalid: Counter[str] = Counter()
        """Reason to how many items had no reward."""

    def __enter__(self) -> "Rewards":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._kill()

    def __call__(self, items: Sequence[tuple[str, Sample, str]]) -> list[float | None]:
        """The reward of each (suite, sample, completion), in order."""
        return [self._one(*item) for item in items]

    def _one(self, suite: str, sample: Sample, completion: str) -> float | None:
        placed = replace(sample, cluster=sample.cluster or sample.id)
        answer = self._asked({"suite": suite, "sample": row_of(placed), "completion": completion})
        reward, why = answer.get("reward"), answer.get("why")
        if why is None and not _is_reward(reward):
            why = f"{reward!r} is no number in [0, 1]"
        if why is not None:
            self.invalid[str(why).split(":")[0]] += 1
            return None
        return float(answer["reward"])

    def _asked(self, question: dict[str, Json]) -> dict[str, Json]:
        try:
            process = self._process or self._start()
            answer = self._exchange(process, question, self._seconds)
        except BrokenPipeError:
            answer = None
        if answer is None:
            died = self._process is not None and self._process.poll() is not None
            self._kill()
            return {"why": "killed" if died else "timeout"}
        return answer

    def _start(self) -> "subprocess.Popen[bytes]":
        # Its standard error is not shown: what a verifier prints about hostile text is no message of ours.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "training.reward_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._read = b""
        if self._exchange(self._process, {"scorers": self._scorers}, START_SECONDS) is None:
            self._kill()
            raise ResourceError(
                "the process that verifies rewards does not start; `evalctl doctor` says what is missing"
            )
        return self._process

    def _exchange(
        self, process: "subprocess.Popen[bytes]", question: dict[str, Json], seconds: float
    ) -> dict[str, Json] | None:
        """The answer to one line; None where none came in time, or the process has died."""
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(question).encode() + b"\n")
        process.stdin.flush()
        end = time.monotonic() + seconds
        with selectors.DefaultSelector() as ready:
            ready.register(process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._read:
                left = end - time.monotonic()
                if left <= 0 or not ready.select(left):
                    return None
                part = os.read(process.stdout.fileno(), 65536)
                if not part:
                    process.wait()
                    return None
                self._read += part
        line, _, self._read = self._read.partition(b"\n")
        answer = json.loads(line)
        return answer if isinstance(answer, dict) else None

    def _kill(self) -> None:
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # the worker leads a group: a scorer's children die with it
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue
        self._process = None


def _is_reward(value: Json) -> bool:
    """A finite number in the verifiers' range."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and 0 <= value <= 1
