"""A suite's failures to the rows that are trained on: made by a recipe, each row once, audited, none that leaks."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evalctl.digests import canonical, unit_interval
from evalctl.errors import EvidenceError, UsageError
from evalctl.types import Message, Role, Sample
from suites.contamination.exact import Hit, Index

from .failures import Screened
from .recipes import Parent, Recipe, Workshop, distinct, trainable
from .rows import KEPT, Row


@dataclass(frozen=True)
class Curated:
    """The rows to train on, and what became of the others."""

    rows: tuple[Row, ...]
    dropped: Mapping[str, int]
    """Reason to how many; `contaminated` are those of `leaks`."""
    leaks: tuple[Hit, ...]
    """Evidence against the rows that were dropped as contaminated."""


def curate(work: Workshop, recipe: Recipe, screened: Screened, index: Index) -> Curated:
    """Rows for what was screened. No failure gives no row: the caller decides what that means.

    `index` holds all that the model will be measured on. Raises UsageError where the suite cannot be trained for or
    the recipe breaks a row's lineage, EvidenceError where what was screened is not the suite's pool.
    """
    trainable(work.suite)
    parents = _parents(work, screened)
    if not screened.failed:
        return Curated((), {}, ())
    made = recipe(work, parents)
    _lineage_holds(made.rows, parents)
    dropped = Counter(made.dropped)
    rows, twice = distinct(made.rows)
    leaks = audit_rows(rows, index)
    leaking = {hit.text_id for hit in leaks}
    kept = tuple(row for row in rows if row.id not in leaking)
    dropped.update({"duplicate": twice, "contaminated": len(rows) - len(kept)})
    return Curated(kept, {reason: count for reason, count in sorted(dropped.items()) if count}, tuple(leaks))


def audit_rows(rows: Sequence[Row], index: Index) -> list[Hit]:
    """Every place where a row holds a measured sample's own text; `text_id` is the row's id.

    Of a file about to be trained on, what is learned is read, not only what it is said to be made from: a prompt
    that is not the suite's prefix and the sample's messages is read as it stands.
    """
    texts = zip(rows, _texts(rows), strict=True)
    return [hit for row, text in texts for hit in index.hits(row.id, text)]


def shuffled_answers(rows: Sequence[Row], seed: int) -> list[Row]:
    """The rows with completions and targets permuted among those of a suite: none keeps its own answer.

    What the demo's sabotage does to a verified file. Raises UsageError where it cannot be done, since more than
    half of a suite's rows have one answer.
    """
    places: dict[str, list[int]] = defaultdict(list)
    for at, row in enumerate(rows):
        places[row.suite].append(at)
    found = list(rows)
    for suite, members in places.items():
        for at, donor in _deranged(rows, members, seed, suite):
            giver = rows[donor]
            spoiled = replace(rows[at].sample, target=giver.sample.target)
            found[at] = replace(rows[at], completion=giver.completion, sample=spoiled)
    return found


def _parents(work: Workshop, screened: Screened) -> list[Parent]:
    """The samples that ask for rows. Anything that is not pool here would be trained on what it is measured by."""
    if screened.suite != work.suite.name:
        raise EvidenceError(f"what was screened is suite {screened.suite}, not {work.suite.name}; screen this one")
    known: dict[str, Sample] = {}
    for sample in work.suite.samples:
        known.setdefault(sample.id, sample)
    parents = []
    for name, kind in (*screened.failed.items(), *((name, KEPT) for name in screened.passed)):
        found = known.get(name)
        if found is None or found.role is not Role.POOL:
            what = f"in role {found.role}" if found else "no sample of it"
            raise EvidenceError(f"suite {work.suite.name}: {name!r} was screened and is {what}; screen the pool alone")
        parents.append(Parent(found, kind))
    return parents


def _lineage_holds(rows: Sequence[Row], parents: Sequence[Parent]) -> None:
    """Every row names parents that asked, and exactly their clusters: its fold hangs on them."""
    cluster = {parent.sample.id: parent.cluster for parent in parents}
    for row in rows:
        if not row.parents or any(name not in cluster for name in row.parents):
            raise UsageError(f"recipe {row.recipe}: row {row.id} names no parent, or one that did not ask for rows")
        if set(row.clusters) != {cluster[name] for name in row.parents}:
            raise UsageError(f"recipe {row.recipe}: row {row.id} does not inherit the clusters of its parents")


def _texts(rows: Sequence[Row]) -> Iterator[str]:
    """What an audit reads of each row."""
    prefixes: dict[str, Counter[tuple[Message, ...]]] = defaultdict(Counter)
    for row in rows:
        prefixes[row.suite][_prefix(row)] += 1
    usual = {suite: seen.most_common(1)[0][0] for suite, seen in prefixes.items()}
    for row in rows:
        if row.prompt == (*usual[row.suite], *row.sample.messages):
            yield row.own_text
        else:
            yield "\n".join([*(message.content for message in row.prompt), row.own_text])


def _prefix(row: Row) -> tuple[Message, ...]:
    return row.prompt[: max(0, len(row.prompt) - len(row.sample.messages))]


def _deranged(rows: Sequence[Row], members: Sequence[int], seed: int, suite: str) -> list[tuple[int, int]]:
    """(row, row whose answer it gets): the rows in a drawn order, equal answers side by side, moved round by one step.

    The step is at least the largest group of equal answers, so that a move leads out of every group.
    """

    answer = {at: _answer(rows[at]) for at in members}
    drawn = sorted(members, key=lambda at: (unit_interval("shuffled", str(seed), rows[at].id), at))
    groups: dict[str, list[int]] = defaultdict(list)
    for at in drawn:
        groups[answer[at]].append(at)
    order = [at for group in groups.values() for at in group]
    for step in range(max(len(group) for group in groups.values()), len(order)):
        pairs = list(zip(order, order[step:] + order[:step], strict=True))
        if all(answer[at] != answer[donor] and rows[at].completion != rows[donor].completion for at, donor in pairs):
            return pairs
    raise UsageError(f"the answers of {len(order)} row(s) of suite {suite} cannot be shuffled: too many are the same")


def _answer(row: Row) -> str:
    """What an answer is compared by: the target where there is one, since two wordings may say the same."""
    return canonical(row.completion if row.sample.target is None else row.sample.target)
