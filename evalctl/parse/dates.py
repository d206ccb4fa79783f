"""Calendar dates as people write them; the order of a numeric date is declared or told as ambiguous.

>>> [read_date(t) for t in ("2024-03-05", "March 5, 2024", "5 Mar 2024", "the 5th of March 2024")]
[datetime.date(2024, 3, 5), datetime.date(2024, 3, 5), datetime.date(2024, 3, 5), datetime.date(2024, 3, 5)]
>>> read_date("03/05/2024", order="mdy"), read_date("03/05/2024").reason
(datetime.date(2024, 3, 5), 'day or month first? declare `order`: 03/05/2024')
"""

import re
from collections.abc import Sequence
from datetime import date

from .numbers import Ambiguous
from .text import MAX_CHARS, normalise

ORDERS = ("dmy", "mdy", "ymd")
_NAMES = {
    1: "january jan januar janvier enero gennaio",
    2: "february feb februar février febrero febbraio",
    3: "march mar märz mrz mars marzo",
    4: "april apr avril abril aprile",
    5: "may mai mayo maggio",
    6: "june jun juni juin junio giugno",
    7: "july jul juli juillet julio luglio",
    8: "august aug août agosto",
    9: "september sep sept septembre septiembre settembre",
    10: "october oct oktober okt octobre octubre ottobre",
    11: "november nov novembre noviembre",
    12: "december dec dezember dez décembre diciembre dicembre",
}
_MONTHS = {name: month for month, names in _NAMES.items() for name in names.split()}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATE = re.compile(
    r"(?<![0-9./-])(?:(?P<iy>[0-9]{4})(?P<is>[-/.])(?P<im>[0-9]{1,2})(?P=is)(?P<id>[0-9]{1,2})(?![0-9])"
    r"|(?P<a>[0-9]{1,2})(?P<s>[-/.])(?P<b>[0-9]{1,2})(?P=s)(?P<c>[0-9]{4}|[0-9]{2})(?![0-9])"
    rf"|(?P<d1>[0-9]{{1,2}})(?:st|nd|rd|th|\.)?[ -]?(?:of |de )?(?P<m1>{_MONTH})(?![a-zà-ÿ])"
    r"\.?,?[ -]?(?:de )?(?P<y1>[0-9]{4})"
    rf"|(?<![a-zà-ÿ])(?P<m2>{_MONTH})\.? ?(?P<d2>[0-9]{{1,2}})(?:st|nd|rd|th)?,? ?(?P<y2>[0-9]{{4}}))(?![0-9])",
    re.IGNORECASE,
)
_CUE = re.compile(r"\banswer(?: is\b|\s?[*_]{0,2}\s?[:=])", re.IGNORECASE)


def _make(year: int, month: int, day: int, text: str) -> date | Ambiguous:
    try:
        return date(year, month, day)
    except ValueError:
        return Ambiguous(text, f"no such day: {text}")


def _numeric(match: re.Match[str], order: str | None) -> date | Ambiguous:
    """A date of three numbers with the year last, or with two digits for it."""
    first, second, third, text = int(match["a"]), int(match["b"]), int(match["c"]), match[0]
    if len(match["c"]) == 2:
        return Ambiguous(text, f"a year of two digits: {text}")
    if order == "ymd":
        return Ambiguous(text, f"not in the declared order ymd: {text}")
    if order is None:
        # Only one reading has a month of at most 12; equal numbers read the same both ways.
        fits = {"dmy": second <= 12, "mdy": first <= 12}
        if all(fits.values()) and first != second:
            return Ambiguous(text, f"day or month first? declare `order`: {text}")
        order = "dmy" if fits["dmy"] else "mdy"
    day, month = (first, second) if order == "dmy" else (second, first)
    return _make(third, month, day, text)


def read_dates(text: str, order: str | None = None) -> list[date | Ambiguous]:
    """Every date of a text in order. `order` (`dmy`, `mdy`, `ymd`) is that of numeric dates."""
    if len(text) > MAX_CHARS:
        return [Ambiguous(text[:40], f"longer than {MAX_CHARS} characters")]
    found: list[date | Ambiguous] = []
    for match in _DATE.finditer(normalise(text)):
        if match["iy"]:
            found.append(_make(int(match["iy"]), int(match["im"]), int(match["id"]), match[0]))
        elif match["a"]:
            found.append(_numeric(match, order))
        else:
            name, day, year = match["m1"] or match["m2"], match["d1"] or match["d2"], match["y1"] or match["y2"]
            found.append(_make(int(year), _MONTHS[name.lower()], int(day), match[0]))
    return found


def read_date(text: str, order: str | None = None) -> date | Ambiguous:
    """The date a text states: the only one, or the only one after its last `the answer is`; else Ambiguous."""
    found = read_dates(text, order)
    if len(set(found)) > 1:
        cues = [cue.end() for cue in _CUE.finditer(text)]
        after = read_dates(text[cues[-1] :].lstrip().partition("\n")[0], order) if cues else []
        found = after or found
    return _only(found)


def _only(found: Sequence[date | Ambiguous]) -> date | Ambiguous:
    different = list(dict.fromkeys(found))
    if len(different) == 1:
        return different[0]
    if not different:
        return Ambiguous("", "no date")
    shown = ", ".join(d.text if isinstance(d, Ambiguous) else d.isoformat() for d in different[:6])
    return Ambiguous(shown, f"{len(different)} dates and no statement which is the answer: {shown}")
