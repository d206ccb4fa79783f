"""`evalctl compare`: paired differences, without a decision."""

from typing import Any

import click

from evalctl.errors import LookupFailed
from evalctl.types import PLAIN_ROLES, Role

from .json_option import json_option, write_json_to
from .root import leave


def _roles(_context: click.Context, _parameter: click.Parameter, text: str) -> frozenset[str]:
    names = [part.strip() for part in text.split(",") if part.strip()]
    for name in names:
        if name not in list(Role):
            raise LookupFailed("role", name, list(Role))
    return frozenset(names)


@click.command(name="compare")
@click.argument("baseline", metavar="BASELINE")
@click.argument("candidates", nargs=-1, required=True, metavar="CANDIDATE...")
@click.option("--suite", "suites", multiple=True, metavar="NAME", help="Only this suite (may be given again).")
@click.option("--metric", metavar="NAME", help="Compare on this metric (default: the one the runs score by).")
@click.option(
    "--roles",
    default=",".join(sorted(PLAIN_ROLES)),
    show_default=True,
    callback=_roles,
    help="Which roles to read; a view of sealed samples is a look, and is counted.",
)
@click.option("--flips", is_flag=True, help="List the samples that changed, the worst first.")
@json_option
def command(baseline: str, candidates: tuple[str, ...], flips: bool, json_to: str | None, **asked: Any) -> None:
    """Show how CANDIDATEs differ from BASELINE, suite by suite, paired by content.

    Intervals are two-sided at 95%, and simultaneous where there are several candidates. Nothing is decided here. Exit
    status 4 where a comparison could not be made.
    """
    from app.comparing import Asked, compare_all, compared_to_json, show_compared
    from evalctl.store import Store

    rows = compare_all(Store.open(), baseline, candidates, Asked(**asked))
    if json_to:
        write_json_to(json_to, compared_to_json(rows))
    if json_to != "-":
        show_compared(rows, flips)
    leave(4 if any(row.found is None for row in rows) else 0)
