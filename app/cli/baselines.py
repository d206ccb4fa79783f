"""`evalctl baselines`: names that pin runs, so that what a gate compares with does not move."""

from dataclasses import asdict

import click

from .json_option import json_option, write_json_to


@click.group(name="baselines")
def command() -> None:
    """Pin the runs of a checkpoint under a name, and list the pins."""


@command.command(name="set")
@click.argument("name")
@click.argument("reference", metavar="REF")
def set_baseline(name: str, reference: str) -> None:
    """Pin, as baseline:NAME, the newest complete run of each suite that REF has now.

    Later runs of REF do not move it; what NAME pinned before stays in its file.
    """
    from app.present import console, safe
    from evalctl.store import Store
    from evalctl.store.resolve import resolve

    store = Store.open()
    side = resolve(store, reference)
    store.baselines.set(name, reference, side.runs)
    rows = {row.key: row for row in store.find()}
    for suite, key in side.runs.items():
        unfinished = "" if rows[key].complete else " (not complete: the gate will refuse it)"
        console().print(safe(f"baseline:{name} pins {suite}: run {key}{unfinished}"), soft_wrap=True)


@command.command(name="list")
@json_option
def list_baselines(json_to: str | None) -> None:
    """List baselines and the runs each pins."""
    from app.present import console, safe
    from evalctl.store import Store

    baselines = Store.open().baselines.all()
    if json_to:
        write_json_to(json_to, [asdict(baseline) for baseline in baselines])
        return
    out = console()
    for baseline in baselines:
        out.print(safe(f"baseline:{baseline.name} = {baseline.reference}, set {baseline.set}"), soft_wrap=True)
        for suite, key in baseline.runs.items():
            out.print(safe(f"  {suite}: run {key}", "dim"), soft_wrap=True)
    if not baselines:
        out.print("no baseline yet; `evalctl baselines set NAME REF` makes one")
