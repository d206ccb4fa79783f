"""What is wrong with a suite's data, without running anything: ids, content, clusters, roles, leaks."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from evalctl.types import Role, Sample, Suite

from .near import near_pairs

MIN_CLUSTERS = 20
"""A role with fewer clusters can say nothing at the gate."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: which rule, where, and what to change."""

    suite: str
    rule: str
    """`ids`, `content`, `clusters`, `roles`, `leak`, `files`, `reference`, `empty`, `nothing`, `wrong`, `unproved`."""
    sample_id: str | None
    text: str

    def __str__(self) -> str:
        where = f"{self.suite} {self.sample_id}" if self.sample_id else self.suite
        return f"{where}: {self.rule}: {self.text}"


def check_data(suite: Suite) -> Iterator[Problem]:
    """Every problem of the samples as data."""
    yield from _identity(suite)
    yield from _places(suite)
    yield from _leaks(suite)
    yield from _shown(suite)
    for sample in suite.samples:
        for name in sample.files:
            path = PurePosixPath(name)
            if not name or path.is_absolute() or ".." in path.parts:
                yield Problem(suite.name, "files", sample.id, f"{name!r} is not a relative path in the work folder")


def _identity(suite: Suite) -> Iterator[Problem]:
    if not suite.samples:
        yield Problem(suite.name, "ids", None, "holds no sample")
    ids: dict[str, int] = {}
    content: dict[tuple[str, str], str] = {}
    for number, sample in enumerate(suite.samples, 1):
        if sample.id in ids:
            yield Problem(
                suite.name, "ids", sample.id, f"also sample {ids[sample.id]} of the suite; ids must be unique"
            )
        ids.setdefault(sample.id, number)
        key = (sample.content_key, sample.variant.key)
        if key in content:
            text = f"same input, tools, files and target as {content[key]!r}; pairing is by content"
            yield Problem(suite.name, "content", sample.id, text)
        content.setdefault(key, sample.id)


def _places(suite: Suite) -> Iterator[Problem]:
    """Clusters and families declared; each role large enough."""
    undeclared = suite.card.get("undeclared_clusters")
    if undeclared:
        text = f"{undeclared} sample(s) declare no `cluster`; each was taken as its own; declare it"
        yield Problem(suite.name, "clusters", None, text)
    for sample in suite.samples:
        for rule, noun, value in (("clusters", "cluster", sample.cluster), ("families", "family", sample.family)):
            if not value:
                yield Problem(suite.name, rule, sample.id, f"no {noun} is set")
    if suite.advisory:
        return
    held: dict[Role, set[str]] = defaultdict(set)
    for sample in suite.samples:
        held[sample.role].add(sample.cluster)
    for role in Role:
        if role in held and len(held[role]) < MIN_CLUSTERS:
            text = f"{role} has {len(held[role])} cluster(s), under {MIN_CLUSTERS}; add some, or set `advisory: true`"
            yield Problem(suite.name, "roles", None, text)


def _leaks(suite: Suite) -> Iterator[Problem]:
    """One cluster, one content or one text in two roles."""
    first: dict[str, Sample] = {}
    for sample in suite.samples:
        other = first.setdefault(sample.cluster, sample)
        if other.role is not sample.role:
            text = f"cluster {sample.cluster!r} is {other.role} in {other.id!r} and {sample.role} here"
            yield Problem(suite.name, "leak", sample.id, text)
    groups = [str(sample.role) for sample in suite.samples]
    for earlier, later, similarity in near_pairs([question(s) for s in suite.samples], groups):
        a, b = suite.samples[earlier], suite.samples[later]
        if a.cluster != b.cluster:
            text = f"input is near-identical ({similarity:.0%}) to {a.id!r} in {a.role}, and this is {b.role}"
            yield Problem(suite.name, "leak", b.id, text)


def _shown(suite: Suite) -> Iterator[Problem]:
    """No sample stands in the prompt as a worked example."""
    examples = {message.content.strip() for message in suite.prefix if message.role == "user"}
    for sample in suite.samples:
        if sample.messages[-1].content.strip() in examples:
            yield Problem(suite.name, "leak", sample.id, "its question stands in the prompt as a worked example")


def question(sample: Sample) -> str:
    """All the text that the model sees of a sample, files included."""
    files = [f"{name}\n{text}" for name, text in sorted(sample.files.items())]
    return "\n".join([*(message.content for message in sample.messages), *files])


def summarise(problems: Sequence[Problem], most: int = 5) -> list[str]:
    """At most `most` lines a suite and rule, and how many more there are."""
    groups: dict[tuple[str, str], list[Problem]] = defaultdict(list)
    for problem in problems:
        groups[problem.suite, problem.rule].append(problem)
    lines = []
    for (suite, rule), found in groups.items():
        lines += [str(problem) for problem in found[:most]]
        if len(found) > most:
            lines.append(f"{suite}: {rule}: and {len(found) - most} more")
    return lines
