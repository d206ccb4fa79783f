"""A stored verdict (the JSON form of the gate) read back for people."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from evalctl.errors import EvidenceError
from evalctl.gate.verdict import Decision
from evalctl.measures import CORRECT_LIKE, FIGURES
from evalctl.types import Estimate, Json

from .words import Unit


@dataclass(frozen=True)
class FindingView:
    """One suite x slice x metric of a verdict."""

    suite: str
    decision: Decision
    slice: str | None = None
    metric: str = "correct"
    tier: str = "critical"
    improved: bool = False
    margin: float | None = None
    """The fall that is allowed (`max_drop`), at least 0; None where the verdict does not say."""
    difference: Estimate | None = None
    """Candidate minus baseline; low and high are the one-sided bounds the gate decided by."""
    baseline: Estimate | None = None
    candidate: Estimate | None = None
    coverage: float | None = None
    errors: Mapping[str, float] = field(default_factory=dict)
    against: str = "rolling"
    missing: Mapping[str, float] = field(default_factory=dict)
    """The difference with unscored trials `left_out`, counted as `zero`, in the `worst` case."""
    not_recorded: tuple[str, ...] = ()
    needed: int | None = None
    reasons: tuple[str, ...] = ()

    @property
    def decides(self) -> bool:
        """Advisory findings are shown and never decide."""
        return self.tier != "advisory"

    @property
    def news(self) -> tuple[str, ...]:
        """Reasons that say more than the figure, its interval and its margin do."""
        return tuple(reason for reason in self.reasons if not reason.startswith("max_drop:"))

    @property
    def label(self) -> str:
        """Suite, and what sets this finding apart from the whole suite's `correct`."""
        apart = [part for part in (self.slice, self.metric if self.metric != "correct" else None) if part]
        anchor = ["against the anchor"] if self.against == "anchor" else []
        return " · ".join([self.suite, *apart, *anchor])

    @property
    def unit(self) -> Unit:
        """A share by its name, or where both levels lie in [0, 1] and it is no column that counts."""
        if self.metric in CORRECT_LIKE:
            return Unit.SHARE
        levels = [e for e in (self.baseline, self.candidate) if e is not None]
        return Unit.NUMBER if self.metric in FIGURES or any(not 0 <= e.value <= 1 for e in levels) else Unit.SHARE


@dataclass(frozen=True)
class VerdictView:
    """One decision on one candidate."""

    decision: Decision
    baseline: str
    candidate: str
    findings: tuple[FindingView, ...]
    improved: bool = False
    exit: int = 0
    created: str = ""
    policy_digest: str = ""
    reasons: tuple[str, ...] = ()
    ledger: Mapping[str, Json] = field(default_factory=dict)

    @property
    def news(self) -> tuple[str, ...]:
        """Reasons that no finding gives already."""
        given = [reason for found in self.findings for reason in found.reasons]
        return tuple(reason for reason in self.reasons if not any(reason.endswith(one) for one in given))


def read(stored: Mapping[str, Json]) -> VerdictView:
    """A verdict from its JSON form; raises EvidenceError when it has not that form."""
    try:
        return VerdictView(
            decision=Decision(stored["verdict"]),
            baseline=str(stored.get("baseline_name") or "baseline"),
            candidate=str(stored.get("candidate_name") or "candidate"),
            findings=tuple(_finding(row) for row in stored["suites"]),
            improved=bool(stored.get("improved", False)),
            exit=int(stored["exit"]),
            created=str(stored.get("created") or ""),
            policy_digest=str(stored.get("policy_digest") or ""),
            reasons=_texts(stored.get("reasons")),
            ledger=stored.get("ledger") or {},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise EvidenceError(
            f"a stored verdict has not the form of `evalctl gate --json` ({type(error).__name__}: {error}); "
            "gate again, and run `evalctl store check`"
        ) from error


def _finding(row: Mapping[str, Json]) -> FindingView:
    piece = row.get("slice")
    return FindingView(
        suite=str(row["name"]),
        decision=Decision(row["verdict"]),
        slice=None if piece is None else _slice(piece),
        metric=str(row.get("metric") or "correct"),
        tier=str(row.get("tier") or "critical"),
        improved=bool(row.get("improved", False)),
        margin=_figure(row.get("max_drop")),
        difference=_estimate(row.get("difference")),
        baseline=_estimate(row.get("baseline")),
        candidate=_estimate(row.get("candidate")),
        coverage=_figure(row.get("coverage")),
        errors=_figures(row.get("errors")),
        against=str(row.get("against") or "rolling"),
        missing=_figures(row.get("missing")),
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


def _figures(given: Mapping[str, Json] | None) -> dict[str, float]:
    kept = {str(key): _figure(value) for key, value in (given or {}).items()}
    return {key: value for key, value in kept.items() if value is not None}


def _texts(given: Json) -> tuple[str, ...]:
    return tuple(str(text) for text in given or ())


def _slice(piece: Json) -> str:
    if isinstance(piece, Mapping):
        return ", ".join(f"{key} {value}" for key, value in piece.items())
    return str(piece)
