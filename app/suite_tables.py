"""Suites as tables in the terminal."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table

from evalctl.types import Json, Role, Suite
from suites.checks import Problem, summarise

from .present import console, safe


def places(suite: Suite) -> dict[str, dict[str, tuple[int, int]]]:
    """Family to role to (clusters, samples)."""
    clusters: dict[tuple[str, str], set[str]] = defaultdict(set)
    samples: dict[tuple[str, str], int] = defaultdict(int)
    for sample in suite.samples:
        key = (sample.family, str(sample.role))
        clusters[key].add(sample.cluster)
        samples[key] += 1
    found: dict[str, dict[str, tuple[int, int]]] = defaultdict(dict)
    for (family, role), count in samples.items():
        found[family][role] = (len(clusters[family, role]), count)
    return dict(found)


def describe(suite: Suite) -> dict[str, Json]:
    """Everything a person asks of a suite, as JSON."""
    return {
        "name": suite.name,
        "version": suite.version,
        "digest": suite.digest,
        "prompt_digest": suite.prompt_digest,
        "capability": list(suite.capability),
        "samples": len(suite.samples),
        "clusters": len({sample.cluster for sample in suite.samples}),
        "scorer": {"name": suite.scorer.name, "options": dict(suite.scorer.options)},
        "sandbox": suite.sandbox,
        "agent": suite.agent,
        "max_turns": suite.max_turns,
        "epochs": suite.epochs,
        "max_tokens": suite.max_tokens,
        "advisory": suite.advisory,
        "card": dict(suite.card),
        "places": {family: {role: list(n) for role, n in roles.items()} for family, roles in places(suite).items()},
    }


def suites_table(rows: Sequence[Mapping[str, Json]]) -> None:
    """A row a suite; one that does not load says why."""
    table = Table(
        "Suite", "Version", "Samples", "Clusters", "Scorer", "Sandbox", "Capability", box=None, pad_edge=False
    )
    broken = []
    for row in rows:
        if "error" in row:
            broken.append(f"{row['name']} does not load: {row['error']}")
            continue
        cells = [row["name"], row["version"], row["samples"], row["clusters"], row["scorer"]["name"]]
        cells += [row["sandbox"] or "-", ", ".join(row["capability"]) + (" (advisory)" if row["advisory"] else "")]
        table.add_row(*(safe(cell) for cell in cells))
    out = console()
    out.print(table)
    for line in broken:
        out.print(safe(line, "red"), soft_wrap=True)


def suite_page(suite: Suite) -> None:
    """What the suite is, where its samples stand, its card, and one sample a family."""
    out = console()
    told = describe(suite)
    out.print(safe(f"{suite.name} {suite.version}", "bold"), safe(f"digest {suite.digest}", "dim"), soft_wrap=True)
    for key in ("capability", "scorer", "sandbox", "agent", "max_turns", "epochs", "max_tokens", "advisory"):
        value = told[key]
        text = ", ".join(value) if isinstance(value, list) else value["name"] if key == "scorer" else value
        out.print(safe(f"  {key}: {text}"), soft_wrap=True)
    for key, value in suite.card.items():
        out.print(safe(f"  {key}: {' '.join(str(value).split())}"), soft_wrap=True)
    for message in suite.prefix:
        out.print(safe(f"  prompt, {message.role}: {' / '.join(message.content.splitlines())}", "dim"), soft_wrap=True)
    out.print(_places_table(suite))
    shown: set[str] = set()
    for sample in suite.samples:
        if sample.family not in shown and sample.role is not Role.SEALED:
            shown.add(sample.family)
            out.print(safe(f"{sample.id} ({sample.role})", "bold"), soft_wrap=True)
            for line in "\n".join(message.content for message in sample.messages).splitlines():
                out.print(safe(f"  {line}"), soft_wrap=True)


def problem_lines(suite: Suite, problems: Sequence[Problem], proved: bool, out: Console) -> None:
    """What `validate` found, at most a few lines a rule, or that it found nothing."""
    outcome = f"{len(problems)} problem(s)" if problems else "nothing found"
    how = "proved" if proved else "data looked at, samples not proved"
    out.print(safe(f"{suite.name}: {len(suite.samples)} samples, {how}: {outcome}"), soft_wrap=True)
    for line in summarise(problems):
        out.print(safe(f"  {line}"), soft_wrap=True)


def _places_table(suite: Suite) -> Table:
    found = places(suite)
    roles = [str(role) for role in Role if any(str(role) in by for by in found.values())]
    table = Table("Family", *(f"{role}" for role in roles), title="clusters (samples)", title_justify="left", box=None)
    for family, by in found.items():
        table.add_row(safe(family), *(f"{by[r][0]} ({by[r][1]})" if r in by else "-" for r in roles))
    totals = [[by[role] for by in found.values() if role in by] for role in roles]
    table.add_row("all", *(f"{sum(c for c, _ in some)} ({sum(n for _, n in some)})" for some in totals), style="bold")
    return table
