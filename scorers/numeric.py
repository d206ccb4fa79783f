"""Numeric answers: value, unit, scale, sign and percent kept apart; no silent factor of 100."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isfinite

from evalctl.errors import LookupFailed, VerifierError
from evalctl.parse.numbers import Ambiguous, Number, decimal_comma
from evalctl.parse.stated import only_of_kind, read_number, stated_number
from evalctl.parse.units import unit_name
from evalctl.types import Completion, Json, Sample, Score

from .options import flag, right, setting, shown, wrong

PERCENT = ("fraction", "percent", "either")


@dataclass(frozen=True)
class Numeric:
    """Correct when the number the answer states equals the target's, scale reconciled, within what the target allows.

    A target with decimals rounds the answer (half up) to its own precision; an integer target must be met exactly.
    `tolerance` (relative) widens that. The unit is checked only where both sides name one. Every option may stand
    in the sample's metadata.

    >>> Numeric()(Sample("a", "1+1", "2"), Completion("It is 2.")).value
    1.0
    >>> Numeric()(Sample("a", "", "0.125"), Completion("12.5%")).explanation
    'the answer is a percentage and the target is not; metadata `percent` says what may be reconciled'
    """

    tolerance: float = 0.0
    """Relative to the target; 0.01 accepts one percent."""
    unit: str | None = None
    """The unit the answer must not contradict; without it the target's own."""
    percent: str | None = None
    """`fraction`: both are plain fractions. `percent`: both are percentages, sign or not. `either`: 12.5% is 0.125.
    Without it the answer must be a percentage exactly where the target is one."""
    accounting: bool = False
    """Read `(42)` as -42."""
    locale: str | None = None
    """How the document writes numbers: `de` reads 1.234,50."""

    def __post_init__(self) -> None:
        _check(self.tolerance, self.percent, self.locale)

    def __call__(self, sample: Sample, completion: Completion) -> Score:
        """Judge the stated number; an ambiguous answer is wrong, with the reason. VerifierError for a broken target."""
        rules = (
            _rules(sample, self) if sample.metadata else (self.tolerance, self.percent, self.accounting, self.locale)
        )
        tolerance, percent, accounting, locale = rules
        target = _target(sample.target, locale, accounting)
        if isinstance(target, str):
            raise VerifierError(f"{sample.id}: the target is not one number: {target}")
        text = completion.text
        if not text.strip():
            return wrong("empty", "the answer is empty", "")
        unit = _wanted_unit(sample, target, setting(sample, "unit", self.unit))
        answer = stated_number(text, locale, accounting)
        if isinstance(answer, Ambiguous) and (target.percent or percent == "percent" or unit):
            asked = only_of_kind(text, lambda n: n.percent if unit is None else n.unit == unit, locale, accounting)
            answer = asked or answer
        if isinstance(answer, Ambiguous):
            kind = "no_number" if answer.reason == "no number" else "ambiguous"
            return wrong(kind, answer.reason, shown(text))
        fault = _differ(target, answer, tolerance, percent)
        if not fault and unit and answer.unit and answer.unit != unit:
            fault = "unit", f"the unit is {answer.unit}, not {unit}"
        if fault:
            return wrong(fault[0], fault[1], answer.text.strip())
        return right(answer.text.strip())


def _check(tolerance: object, percent: object, locale: object) -> None:
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not 0 <= tolerance < 1:
        raise ValueError(f"tolerance must be a number in [0, 1), not {tolerance!r}")
    if percent is not None and percent not in PERCENT:
        raise LookupFailed("percent policy", str(percent), PERCENT)
    if locale is not None:
        decimal_comma(str(locale))


def _rules(sample: Sample, own: Numeric) -> tuple[float, str | None, bool, str | None]:
    """The settings of one sample; VerifierError where its metadata says what cannot be."""
    tolerance, percent = setting(sample, "tolerance", own.tolerance), setting(sample, "percent", own.percent)
    locale = setting(sample, "locale", own.locale)
    try:
        _check(tolerance, percent, locale)
    except (ValueError, LookupFailed) as error:
        raise VerifierError(f"{sample.id}: metadata: {error}") from None
    return float(tolerance), percent, flag(sample, "accounting", own.accounting), locale


def _target(target: Json, locale: str | None, accounting: bool) -> Number | str:
    """The target's number, or why it is none."""
    if isinstance(target, bool) or not isinstance(target, int | float | str):
        return repr(target)[:80]
    if isinstance(target, float) and not isfinite(target):
        return "not finite"
    return _read_target(target, type(target) is str, locale, accounting)


@lru_cache(4096)
def _read_target(target: int | float | str, is_text: bool, locale: str | None, accounting: bool) -> Number | str:
    if not is_text:
        assert not isinstance(target, str)
        text = repr(target)
        mantissa, _, exponent = text.partition("e")
        decimals = len(mantissa.partition(".")[2]) - int(exponent or 0)
        # 134.0 is a whole number that passed through a float, not one measured to a tenth.
        whole = float(target).is_integer()
        return Number(text, 0, len(text), Fraction(text), 0 if whole else max(0, decimals))
    read = read_number(str(target), locale, accounting)
    other = read_number(str(target), None, accounting) if decimal_comma(locale) else read
    if isinstance(read, Number) and isinstance(other, Number) and read.amount != other.amount:
        return f"{target!r} is one number in the locale {locale} and another in English; write it as a JSON number"
    return f"{read.reason} in {target!r}" if isinstance(read, Ambiguous) else read


def _differ(target: Number, answer: Number, tolerance: float, percent: str | None) -> tuple[str, str] | None:
    """How the answer's number differs from the target's: kind and words, or None where it does not."""
    want, got, percents = target.amount, answer.amount, 1
    if percent == "either":
        percents = 100 if target.percent else 1
        want = want / percents
        got = got / 100 if answer.percent else got
    elif percent == "fraction" and (answer.percent or target.percent):
        return "percent", "a fraction is asked for and a percentage stands there"
    elif percent is None and target.percent != answer.percent:
        which, other = ("answer", "target") if answer.percent else ("target", "answer")
        why = f"the {which} is a percentage and the {other} is not; metadata `percent` says what may be reconciled"
        return "percent", why
    if want == got or (tolerance and abs(got - want) <= Fraction(tolerance) * abs(want)):
        return None
    if target.decimals:
        # The target is a whole number of its own last places, so rounding half up to it means -1/2 <= off < 1/2.
        off = abs(got) - abs(want)
        places = 2 * off.numerator * 10**target.decimals * percents
        half = off.denominator * target.scale
        if -half <= places < half and ((got >= 0) == (want >= 0) or not want):
            return None
        if target.decimals > 12 and abs(got - want) <= abs(want) / 10**12:
            return None  # the target carries the noise of binary floats
    stands, wanted = answer.text.strip(), target.text.strip()
    if got == -want:
        return "sign", f"the sign is wrong: {stands} for {wanted}"
    ratio = got / want if want else Fraction(0)
    if (ratio.denominator == 1 and ratio.numerator in _FACTORS) or (
        ratio.numerator == 1 and ratio.denominator in _FACTORS
    ):
        return "scale", f"off by a factor: {stands} for {wanted}"
    return "value", f"{stands} is not {wanted}"


_FACTORS = frozenset(10**power for power in (1, 2, 3, 6, 9, 12))


def _wanted_unit(sample: Sample, target: Number, declared: object) -> str | None:
    """The unit that the answer must not contradict, by its one name where it has one."""
    if declared is None:
        return target.unit
    if not isinstance(declared, str) or not declared.strip():
        raise VerifierError(f"{sample.id}: metadata `unit` must be text, not {declared!r}")
    return unit_name(declared) or declared.strip()
