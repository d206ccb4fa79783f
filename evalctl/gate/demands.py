"""What a policy demands of one suite and metric, every default filled in."""

from dataclasses import dataclass
from typing import Literal

from evalctl.types import Direction, Role

Tier = Literal["critical", "supporting", "advisory"]


@dataclass(frozen=True)
class Demand:
    """One suite x metric as the policy judges it, every default filled in."""

    suite: str
    metric: str
    tier: Tier
    direction: Direction | None
    range: tuple[float, float] | None
    max_drop: float
    max_total_drop: float | None
    """None where no anchor is judged."""
    alpha: float
    """After the sealed budget, where the suite reads sealed samples."""
    roles: frozenset[str]
    min_coverage: float
    max_error_rate: float
    lenient: bool
    allow_inconclusive: bool
    require_same: tuple[str, ...]
    named_same: bool
    """True where the policy itself lists `require_same`: what neither side recorded then fails."""
    epochs: int
    must_pass: tuple[str, ...]

    @property
    def blocking(self) -> bool:
        """Whether it decides."""
        return self.tier != "advisory"

    @property
    def sealed(self) -> bool:
        """Whether judging it is a look at sealed samples."""
        return Role.SEALED in self.roles
