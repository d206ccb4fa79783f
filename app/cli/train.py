"""`evalctl train-on-failures`: failures to data to a new checkpoint, promoted on held-out gains alone."""

from pathlib import Path

import click

from .json_option import json_option, write_json_to
from .root import goes_on, leave

MOST = 2**31 - 1
MOST_ROUNDS = 100
STAGES = ("sft", "rlvr")
"""Of training.settings, named here so that --help loads nothing heavy; a test holds the two together."""


def _stages(context: click.Context, option: click.Parameter, text: str) -> tuple[str, ...]:
    found = tuple(part.strip() for part in text.split(",") if part.strip())
    if found not in (STAGES[:1], STAGES):
        raise click.BadParameter(f"{text!r}: give sft, or sft,rlvr", context, option)
    return found


@click.command(name="train-on-failures")
@click.option("--checkpoint", "reference", required=True, metavar="REF", help="Folder or name of what is trained.")
@click.option(
    "--suite",
    "suites",
    multiple=True,
    required=True,
    metavar="NAME",
    help="Train on its failures; give as many as you like.",
)
@click.option(
    "--policy",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="What promotion demands (default: no fall of 0.05 or more on these suites and arithmetic).",
)
@click.option(
    "--folds",
    type=click.IntRange(2, 20),
    default=3,
    show_default=True,
    metavar="K",
    help="Folds that certify the recipe.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1, MOST_ROUNDS),
    default=1,
    show_default=True,
    metavar="N",
    help="Campaigns in a row, each on what the one before promoted.",
)
@click.option("--stages", default=",".join(STAGES), show_default=True, callback=_stages, help="sft, or sft,rlvr.")
@click.option(
    "--recipe",
    default="demonstration",
    show_default=True,
    metavar="NAME",
    help="How rows are made: demonstration, rejection.",
)
@click.option("--settings", metavar="NAME", help="Rates, steps and sizes: tiny, small (default: by the model's size).")
@click.option(
    "--samples",
    type=click.IntRange(1, MOST),
    metavar="N",
    help="Size of the suites that are trained for (default: each suite's own).",
)
@click.option(
    "--seed", type=click.IntRange(-MOST, MOST), default=0, show_default=True, help="Another seed is another campaign."
)
@click.option("--name", metavar="NAME", help="Call the checkpoint NAME (default: the folder's name).")
@json_option
@click.option("--resume", is_flag=True, help="Go on with an interrupted campaign.")
def command(reference: str, suites: tuple[str, ...], json_to: str | None, **options: object) -> None:
    """Turn a checkpoint's failures into verified training data, train, and promote only what held-out evidence bears.

    Seven steps: preflight, screen, baseline, curate, cross-fit, final, decide. Roles and folds are fixed before any
    failure is read; each step leaves an artifact under campaigns/ of the store, and a finished campaign is not
    repeated. Ctrl-C keeps what is done; --resume goes on. --json writes the records, oldest first. Exit status that of
    the last campaign: 0 promoted, 1 refused with the condition that failed and its figure, 4 evidence not valid.
    """
    from app.campaign_table import show_campaign
    from app.campaigning import Asked, campaigns
    from app.present import Display
    from evalctl.store import Store

    asked = Asked(reference=reference, suites=tuple(dict.fromkeys(suites)), **options)  # type: ignore[arg-type]
    records = []
    with goes_on("the same command with --resume goes on where it stopped"), Display() as display:
        for record in campaigns(asked, Store.open(), display):
            records.append(record)
            display.end()
            if json_to != "-":
                show_campaign(record)
    if json_to:
        write_json_to(json_to, {"schema": 1, "exit": records[-1]["exit"], "campaigns": records})
    leave(int(records[-1]["exit"]))
