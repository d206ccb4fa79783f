"""Text answers: exact after normalisation, contained as whole words, token F1, and ANLS."""

from collections import Counter
from dataclasses import dataclass

from evalctl.errors import VerifierError
from evalctl.parse.stated import boxed
from evalctl.parse.text import MAX_CHARS, find_token, fold, squash, words
from evalctl.types import Completion, Metric, Sample, Score

from .options import as_text, flag, references, right, shown, wrong

_ARTICLES = frozenset(("a", "an", "the"))


@dataclass(frozen=True)
class Exact:
    """The answer is the target or one of its `aliases`, after normalisation.

    Quotes, spaces, full-width forms, composition, wrapping marks and one final full stop do not count; case counts
    only with `case: true`. Punctuation inside counts: `1.5` is not `15`.

    >>> Exact()(Sample("a", "", "Don't"), Completion(" “Don’t”. ")).value
    1.0
    """

    case: bool = False

    def __call__(self, sample: Sample, completion: Completion) -> Score:
        """Judge the whole answer."""
        if not completion.text.strip():
            return wrong("empty", "the answer is empty", "")
        case = flag(sample, "case", self.case)
        inner = boxed(completion.text)
        answer = fold(completion.text if inner is None else inner, case)
        for reference in references(sample):
            if fold(reference, case) == answer:
                return right(shown(completion.text.strip()))
        return wrong("value", "the answer is not the target", shown(completion.text.strip()))


@dataclass(frozen=True)
class Contains:
    """The target, or an alias of it, stands in the answer as whole words or numbers.

    A target list names several facts, all of which must stand there; an item that is a list names aliases of one
    fact. `no` is not in `know`, `5` is neither in `25` nor in `-5`. Metric `found`: the share of facts found.
    """

    case: bool = False

    def __call__(self, sample: Sample, completion: Completion) -> Score:
        """Judge the whole answer."""
        if not completion.text.strip():
            return wrong("empty", "the answer is empty", "", metrics={"found": Metric(0.0)})
        if len(completion.text) > MAX_CHARS:
            return wrong("too_long", f"longer than {MAX_CHARS} characters", shown(completion.text))
        case = flag(sample, "case", self.case)
        text = squash(completion.text)
        text = text if case else text.casefold()
        facts = _facts(sample)
        absent = [names[0] for names in facts if not any(find_token(text, _needle(name, case)) >= 0 for name in names)]
        metrics = {"found": Metric(1 - len(absent) / len(facts))}
        if absent:
            return wrong(
                "value", f"not in the answer: {', '.join(absent)[:200]}", shown(completion.text), metrics=metrics
            )
        return right(shown(completion.text), metrics=metrics)


def _needle(name: str, case: bool) -> str:
    return squash(name) if case else squash(name).casefold()


def _facts(sample: Sample) -> list[list[str]]:
    """Each fact as its aliases; VerifierError where there is none, since nothing stands in every answer."""
    if not isinstance(sample.target, list | tuple):
        return [references(sample)]
    facts = []
    for item in sample.target:
        names = [as_text(name) for name in (item if isinstance(item, list | tuple) else [item])]
        texts = [name for name in names if name is not None and name.strip()]
        if not texts or len(texts) != len(names):
            raise VerifierError(f"{sample.id}: every item of the target must be text, none of it empty")
        facts.append(texts)
    if not facts:
        raise VerifierError(f"{sample.id}: the target names nothing to look for")
    return facts


@dataclass(frozen=True)
class TextF1:
    """Token F1 between answer and target, the best over target and `aliases` (Rajpurkar et al. 2016, section 6.1).

    Tokens are lower-case words and whole numbers; articles and other signs are left out, but `1.5` stays a token.
    """

    def __call__(self, sample: Sample, completion: Completion) -> Score:
        """Judge the whole answer; the value is the F1."""
        if not completion.text.strip():
            return wrong("empty", "the answer is empty", "")
        given = Counter(_tokens(completion.text[:MAX_CHARS]))
        value = max(_f1(Counter(_tokens(reference)), given) for reference in references(sample))
        return Score(value, shown(completion.text), "", {"failure": None if value == 1 else "value"})


def _tokens(text: str) -> list[str]:
    found = words(text)
    kept = [word for word in found if (word[-1].isalnum() or word[-1] == "_") and word not in _ARTICLES]
    return kept or found


def _f1(want: "Counter[str]", got: "Counter[str]") -> float:
    shared = sum((want & got).values())
    return 2 * shared / (sum(want.values()) + sum(got.values())) if shared else 0.0


@dataclass(frozen=True)
class Anls:
    """Average normalised Levenshtein similarity, the best over target and `aliases` (Biten et al. 2019, equation 1).

    1 minus the distance over the longer length where that is below one half, else 0. Case and runs of white space
    do not count.

    >>> Anls()(Sample("a", "", "hello", metadata={"aliases": ["goodbye"]}), Completion("hallo")).value
    0.8
    """

    def __call__(self, sample: Sample, completion: Completion) -> Score:
        """Judge the whole answer; the value is the similarity."""
        if not completion.text.strip():
            return wrong("empty", "the answer is empty", "")
        given = squash(completion.text[:MAX_CHARS]).casefold()
        value = max(_similarity(squash(reference).casefold(), given) for reference in references(sample))
        return Score(value, shown(completion.text), "", {"failure": None if value == 1 else "value"})


def _similarity(want: str, got: str) -> float:
    longest = max(len(want), len(got))
    if want == got:
        return 1.0
    if 2 * abs(len(want) - len(got)) >= longest:
        return 0.0
    distance = edit_distance(want, got)
    return 0.0 if 2 * distance >= longest else 1 - distance / longest


def edit_distance(one: str, two: str) -> int:
    """Levenshtein distance, a row of bits at a time (Hyyrö 2003, figure 7): len(two) steps on len(one) bits.

    >>> edit_distance("kitten", "sitting")
    3
    """
    if not one or not two:
        return len(one) + len(two)
    places: dict[str, int] = {}
    for at, char in enumerate(one):
        places[char] = places.get(char, 0) | 1 << at
    full, top = (1 << len(one)) - 1, 1 << (len(one) - 1)
    up, down, distance = full, 0, len(one)
    for char in two:
        match = places.get(char, 0)
        diagonal = (((match & up) + up) ^ up) | match | down
        right_up = down | ~(diagonal | up)
        right_down = up & diagonal
        distance += bool(right_up & top) - bool(right_down & top)
        right_up = right_up << 1 | 1
        up = (right_down << 1 | ~(diagonal | right_up)) & full
        down = right_up & diagonal & full
    return distance
