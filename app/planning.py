"""A plan from the store, in the terminal and as JSON."""

from rich.console import Console
from rich.table import Table

from evalctl.gate.verdict_json import finite
from evalctl.plan import Plan, Planned, plan
from evalctl.policy import Policy
from evalctl.store import Store
from evalctl.store.resolve import resolve
from evalctl.types import Json

from .present import console, safe

COLUMNS = ("Suite", "Metric", "Tier", "Against", "Margin", "Epochs", "Samples", "Clusters", "Chance to PASS unchanged")
SIZES = ("Smallest visible drop", "Samples for 80%")


def plan_of(store: Store, policy: Policy, baseline: str | None) -> Plan:
    """The plan of `policy`, with the runs of `baseline` where given. Raises UsageError for an unknown reference."""
    if baseline is None:
        return plan(policy)
    side = resolve(store, baseline, suites=policy.roles)
    return plan(policy, {suite: store.load(key) for suite, key in side.runs.items() if suite in policy.suites})


def show_plan(made: Plan, to: Console | None = None) -> None:
    """Print a row a test, the joint chance, what was assumed and what cannot be resolved."""
    out = to or console()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in (*COLUMNS, *SIZES):
        table.add_column(name, overflow="fold")
    for row in made.rows:
        table.add_row(*(safe(text) for text in _cells(row)))
    out.print(table)
    for text in dict.fromkeys(f"{row.suite}: assumed: {row.assumption}" for row in made.rows):
        out.print(safe(text, "dim"), soft_wrap=True)
    if made.joint is not None:
        out.print(safe(f"Chance that an unchanged candidate passes everything that blocks: {made.joint:.2f}"))
    for line in made.problems:
        out.print(safe(line, "yellow"), soft_wrap=True)


def plan_to_json(made: Plan) -> dict[str, Json]:
    """The same as JSON; what is not known or not finite is null."""
    return {
        "schema": 1,
        "exit": made.exit,
        "joint": finite(made.joint),
        "problems": list(made.problems),
        "suites": [
            {
                "name": row.suite,
                "metric": row.metric,
                "tier": row.tier,
                "against": row.against,
                "margin": row.margin,
                "alpha": row.alpha,
                "epochs": row.epochs,
                "samples": row.samples,
                "clusters": row.clusters,
                "power": finite(row.power),
                "visible": finite(row.visible),
                "needed": row.needed,
                "needed_jointly": row.needed_jointly,
                "resolved": row.resolved,
                "assumption": row.assumption,
            }
            for row in made.rows
        ],
    }


def _cells(row: Planned) -> list[str]:
    return [
        row.suite,
        row.metric,
        row.tier,
        row.against,
        f"{row.margin:g}",
        str(row.epochs),
        "" if row.samples is None else f"{row.samples:,}",
        "" if row.clusters is None else f"{row.clusters:,}",
        "" if row.power is None else f"{row.power:.2f}",
        "none" if finite(row.visible) is None else f"{row.visible:.3f}",
        "none is enough" if row.needed is None else f"{row.needed:,}",
    ]
