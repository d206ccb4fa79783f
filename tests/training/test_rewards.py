"""Three-valued rewards: a verifier that hangs, dies or cannot say is invalid, and the others go on."""

import os
import signal

import pytest

from evalctl.types import Sample, ScorerSpec
from training.rewards import Rewards

EXACT = {"words": ScorerSpec("exact")}


def asked(text: str, target: str = "yes") -> tuple[str, Sample, str]:
    return ("words", Sample("a", "?", target), text)


def test_right_is_one_and_wrong_is_zero() -> None:
    with Rewards(EXACT, 10) as judge:
        assert judge([asked("yes"), asked("no")]) == [1.0, 0.0]
        assert not judge.invalid


def test_a_verifier_that_cannot_judge_is_invalid_and_never_zero() -> None:
    with Rewards({"sums": ScorerSpec("numeric"), **EXACT}, 10) as judge:
        found = judge([("sums", Sample("a", "?", "no number"), "3"), asked("yes")])
    assert found == [None, 1.0]
    assert judge.invalid == {"verifier_error": 1}


def test_a_killed_verifier_loses_its_item_alone() -> None:
    with Rewards(EXACT, 10) as judge:
        assert judge([asked("yes")]) == [1.0]
        assert judge._process is not None
        os.kill(judge._process.pid, signal.SIGKILL)
        judge._process.wait()
        assert judge([asked("yes"), asked("no")]) == [None, 0.0]
        assert judge.invalid == {"killed": 1}


def test_a_verifier_that_hangs_is_killed_within_its_limit_and_the_next_item_is_judged() -> None:
    with Rewards(EXACT, 0.5) as judge:
        assert judge([asked("yes")]) == [1.0]
        assert judge._process is not None
        os.kill(judge._process.pid, signal.SIGSTOP)
        assert judge([asked("yes")]) == [None]
        assert judge.invalid == {"timeout": 1}
        assert judge([asked("yes")]) == [1.0]


def test_no_process_is_left_behind() -> None:
    with Rewards(EXACT, 10) as judge:
        judge([asked("yes")])
        assert judge._process is not None
        pid = judge._process.pid
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
