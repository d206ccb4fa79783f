"""`evalctl run`: suites on a checkpoint, one run each."""

import click

from evalctl.errors import EvalctlError, LookupFailed
from evalctl.types import PLAIN_ROLES, Role

from .root import goes_on, leave
from .said import say

MOST = 2**31 - 1
"""Of any number here: more is a slip of the keyboard."""
MOST_EPOCHS = 1000
HOTTEST = 100.0
"""Of a sampling temperature; there every token is as likely as any other."""

ROLES = [str(role) for role in Role]


def _roles(_context: click.Context, _parameter: click.Parameter, text: str) -> frozenset[Role]:
    names = [part.strip() for part in text.split(",") if part.strip()]
    for name in names:
        if name not in ROLES:
            raise LookupFailed("role", name, ROLES)
    return frozenset(Role(name) for name in names)


def _heat(context: click.Context, option: click.Parameter, value: float) -> float:
    # Not a FloatRange: that lets nan through, which is below nothing.
    if not 0.0 <= value <= HOTTEST:
        raise click.BadParameter(f"{value} is not between 0 and {HOTTEST:g}", context, option)
    return value


@click.command(name="run")
@click.argument("suites", nargs=-1, required=True, metavar="SUITE...")
@click.option(
    "--checkpoint",
    "reference",
    required=True,
    metavar="REF",
    help="Folder, checkpoint name, provider/name or double:NAME.",
)
@click.option("--name", metavar="NAME", help="Call the checkpoint NAME (default: the folder's name).")
@click.option(
    "--epochs", type=click.IntRange(1, MOST_EPOCHS), metavar="N", help="Trials of each sample (default: the suite's)."
)
@click.option(
    "--samples", type=click.IntRange(1, MOST), metavar="N", help="Size of a generated suite (gives it a new digest)."
)
@click.option(
    "--limit", type=click.IntRange(1, MOST), metavar="N", help="Only the first N samples; the run is never complete."
)
@click.option(
    "--roles",
    default=",".join(sorted(PLAIN_ROLES)),
    show_default=True,
    callback=_roles,
    help="Which roles to cover.",
)
@click.option("--sandbox", metavar="NAME", help="Another sandbox backend than the suite's own.")
@click.option(
    "--seed",
    type=click.IntRange(-MOST, MOST),
    default=0,
    show_default=True,
    help="Seed of every trial's own sampling seed.",
)
@click.option("--temperature", callback=_heat, type=float, default=0.0, show_default=True, help="0 is greedy.")
@click.option(
    "--max-tokens", type=click.IntRange(1, MOST), metavar="N", help="Cap of one answer (default: the suite's)."
)
@click.option(
    "--batch-size", type=click.IntRange(1, MOST), metavar="N", help="Requests computed together (part of the run key)."
)
@click.option(
    "--replicate", type=click.IntRange(0, MOST), default=0, show_default=True, help="Another fresh run of the same key."
)
@click.option("--resume", is_flag=True, help="Go on with an interrupted run.")
def command(suites: tuple[str, ...], reference: str, name: str | None, sandbox: str | None, **options: object) -> None:
    """Run each SUITE on a checkpoint and print its scores.

    A run that is there already is not repeated. Ctrl-C keeps what has finished; --resume goes on.
    A suite that cannot run, or in which nothing could be scored, is told and the others go on; the exit
    status is then 2 (a wrong name) or 4 (no evidence). Where more than 2% of the trials ended in
    infrastructure errors the run stays open, and --resume tries those again.
    """
    from app.running import RunRequest, run_all
    from app.tables import run_summary

    request = RunRequest(reference=reference, name=name, sandbox=sandbox, **options)  # type: ignore[arg-type]
    status = 0
    with goes_on("the same command with --resume goes on where it stopped"):
        for outcome in run_all(suites, request):
            if isinstance(outcome, EvalctlError):
                status = max(status, outcome.exit_status)
                say(f"evalctl: {outcome}")
            else:
                run_summary(outcome)
                nothing = not outcome.trials["score"].notna().any()
                status = max(status, 4 if nothing else 0)
    leave(status)
