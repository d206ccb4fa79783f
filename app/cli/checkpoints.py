"""`evalctl checkpoints`: what is known of each checkpoint, and where it came from."""

from dataclasses import asdict

import click

from .json_option import json_option, write_json_to


@click.group(name="checkpoints")
def command() -> None:
    """List, show and promote checkpoints, and where each came from."""


@command.command(name="list")
@json_option
def list_checkpoints(json_to: str | None) -> None:
    """List checkpoints by name, with the weights each name means now."""
    from app.listings import checkpoints_table
    from evalctl.store import Store

    store = Store.open()
    saved = [one for one in store.checkpoints.history() if one.current]
    if json_to:
        write_json_to(json_to, [asdict(one) for one in saved])
    else:
        checkpoints_table(saved, store.find())


@command.command(name="show")
@click.argument("name")
@json_option
def show(name: str, json_to: str | None) -> None:
    """Show what NAME means now, how it was made, its runs, and what it meant before."""
    from app.listings import checkpoint_page
    from evalctl.store import Store

    store = Store.open()
    store.checkpoints.saved(name)
    history = store.checkpoints.history(name)
    if json_to:
        write_json_to(json_to, [asdict(one) for one in history])
    else:
        checkpoint_page(history, store.find(weights_digest=history[0].checkpoint.weights_digest))


@command.command(name="lineage")
@click.argument("name")
@json_option
def lineage(name: str, json_to: str | None) -> None:
    """Show the line NAME comes from: itself, its parent, and so on as far as the store knows them."""
    from app.listings import lineage_lines
    from evalctl.store import Store

    store = Store.open()
    line = store.checkpoints.ancestors(store.checkpoints.saved(name).checkpoint.weights_digest)
    if json_to:
        write_json_to(json_to, [asdict(one) for one in line])
    else:
        lineage_lines(line)


@command.command(name="promote")
@click.argument("campaign", metavar="CAMPAIGN")
@json_option
def promote(campaign: str, json_to: str | None) -> None:
    """Decide on a finished CAMPAIGN again, from its trials alone, and promote its checkpoint if every condition holds.

    Nothing is trained or run. Exit status: 1 where the campaign was refused, 4 where its trials no longer say what
    its record says, or the weights are not those that were judged.
    """
    from app.campaign_table import show_campaign
    from evalctl.store import Store
    from training.replay import replay

    record = replay(Store.open(), campaign)
    if json_to:
        write_json_to(json_to, record)
    if json_to != "-":
        show_campaign(record)
