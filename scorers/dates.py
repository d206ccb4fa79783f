"""Date answers: the calendar day, however it is written."""

from dataclasses import dataclass
from datetime import date

from evalctl.errors import LookupFailed, VerifierError
from evalctl.parse.dates import ORDERS, read_date
from evalctl.types import Completion, Sample, Score

from .options import as_text, right, setting, shown, wrong


@dataclass(frozen=True)
class Date:
    """Correct when the answer states the target's day. `order` (`dmy`, `mdy`, `ymd`) is that of numeric dates.

    >>> Date()(Sample("a", "", "2024-03-05"), Completion("On March 5, 2024.")).value
    1.0
    """

    order: str | None = None

    def __post_init__(self) -> None:
        if self.order is not None and self.order not in ORDERS:
            raise LookupFailed("date order", str(self.order), ORDERS)

    def __call__(self, sample: Sample, completion: Completion) -> Score:
        """Judge the stated date; an ambiguous one is wrong with the reason. VerifierError for a broken target."""
        order = setting(sample, "order", self.order)
        if order is not None and order not in ORDERS:
            raise VerifierError(f"{sample.id}: metadata `order` must be one of {', '.join(ORDERS)}, not {order!r}")
        target = read_date(as_text(sample.target) or "", order)
        if not isinstance(target, date):
            raise VerifierError(f"{sample.id}: the target is not one date: {target.reason}")
        if not completion.text.strip():
            return wrong("empty", "the answer is empty", "")
        answer = read_date(completion.text, order)
        if not isinstance(answer, date):
            return wrong(
                "no_date" if answer.reason == "no date" else "ambiguous", answer.reason, shown(completion.text)
            )
        if answer == target:
            return right(answer.isoformat())
        return wrong("value", f"{answer.isoformat()} is not {target.isoformat()}", answer.isoformat())
