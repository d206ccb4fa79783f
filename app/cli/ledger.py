"""`evalctl ledger`: looks at sealed samples."""

import click

from .json_option import json_option, write_json_to


@click.group(name="ledger")
def command() -> None:
    """Show the looks that were taken at sealed samples."""


@command.command(name="show")
@click.option("--suite", metavar="NAME", help="Only looks at this suite.")
@json_option
def show(suite: str | None, json_to: str | None) -> None:
    """List every look: which suite, which candidate against which baseline, and whether it was refused."""
    from app.present import console, safe
    from evalctl.ledger import Ledger
    from evalctl.store import Store

    entries = [e for e in Ledger(Store.open().home).entries() if suite in (None, e["suite"])]
    if json_to:
        write_json_to(json_to, {"schema": 1, "looks": entries})
    if json_to == "-":
        return
    out = console()
    for entry in entries:
        budget = f" of {entry['budget']}" if entry.get("budget") else ""
        told = f"look {entry['number']}{budget}{', refused' if entry.get('refused') else ''}"
        pair = f"candidate {entry['candidate'][:12]} against {entry['baseline'][:12]}"
        out.print(safe(f"{entry['suite']}: {told}: {pair}, {entry.get('taken', '')}"), soft_wrap=True)
    if not entries:
        out.print(safe("no look was taken"))
