"""A verdict as people read it: the gate's own, with the words that reports add."""

from collections.abc import Mapping
from dataclasses import dataclass

from evalctl.gate.verdict import Finding, Verdict
from evalctl.gate.verdict_json import from_json
from evalctl.measures import CORRECT_LIKE, FIGURES
from evalctl.types import Json

from .words import Unit


@dataclass(frozen=True)
class FindingView(Finding):
    """One suite x slice x metric of a verdict."""

    @property
    def news(self) -> tuple[str, ...]:
        """Reasons that say more than the figure, its interval and its margin do."""
        return tuple(reason for reason in self.reasons if not reason.startswith("max_drop:"))

    @property
    def label(self) -> str:
        """Suite, and what sets this finding apart from the whole suite's `correct`."""
        apart = [part for part in (self.slice, self.metric if self.metric != "correct" else None) if part]
        anchor = ["against the anchor"] if self.against == "anchor" else []
        return " · ".join([self.name, *apart, *anchor])

    @property
    def unit(self) -> Unit:
        """A share by its name, or where both levels lie in [0, 1] and it is no column that counts."""
        if self.metric in CORRECT_LIKE:
            return Unit.SHARE
        levels = [e for e in (self.baseline, self.candidate) if e is not None]
        return Unit.NUMBER if self.metric in FIGURES or any(not 0 <= e.value <= 1 for e in levels) else Unit.SHARE


@dataclass(frozen=True)
class VerdictView(Verdict):
    """One decision on one candidate."""

    findings: tuple[FindingView, ...]

    @property
    def news(self) -> tuple[str, ...]:
        """Reasons that no finding gives already."""
        given = [reason for found in self.findings for reason in found.reasons]
        return tuple(reason for reason in self.reasons if not any(reason.endswith(one) for one in given))


def read(stored: Mapping[str, Json]) -> VerdictView:
    """A verdict from its JSON form; raises EvidenceError when it has not that form."""
    made = from_json(stored)
    findings = tuple(FindingView(**vars(finding)) for finding in made.findings)
    names = {"baseline": made.baseline or "baseline", "candidate": made.candidate or "candidate"}
    return VerdictView(**{**vars(made), **names, "findings": findings})
