"""What the gate says: one object; text, JSON, JUnit and the exit status are derived from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from evalctl.types import Estimate, Json


class Decision(StrEnum):
    """Worst first, the order in which they decide overall."""

    INVALID = "INVALID"
    """This comparison says nothing: a precondition failed, and the reasons name it."""
    REGRESSED = "REGRESSED"
    """The candidate is worse: its upper bound is below zero and the fall is at least the margin."""
    INCONCLUSIVE = "INCONCLUSIVE"
    """The interval spans the margin: more samples or epochs would decide it."""
    PASS = "PASS"  # noqa: S105 - a verdict, not a password
    """The candidate is not worse by the margin or more: its lower bound lies above it."""


@dataclass(frozen=True)
class Finding:
    """One suite x slice x metric against one baseline (rolling or anchor)."""

    name: str
    """The suite."""
    decision: Decision
    slice: str | None = None
    metric: str = "correct"
    tier: str = "critical"
    improved: bool = False
    max_drop: float | None = None
    difference: Estimate | None = None
    """Candidate minus baseline, sign turned so that higher is better; low and high are one-sided bounds."""
    baseline: Estimate | None = None
    candidate: Estimate | None = None
    coverage: float | None = None
    """The worse side's share of expected (content key, variant, epoch) with any trial."""
    errors: Mapping[str, float] = field(default_factory=dict)
    """`baseline` and `candidate`: share not scored for reasons that are not the model's."""
    against: str = "rolling"
    missing: Mapping[str, float] = field(default_factory=dict)
    """The difference with unscored trials `left_out`, counted as `zero`, and in the `worst` case."""
    not_recorded: tuple[str, ...] = ()
    needed: int | None = None
    """Further samples (clusters) that would decide an INCONCLUSIVE."""
    reasons: tuple[str, ...] = ()
    """Each begins with the name of the rule that fired: `coverage: …`."""

    @property
    def decides(self) -> bool:
        """Advisory findings are shown and never decide."""
        return self.tier != "advisory"


@dataclass(frozen=True)
class Verdict:
    """The whole decision on one candidate."""

    decision: Decision
    exit: int
    """The exit status of the contract: 0, 1, 3 or 4."""
    findings: tuple[Finding, ...]
    baseline: str = ""
    candidate: str = ""
    policy_digest: str = ""
    improved: bool = False
    ledger: Mapping[str, Json] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    created: str = ""
    """ISO 8601, UTC; empty until it is written down."""
