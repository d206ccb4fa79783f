"""From failures to verified rows: what each recipe asks, and how rows are shared among those that ask.

A recipe never sees a measured sample's answer: it works on siblings (same skill, another scenario), and a row is
kept only when the suite's own scorer gives its answer the full score.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, zip_longest
from typing import Protocol, TypeAlias, TypeVar, cast

from evalctl.digests import trial_seed, unit_interval
from evalctl.errors import UsageError
from evalctl.judging import judge
from evalctl.types import Completion, Model, Request, Sample, Sampling, Scorer, Status, Suite
from suites.generator import Generator

from .rows import KEPT, Row
from .settings import Curation

T = TypeVar("T")

MOST_A_SIBLING = 2
"""Distinct right answers kept of one sibling: more would only repeat it (RFT, arXiv 2308.01825)."""
KEPT_SIBLINGS = 4
"""A passed sample gives at most so many times the rows of a failed one: a lucky pass must not fill the file."""


@dataclass(frozen=True)
class Parent:
    """A pool sample that asks for rows."""

    sample: Sample
    kind: str
    """Kind of its failure, or KEPT where it passed."""

    @property
    def cluster(self) -> str:
        """Where it stands; alone, under its id, where none is declared."""
        return self.sample.cluster or self.sample.id


@dataclass(frozen=True)
class Workshop:
    """What a recipe works with."""

    suite: Suite
    """The whole suite, not a part: what is measured must be known to be avoided."""
    generator: Generator
    scorer: Scorer
    model: Model | None
    """The checkpoint that failed; None where it is served."""
    seed: int
    curation: Curation

    @cached_property
    def measured(self) -> frozenset[str]:
        """Clusters of the suite's own samples: no sibling may stand in one."""
        return frozenset(sample.cluster for sample in self.suite.samples if sample.cluster)


@dataclass(frozen=True)
class Made:
    """Verified rows, and how many were not kept for which reason."""

    rows: tuple[Row, ...]
    dropped: Mapping[str, int]


class Recipe(Protocol):
    """How rows are made; the `recipes` table holds these."""

    def __call__(self, work: Workshop, parents: Sequence[Parent]) -> Made:
        """Rows for `parents`, deterministic in both. Raises UsageError for a suite or model that it cannot use."""
        ...


Answer: TypeAlias = Callable[[Workshop, Sequence[Sample], "Counter[str]"], list[list[str]]]
"""The verified completions of each sibling; what failed is counted by reason."""


def demonstration(work: Workshop, parents: Sequence[Parent]) -> Made:
    """The generator's own solutions of siblings, each verified by the suite's scorer."""
    return _made(work, parents, "demonstration", _references)


def rejection(work: Workshop, parents: Sequence[Parent]) -> Made:
    """The model's own answers to siblings, the right ones kept (STaR, arXiv 2203.14465; RFT, arXiv 2308.01825)."""
    if work.model is None:
        raise UsageError(
            f"recipe rejection draws answers from the checkpoint itself, and the one for suite {work.suite.name} is "
            "served: use --recipe demonstration, or a model folder"
        )
    return _made(work, parents, "rejection", _right_answers)


def trainable(suite: Suite) -> None:
    """Raise UsageError where rows cannot be made of a suite: one prompt and one answer is all that a row holds."""
    why = None
    if suite.sandbox is not None:
        why = f"its answers are judged in the sandbox {suite.sandbox!r}"
    elif suite.agent != "single_turn":
        why = f"its agent is {suite.agent!r}"
    if why:
        raise UsageError(
            f"suite {suite.name} cannot be trained for: {why}, and a training row is one prompt and one answer; "
            "name suites with the agent single_turn and no sandbox"
        )


def distinct(rows: Iterable[Row]) -> tuple[list[Row], int]:
    """The rows, each once, and how many were repetitions.

    A repeated row keeps the lineage of all who asked for it: held out with any of their clusters, it is held out.
    """
    found: dict[str, Row] = {}
    twice = 0
    for row in rows:
        first = found.get(row.id)
        if first is None:
            found[row.id] = row
            continue
        twice += 1
        parents = dict.fromkeys((*first.parents, *row.parents))
        clusters = dict.fromkeys((*first.clusters, *row.clusters))
        found[row.id] = replace(first, parents=tuple(parents), clusters=tuple(clusters))
    return list(found.values()), twice


def allot(parents: Sequence[Parent], each: int, most: int, seed: int) -> list[tuple[Parent, int]]:
    """How many rows each parent may ask for: `each`, in turn until `most` are given.

    Families take turns within a round, and a hash says who of a family is first: neither the order of the
    suite nor a large family decides who goes without.
    """
    families: dict[str, list[Parent]] = defaultdict(list)
    for parent in sorted(parents, key=lambda p: unit_interval("turn", str(seed), p.sample.id)):
        families[parent.sample.family].append(parent)
    order = _in_turn([families[name] for name in sorted(families)])
    whole, rest = divmod(min(most, each * len(order)), max(1, len(order)))
    shares = [(parent, whole + (at < rest)) for at, parent in enumerate(order)]
    return [(parent, share) for parent, share in shares if share > 0]


def _made(work: Workshop, parents: Sequence[Parent], recipe: str, answer: Answer) -> Made:
    """Rows for what failed, and then as many of what is kept as makes its share right."""
    trainable(work.suite)
    curation, dropped = work.curation, Counter[str]()
    failed = [parent for parent in parents if parent.kind != KEPT]
    kept = [parent for parent in parents if parent.kind == KEPT]
    each = curation.siblings * KEPT_SIBLINGS
    reserved = min(round(curation.most_rows * curation.kept), each * len(kept))
    shares = allot(failed, curation.siblings, curation.most_rows - reserved, work.seed)
    rows, twice = distinct(_rows(work, shares, recipe, answer, dropped))
    wanted = min(round(len(rows) * curation.kept / (1 - curation.kept)), curation.most_rows - len(rows))
    shares = allot(kept, each, wanted, work.seed)
    rows, again = distinct([*rows, *_rows(work, shares, recipe, answer, dropped)])
    dropped["duplicate"] += twice + again
    return Made(tuple(rows), {reason: count for reason, count in sorted(dropped.items()) if count})


def _rows(
    work: Workshop, shares: Sequence[tuple[Parent, int]], recipe: str, answer: Answer, dropped: "Counter[str]"
) -> list[Row]:
    """At most its share of rows for each parent: every sibling's first answer before any sibling's second."""
    asked = [_siblings(work, parent, share, dropped) for parent, share in shares]
    answers = iter(answer(work, [sample for siblings in asked for sample in siblings], dropped))
    rows = []
    for (parent, share), siblings in zip(shares, asked, strict=True):
        found = _in_turn([[(sample, text) for text in next(answers)] for sample in siblings])
        for sample, text in found[:share]:
            prompt = (*work.suite.prefix, *sample.messages)
            lineage = (parent.sample.id,), (parent.cluster,)
            rows.append(Row(work.suite.name, prompt, text, sample, *lineage, recipe, parent.kind))
    return rows


def _siblings(work: Workshop, parent: Parent, n: int, dropped: "Counter[str]") -> list[Sample]:
    """At most `n` siblings that stand in no measured cluster; what the generator cannot give is counted."""
    try:
        given = [_sound(sample) for sample in work.generator.siblings(parent.sample, work.seed, n)][:n]
    except Exception as error:  # a generator is anyone's code: one parent's failure must not end the campaign
        dropped[f"no sibling ({type(error).__name__})"] += n
        return []
    kept = [sample for sample in given if sample.cluster not in work.measured]
    dropped["no sibling"] += n - len(given)
    dropped["measured"] += len(given) - len(kept)
    return kept


def _sound(sample: Sample) -> Sample:
    if not isinstance(sample, Sample):
        raise TypeError(f"{sample!r:.80} is not a Sample")
    return sample if sample.pair_id else replace(sample, pair_id=sample.id)


def _references(work: Workshop, samples: Sequence[Sample], dropped: "Counter[str]") -> list[list[str]]:
    """The generator's solution of each sibling where there is one and it verifies, else nothing."""
    texts: list[list[str]] = []
    for sample in samples:
        try:
            texts.append([work.generator.reference(sample)])
        except Exception as error:  # anyone's code, as above
            dropped[f"no reference ({type(error).__name__})"] += 1
            texts.append([])
    given = [(sample, Completion(text)) for sample, found in zip(samples, texts, strict=True) for text in found]
    right = _verified(work, given, dropped)
    dropped["unverified"] += right.count(False)
    verdicts = iter(right)
    return [[text for text in found if next(verdicts)] for found in texts]


def _right_answers(work: Workshop, samples: Sequence[Sample], dropped: "Counter[str]") -> list[list[str]]:
    attempts = work.curation.attempts
    tries = [sample for sample in samples for _ in range(attempts)]
    drawn = _drawn(work, samples)
    right = _verified(work, list(zip(tries, drawn, strict=True)), dropped)
    found = []
    for at in range(0, len(tries), attempts):
        texts: dict[str, str] = {}
        for completion, good in zip(drawn[at : at + attempts], right[at : at + attempts], strict=True):
            # An answer that the cap cut off has no end to learn, right as it may be.
            if good and completion.stop_reason == "stop":
                texts.setdefault(" ".join(completion.text.split()), completion.text)
        found.append(list(texts.values())[:MOST_A_SIBLING])
        dropped["no right answer"] += not texts
    return found


def _drawn(work: Workshop, samples: Sequence[Sample]) -> list[Completion]:
    """`attempts` answers of the model to each sample, each with a seed of its own."""
    assert work.model is not None
    curation, suite = work.curation, work.suite
    sampling = Sampling(curation.temperature, max_tokens=suite.max_tokens)
    requests = [
        Request(
            (*suite.prefix, *sample.messages),
            sampling,
            trial_seed(work.seed, sample.content_key, "rejection", attempt),
            sample.id,
        )
        for sample in samples
        for attempt in range(1, curation.attempts + 1)
    ]
    size = work.model.batch_size
    batches = [requests[at : at + size] for at in range(0, len(requests), size)]
    return [completion for batch in batches for completion in work.model.generate(batch)]


def _verified(work: Workshop, given: Sequence[tuple[Sample, Completion]], dropped: "Counter[str]") -> list[bool | None]:
    """Whether the suite's scorer gives each answer the full score; None, and counted, where it could not judge."""

    async def all_judged() -> list[bool | None]:
        found: list[bool | None] = []
        for sample, completion in given:
            status, score, _ = await judge(work.scorer, sample, completion, None)
            # An empty answer may be right (nothing to call), and there is nothing in it to learn.
            good = score.value == 1 and bool(completion.text.strip())
            found.append(good if status is Status.OK else None)
        return found

    found = asyncio.run(all_judged())
    dropped["verifier_error"] += sum(one is None for one in found)
    return found


def _in_turn(lists: Sequence[Sequence[T]]) -> list[T]:
    """The firsts of all, then the seconds, and so on.

    >>> _in_turn([[1, 2, 3], [], [4]])
    [1, 4, 2, 3]
    """
    nothing = object()
    turns = chain.from_iterable(zip_longest(*lists, fillvalue=nothing))
    return [cast(T, one) for one in turns if one is not nothing]
