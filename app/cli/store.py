"""`evalctl store`: is everything still as it was written, and the index anew from the files."""

import click

from .json_option import json_option, write_json_to
from .root import leave


@click.group(name="store")
def command() -> None:
    """Check the store, or rebuild its index from the files."""


@command.command(name="check")
@json_option
def check(json_to: str | None) -> None:
    """Compare every record with what was written; list all that is wrong, and exit 4 where anything is.

    Each run folder's record, its key, the digest and rows of its trials; the index; checkpoints, baselines, verdicts
    and the ledger of looks.
    """
    from app.present import console, safe
    from evalctl.store import Store

    store = Store.open()
    problems = store.check()
    if json_to:
        write_json_to(json_to, {"schema": 1, "problems": problems})
    else:
        out = console()
        for problem in problems:
            out.print(safe(problem), soft_wrap=True)
        count = f"{len(problems)} wrong" if problems else "nothing wrong"
        out.print(safe(f"{store.home}: {count}"), soft_wrap=True)
    if problems:
        leave(4)


@command.command(name="rebuild")
def rebuild() -> None:
    """Make the index anew from the files; nothing is lost by it.

    Run folders that cannot be read are named, and the exit status is then 4.
    """
    from app.present import console, safe
    from evalctl.store import Store

    store = Store.open()
    count = store.rebuild()
    _, problems = store.rows()
    out = console()
    for problem in problems:
        out.print(safe(problem), soft_wrap=True)
    out.print(safe(f"{store.home}: the index names {count} run{'' if count == 1 else 's'}"), soft_wrap=True)
    if problems:
        leave(4)
