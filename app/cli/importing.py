"""`evalctl import`: trials that another tool made."""

from pathlib import Path

import click

from evalctl.importers import IMPORTERS


@click.command(name="import")
@click.argument("path", type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path))
@click.option("--format", "form", type=click.Choice(sorted(IMPORTERS)), required=True, help="What wrote the file.")
@click.option("--suite", metavar="NAME", help="Suite of the rows that name none.")
@click.option(
    "--checkpoint",
    "reference",
    required=True,
    metavar="REF",
    help="Whose trials these are: a checkpoint, a model folder, or a new name.",
)
def command(path: Path, form: str, suite: str | None, reference: str) -> None:
    """Read the trials in PATH into a run of each suite it holds.

    jsonl is one JSON object a line; only suite (or --suite), sample_id and score are required. What is not JSON or
    has a wrong type stops with file and line, and nothing is kept. What is well-formed but unfit (not finite, out of
    range, a duplicate) is kept and told, and is INVALID at the gate. The same bytes again change nothing.
    """
    from app.present import console, safe
    from evalctl.importers import import_file
    from evalctl.store import Store

    done = import_file(Store.open(), path, (form, IMPORTERS[form]), suite, reference)
    out = console()
    for run in done.runs:
        whose = "" if run.owner == done.checkpoint.name else f"; that run belongs to {run.owner}"
        what = "new" if run.new else f"already there, nothing changed{whose}"
        trials = f"{run.n:,} trial{'' if run.n == 1 else 's'}"
        out.print(safe(f"{run.suite} on {done.checkpoint.name}: {trials}, run {run.key} ({what})"), soft_wrap=True)
    for note in done.notes:
        out.print(safe(f"  {note}", "dim"), soft_wrap=True)
