"""Exact and n-gram matching: where a text holds a measured sample's own text.

A sample's own text is its question (the messages without the suite's prefix), its target (`arguments` where it is
tool calls) and its files. Compared are folded tokens (`folding.py`):

- A part of at least `n` tokens matches where any run of `n` tokens is the same; the evidence is the longest run
  around it. 13 is the usual length (Brown et al. 2020, appendix C).
- A shorter part matches whole, at token bounds and with the same operators between numbers: `123 456` is not in
  `0123 4567`, nor `457+580=` in `123+457=580`.
- A short answer proves nothing, since `8` stands everywhere: a part counts when it is the input and has at least
  two tokens, or when it is anything else and has at least `SHORTEST`.
- A run that stands in many clusters of its suite (`FEWEST_CLUSTERS`, `TEMPLATE_SHARE`) is the suite's template and
  says nothing about one sample; it is subtracted.

No hit means that nothing was found by this method, not that a text is clean: a paraphrase is missed, and samples
with no part that could be found are listed as `unauditable`.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from evalctl.types import Json, Message, Sample, Suite

from .folding import Span, Tokens, tokens

SHORTEST = 5
"""Tokens that a part other than the input needs."""

FEWEST_CLUSTERS = 3
TEMPLATE_SHARE = 0.01
"""A run in at least so many clusters, and in more than this share of the suite's, is template."""

LONGEST_EVIDENCE = 200
"""Characters of evidence shown."""

Run = tuple[str, ...]


@dataclass(frozen=True)
class Hit:
    """Evidence that a text holds a measured sample's own text."""

    text_id: str
    suite: str
    sample_id: str
    role: str
    part: str
    """`input`, `message` (one of several of the input), `arguments`, `target` or `file`."""
    kind: str
    """`whole`: all of the part, verbatim after folding; `ngram`: at least n tokens of it."""
    evidence: str
    """The matching stretch as it stands in the text, cut after 200 characters."""
    span: Span
    """Characters in the text."""
    sample_span: Span
    """Characters in the sample's part."""


@dataclass(frozen=True)
class Part:
    """One of a sample's own texts."""

    suite: str
    sample_id: str
    role: str
    cluster: str
    name: str
    tokens: Tokens

    @property
    def counts(self) -> bool:
        """Whether its text alone could be evidence."""
        return len(self.tokens.words) >= (2 if self.name == "input" else SHORTEST)

    def runs(self, n: int) -> Iterator[tuple[int, Run]]:
        """(place, run) of all runs of `n` tokens; a shorter part is one run."""
        words = self.tokens.words
        for place in range(max(1, len(words) - n + 1)):
            yield place, words[place : place + n]


@dataclass(frozen=True)
class _Seeds:
    """Runs to the places in parts where they stand."""

    n: int
    places: Mapping[Run, Sequence[tuple[Part, int]]]
    lengths: Mapping[Run, Sequence[int]]
    """The first two tokens of a run to the lengths of runs that begin so: most places of a text begin none."""

    @classmethod
    def of(cls, n: int, parts: Iterable[Part]) -> "_Seeds":
        places: dict[Run, list[tuple[Part, int]]] = defaultdict(list)
        lengths: dict[Run, set[int]] = defaultdict(set)
        for part in parts:
            for place, run in part.runs(n):
                held = places[run]
                # Once a part: text that repeats itself would else match itself at every pair of places.
                if not held or held[-1][0] is not part:
                    held.append((part, place))
                lengths[run[:2]].add(len(run))
        return cls(n, dict(places), {start: sorted(found) for start, found in lengths.items()})

    def without(self, runs: set[Run]) -> "_Seeds":
        return _Seeds(self.n, {run: held for run, held in self.places.items() if run not in runs}, self.lengths)

    def found(self, words: Run) -> Iterator[tuple[int, Run]]:
        """(place, run) of every known run in a text."""
        for at, start in enumerate(pairwise(words)):
            for length in self.lengths.get(start, ()):
                run = words[at : at + length]
                if len(run) == length and run in self.places:
                    yield at, run


@dataclass(frozen=True)
class Index:
    """The own texts of all that is measured; built once, read often."""

    n: int
    seeds: tuple[_Seeds, ...]
    """One a suite: what is template in one may be a sample of another."""
    unauditable: tuple[tuple[str, str], ...]
    """(suite, sample id) of samples that this method cannot find: too short, or all template."""

    @classmethod
    def of(cls, suites: Iterable[Suite], n: int = 13) -> "Index":
        """Read every sample of the suites. Raises ValueError when `n` is under 2."""
        if n < 2:
            raise ValueError(f"n-grams of {n} token(s) are single words, which are no evidence; use 8 or 13")
        seeds, unauditable = [], []
        for suite in suites:
            parts = [part for sample in suite.samples for part in _parts(suite.name, sample, n)]
            made = _Seeds.of(n, (part for part in parts if part.counts))
            made = made.without(_template(parts, made))
            found = {part.sample_id for held in made.places.values() for part, _ in held}
            seeds.append(made)
            unauditable += [(suite.name, sample.id) for sample in suite.samples if sample.id not in found]
        return cls(n, tuple(seeds), tuple(unauditable))

    def hits(self, text_id: str, text: str) -> list[Hit]:
        """Every stretch of `text` that stands in a sample, in the order of the text; overlaps are one stretch."""
        read = tokens(text)
        found = [_hit(text_id, read, *match) for seeds in self.seeds for match in _matches(seeds, read)]
        return sorted(found, key=lambda hit: (hit.span, hit.suite, hit.sample_id, hit.part))


def _matches(seeds: _Seeds, read: Tokens) -> Iterator[tuple[Part, int, int, int]]:
    """(part, first token in the text, first token in the part, how many)."""
    covered: dict[int, int] = {}
    for at, run in seeds.found(read.words):
        for part, place in seeds.places[run]:
            if covered.get(id(part), 0) >= at + len(run):
                continue
            if len(run) < seeds.n:
                start, first, length = at, place, len(run)
                if not _same_expression(part.tokens, read, at):
                    continue
            else:
                start, first, length = _longest(read.words, part.tokens.words, at, place)
            covered[id(part)] = start + length
            yield part, start, first, length


def _longest(text: Run, own: Run, at: int, place: int) -> tuple[int, int, int]:
    """The seed stretched both ways, over template text too, as far as the tokens are the same."""
    start, first = at, place
    while start and first and text[start - 1] == own[first - 1]:
        start, first = start - 1, first - 1
    length = at - start
    while start + length < len(text) and first + length < len(own) and text[start + length] == own[first + length]:
        length += 1
    return start, first, length


def _same_expression(own: Tokens, read: Tokens, at: int) -> bool:
    """In a short item the operators between its numbers belong to the item, and its numbers end where they end."""
    count = len(own.words)
    return own.operators(0, count) == read.operators(at, at + count) and not read.cuts_a_number(at, at + count)


def _hit(text_id: str, read: Tokens, part: Part, start: int, first: int, length: int) -> Hit:
    span = read.span(start, start + length)
    return Hit(
        text_id=text_id,
        suite=part.suite,
        sample_id=part.sample_id,
        role=part.role,
        part=part.name,
        kind="whole" if length == len(part.tokens.words) else "ngram",
        evidence=read.text[slice(*span)][:LONGEST_EVIDENCE],
        span=span,
        sample_span=part.tokens.span(first, first + length),
    )


def _template(parts: Sequence[Part], seeds: _Seeds) -> set[Run]:
    """Runs that stand in too many of the suite's clusters to be any sample's own."""
    clusters: dict[Run, set[str]] = defaultdict(set)
    for part in parts:
        for _, run in seeds.found(part.tokens.words):
            clusters[run].add(part.cluster)
    share = TEMPLATE_SHARE * len({part.cluster for part in parts})
    return {run for run, held in clusters.items() if len(held) >= FEWEST_CLUSTERS and len(held) > share}


def _parts(suite: str, sample: Sample, n: int) -> Iterator[Part]:
    for name, text in _own_texts(sample):
        part = Part(suite, sample.id, str(sample.role), sample.cluster, name, tokens(text))
        # A longer message is found by its runs within the whole input.
        if part.tokens.words and not (name == "message" and len(part.tokens.words) >= n):
            yield part


def _own_texts(sample: Sample) -> Iterator[tuple[str, str]]:
    said = [_said(message) for message in sample.messages]
    yield "input", "\n".join(said)
    if len(said) > 1:
        yield from (("message", text) for text in said)
    if sample.target is not None:
        yield "arguments" if _calls(sample.target) else "target", _text(sample.target)
    yield from (("file", text) for _, text in sorted(sample.files.items()))


def _said(message: Message) -> str:
    calls = [_text({"name": call.name, "arguments": dict(call.arguments)}) for call in message.tool_calls]
    return "\n".join([message.content, *calls])


def _calls(target: Json) -> bool:
    calls = target if isinstance(target, list) else [target]
    return bool(calls) and all(isinstance(call, dict) and {"name", "arguments"} <= call.keys() for call in calls)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
