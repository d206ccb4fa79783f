"""A Verdict as JSON: the one form that `--json`, the store, reports and the app read."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime

from evalctl.errors import EvidenceError
from evalctl.types import Estimate, Json

from .verdict import Decision, Finding, Verdict


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
        "created": created or verdict.created or datetime.now(UTC).isoformat(timespec="seconds"),
        "suites": [_finding(finding) for finding in verdict.findings],
        "ledger": dict(verdict.ledger),
        "reasons": list(verdict.reasons),
    }


def from_json(stored: Mapping[str, Json]) -> Verdict:
    """The verdict of `to_json`. Raises EvidenceError where `stored` has not that form."""
    try:
        return Verdict(
            decision=Decision(stored["verdict"]),
            exit=int(stored["exit"]),
            findings=tuple(_finding_of(row) for row in stored["suites"]),
            baseline=str(stored.get("baseline_name") or ""),
            candidate=str(stored.get("candidate_name") or ""),
            policy_digest=str(stored.get("policy_digest") or ""),
            improved=bool(stored.get("improved", False)),
            ledger=stored.get("ledger") or {},
            reasons=_texts(stored.get("reasons")),
            created=str(stored.get("created") or ""),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise EvidenceError(
            f"a stored verdict has not the form of `evalctl gate --json` ({type(error).__name__}: {error}); "
            "gate again, and run `evalctl store check`"
        ) from error


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


def _finding_of(row: Mapping[str, Json]) -> Finding:
    piece = row.get("slice")
    return Finding(
        name=str(row["name"]),
        decision=Decision(row["verdict"]),
        slice=None if piece is None else _slice(piece),
        metric=str(row.get("metric") or "correct"),
        tier=str(row.get("tier") or "critical"),
        improved=bool(row.get("improved", False)),
        max_drop=_figure(row.get("max_drop")),
        difference=_estimate(row.get("difference")),
        baseline=_estimate(row.get("baseline")),
        candidate=_estimate(row.get("candidate")),
        coverage=_figure(row.get("coverage")),
        errors=_numbers(row.get("errors")),
        against=str(row.get("against") or "rolling"),
        missing=_numbers(row.get("missing")),
        not_recorded=_texts(row.get("not_recorded")),
        needed=None if row.get("needed") is None else int(row["needed"]),
        reasons=_texts(row.get("reasons")),
    )


def _estimate(given: Mapping[str, Json] | None) -> Estimate | None:
    if given is None or given.get("value") is None:
        return None
    value = float(given["value"])
    # A bound that nothing limits is null in JSON.
    low = -math.inf if given["low"] is None else float(given["low"])
    high = math.inf if given["high"] is None else float(given["high"])
    return Estimate(value, low, high, int(given["n"]), int(given["clusters"]))


def _figure(given: Json) -> float | None:
    return None if given is None or not math.isfinite(given) else float(given)


def _numbers(given: Mapping[str, Json] | None) -> dict[str, float]:
    kept = {str(key): _figure(value) for key, value in (given or {}).items()}
    return {key: value for key, value in kept.items() if value is not None}


def _texts(given: Json) -> tuple[str, ...]:
    return tuple(str(text) for text in given or ())


def _slice(piece: Json) -> str:
    if isinstance(piece, Mapping):
        return ", ".join(f"{key} {value}" for key, value in piece.items())
    return str(piece)
