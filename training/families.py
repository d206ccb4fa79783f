"""What moved elsewhere: each measured family's difference beside whether it was trained (the interference matrix)."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from evalctl.gate.verdict_json import estimate_json
from evalctl.policy import Policy
from evalctl.stats import interval
from evalctl.stats.summary import summary
from evalctl.types import Json, Role, Run

from .gains import Pair, role_case


def families(
    policy: Policy, open_pairs: Mapping[str, Pair], trained: Mapping[str, Mapping[str, int]]
) -> list[dict[str, Json]]:
    """A row for each suite, role and family of the open runs; `trained` is suite to family to rows learned from."""
    return [
        row
        for suite, pair in open_pairs.items()
        for role in (Role.BENCH, Role.REPLAY)
        for row in _rows(policy, suite, pair, role, trained.get(suite, {}))
    ]


def _rows(policy: Policy, suite: str, pair: Pair, role: Role, trained: Mapping[str, int]) -> Iterator[dict[str, Json]]:
    frame = pair.baseline.trials
    names = frame.loc[frame["role"] == role, "family"].astype(str)
    for family in sorted(set(names)):
        kept = Pair(_of(pair.baseline, role, family), _of(pair.candidate, role, family))
        case = role_case(policy, suite, kept, role)
        totals = case.differences("left_out")
        yield {
            "suite": suite,
            "role": str(role),
            "family": family,
            "trained": family in trained,
            "baseline": estimate_json(summary(kept.baseline.trials)),
            "candidate": estimate_json(summary(kept.candidate.trials)),
            "difference": estimate_json(interval(totals, (-1.0, 1.0)) if totals.count else None),
        }


def _of(run: Run, role: Role, family: str) -> Run:
    frame = run.trials
    kept = frame[(frame["role"] == role) & (frame["family"].astype(str) == family)]
    return Run(replace(run.record, expected=None), kept)
