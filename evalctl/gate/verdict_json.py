"""A Verdict as JSON: the one form that `--json`, the store, reports and the app read."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime

from evalctl.types import Estimate, Json

from .verdict import Finding, Verdict


def to_json(verdict: Verdict, created: str | None = None) -> dict[str, Json]:
    """The form of the contract. `created` is ISO 8601 in UTC, now where it is not given. A bound that is infinite
    (nothing limits it) is null."""
    return {
        "schema": 1,
        "verdict": str(verdict.decision),
        "exit": verdict.exit,
        "improved": verdict.improved,
        "baseline_name": verdict.baseline,
        "candidate_name": verdict.candidate,
        "policy_digest": verdict.policy_digest,
        "created": created or datetime.now(UTC).isoformat(timespec="seconds"),
        "suites": [_finding(finding) for finding in verdict.findings],
        "ledger": dict(verdict.ledger),
        "reasons": list(verdict.reasons),
    }


def estimate_json(estimate: Estimate | None) -> dict[str, Json] | None:
    """`value`, `low`, `high`, `n`, `clusters`; what is not finite is null."""
    if estimate is None:
        return None
    return {
        "value": finite(estimate.value),
        "low": finite(estimate.low),
        "high": finite(estimate.high),
        "n": estimate.n,
        "clusters": estimate.clusters,
    }


def finite(value: float | None) -> float | None:
    """The value, or None where JSON cannot say it."""
    return value if value is not None and math.isfinite(value) else None


def _finding(finding: Finding) -> dict[str, Json]:
    return {
        "name": finding.name,
        "slice": finding.slice,
        "metric": finding.metric,
        "tier": finding.tier,
        "verdict": str(finding.decision),
        "improved": finding.improved,
        "max_drop": finding.max_drop,
        "difference": estimate_json(finding.difference),
        "baseline": estimate_json(finding.baseline),
        "candidate": estimate_json(finding.candidate),
        "coverage": finding.coverage,
        "errors": _figures(finding.errors, ("baseline", "candidate")),
        "against": finding.against,
        "missing": _figures(finding.missing, ("left_out", "zero", "worst")),
        "not_recorded": list(finding.not_recorded),
        "needed": finding.needed,
        "reasons": list(finding.reasons),
    }


def _figures(figures: Mapping[str, float], always: tuple[str, ...]) -> dict[str, Json]:
    return dict.fromkeys(always) | {name: finite(value) for name, value in figures.items()}
