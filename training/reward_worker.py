"""The process that verifies: a JSON line in, a JSON line out. It holds scorers and nothing else, and may be killed.

In:  {"suite", "sample", "completion"}, after a first line {"scorers": {suite: {"name", "options"}}}.
Out: {"reward": number or null, "why": text or null}
"""

import asyncio
import json
import os
import sys
from typing import TextIO

from evalctl.errors import DataError
from evalctl.judging import judge
from evalctl.lookup import find
from evalctl.types import Completion, Json, SandboxScorer, Scorer, Status
from suites.rows import sample_of


def main() -> None:
    """Until standard input ends."""
    # What a scorer prints must not stand among the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    told = json.loads(sys.stdin.readline())["scorers"]
    scorers = {suite: find("scorers", one["name"])(**one["options"]) for suite, one in told.items()}
    _say(answers, {"ready": True})
    for line in sys.stdin:
        asked = json.loads(line)
        _say(answers, _verified(scorers[asked["suite"]], asked))


def _verified(scorer: Scorer | SandboxScorer, asked: Json) -> dict[str, Json]:
    try:
        sample = sample_of(asked["sample"], "reward")
    except DataError as unreadable:
        return {"reward": None, "why": f"unreadable sample: {unreadable}"}
    status, score, error = asyncio.run(judge(scorer, sample, Completion(asked["completion"]), None))
    if status is not Status.OK:
        return {"reward": None, "why": f"{status}: {error}"}
    return {"reward": score.value, "why": None}


def _say(answers: TextIO, answer: dict[str, Json]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
