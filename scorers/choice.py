"""Multiple choice: the option an answer names, never a letter that happens to stand in it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from evalctl.errors import VerifierError
from evalctl.parse.stated import boxed
from evalctl.parse.text import MAX_CHARS, find_token, fold, normalise, squash
from evalctl.types import Completion, Sample, Score

from .options import as_text, right, shown, wrong

_CUE = re.compile(
    r"\b(?:answer|choice|option|antwort)(?:\s+is\b|\s+ist\b|\s?[*_]{0,2}\s?[:=])(?:\s*(?:option|choice|answer)\b)?[\s*_`(\[$:\"'\\]*",
    re.IGNORECASE,
)
_LETTER = re.compile(r"([A-Za-z])(?![A-Za-z0-9'’])")
_LEADING = re.compile(r"[\s*_`(\[\"']*([A-Z])(?:[).:\]]|[*_`\"')\]]+)(?:\s|$)")
_ALONE = re.compile(r"[\s*_`(\[\"'$]*(?:option|choice)?\s*[(\[]?([A-Za-z])[\s*_`)\]\"'.:!$]*", re.IGNORECASE)
_HEDGE = re.compile(r"[\s*_`)\].:\"']*(?:or|and|oder|und|/|,|&)[\s*_`(\[\"']*([A-Za-z])(?![A-Za-z0-9])", re.IGNORECASE)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class Choice:
    """Correct when the option that the answer names is the target's.

    The target is a letter, or a label such as `yes`. Metadata `choices` (a list of texts, lettered A, B …, or a
    mapping of label to text) lets the answer name an option by its text too; then the target may be that text.

    >>> Choice()(Sample("a", "", "B"), Completion("A cat is no answer. The answer is (B).")).value
    1.0
    >>> Choice()(Sample("a", "", "B"), Completion("A or B")).explanation
    'two options are named: A or B'
    """

    def __call__(self, sample: Sample, completion: Completion) -> Score:
        """Judge the named option; an answer that names none, or two, is wrong with the reason."""
        text = completion.text
        if not text.strip():
            return wrong("empty", "the answer is empty", "")
        options = _options(sample)
        target = _label(sample, options)
        if len(text) > MAX_CHARS:
            return wrong("too_long", f"longer than {MAX_CHARS} characters", shown(text))
        named = _named(normalise(text), options)
        if len(named) != 1:
            shown_names = " or ".join(named) or "none"
            kind, many = ("ambiguous", "two options are named") if named else ("no_choice", "no option is named")
            return wrong(kind, f"{many}: {shown_names}", shown(text))
        return right(named[0]) if named[0] == target else wrong("value", f"{named[0]} is not {target}", named[0])


def _options(sample: Sample) -> dict[str, str]:
    """Label to text; without `choices` the letters, or the target's own label."""
    choices = sample.metadata.get("choices")
    if isinstance(choices, Mapping) and choices:
        return {str(label): str(text) for label, text in choices.items()}
    if isinstance(choices, list | tuple) and 0 < len(choices) <= len(_LETTERS):
        return {_LETTERS[at]: str(text) for at, text in enumerate(choices)}
    if choices is not None:
        raise VerifierError(f"{sample.id}: metadata `choices` must be a list of at most 26 texts, or label to text")
    target = (as_text(sample.target) or "").strip()
    return dict.fromkeys(_LETTERS, "") if _is_letter(target) else {target: target}


def _is_letter(label: str) -> bool:
    return len(label) == 1 and label.upper() in _LETTERS


def _label(sample: Sample, options: Mapping[str, str]) -> str:
    """The target as a label; VerifierError where it is no option."""
    target = (as_text(sample.target) or "").strip()
    for label, text in options.items():
        if label == target or (_is_letter(target) and label == target.upper()) or (text and fold(text) == fold(target)):
            return label
    raise VerifierError(f"{sample.id}: the target {sample.target!r} is none of the choices")


def _named(text: str, options: Mapping[str, str]) -> list[str]:
    """The labels that a text names as its answer."""
    inner = boxed(text)
    if inner is not None:
        text = inner
    if all(_is_letter(label) for label in options):
        letters = _letters(text, options)
        if letters:
            return letters
    folded = fold(text)
    whole = [label for label, words in options.items() if folded in (fold(words or label), fold(f"{label} {words}"))]
    if len(whole) == 1:
        return whole
    cues = list(_CUE.finditer(text))
    part = text[cues[-1].end() :].partition("\n")[0] if cues else text
    plain = squash(part).casefold()
    names = {label: words or label for label, words in options.items() if words or not _is_letter(label)}
    standing = {label: squash(name).casefold() for label, name in names.items()}
    found = [label for label, name in standing.items() if name and find_token(plain, name) >= 0]
    # `not guilty` holds `guilty`: the longer option is the one that was named.
    return [a for a in found if not any(a != b and standing[a] in standing[b] for b in found)]


def _letters(text: str, options: Mapping[str, str]) -> list[str]:
    """The letter a text states, by itself, after `the answer is`, or in front: `B) Paris`."""
    alone = _ALONE.fullmatch(text)
    if alone and alone[1].upper() in options:
        return [alone[1].upper()]
    for cue in reversed(list(_CUE.finditer(text))):
        letter = _LETTER.match(text, cue.end())
        if letter and letter[1].upper() in options:
            return _hedged(text, letter, options)
    leading = _LEADING.match(text)
    if leading and leading[1] in options:
        return _hedged(text, leading, options)
    first = _LETTER.match(text.strip())
    hedge = _HEDGE.match(text.strip(), first.end()) if first else None
    if first and hedge and first[1].upper() in options and hedge[1].upper() in options:
        return [first[1].upper(), hedge[1].upper()]
    lines = [line for line in text.splitlines() if line.strip()]
    last = _ALONE.fullmatch(lines[-1]) if lines else None
    return [last[1].upper()] if last and last[1].upper() in options else []


def _hedged(text: str, letter: re.Match[str], options: Mapping[str, str]) -> list[str]:
    """The letter, with the second one where the answer goes on `or C`."""
    more = _HEDGE.match(text, letter.end(1))
    both = [letter[1].upper()] + ([more[1].upper()] if more and more[1].upper() in options else [])
    return list(dict.fromkeys(both))
