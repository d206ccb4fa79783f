"""`evalctl demo`: the whole of it on a small real model, here."""

import click

SABOTAGES = ("shuffled-answers",)
"""Of training.pipeline, named here so that --help loads nothing heavy; a test holds the two together."""


@click.command(name="demo")
@click.option(
    "--quick", is_flag=True, help="A model of 0.9M parameters, trained here in a minute, on arithmetic alone."
)
@click.option(
    "--sabotage",
    type=click.Choice(SABOTAGES),
    help="Spoil the training data once it is verified, and see the campaign refused by its measured gain.",
)
def command(quick: bool, sabotage: str | None) -> None:
    """Evaluate SmolLM2-135M, train it on its failures, and gate what came of it beside a damaged variant and a copy.

    The models, runs, the campaign, verdicts and the report stand under EVALCTL_HOME (default .evalctl). A demo
    that was interrupted goes on where it stopped. Exit status that of the campaign: 0 promoted, 1 refused with its
    figure; 4 when evidence was not valid.
    """
    from app.campaign_table import show_campaign
    from app.demo import QUICK, SMOLLM2, run_demo
    from app.present import Display, console, safe
    from app.verdict_table import show_verdict
    from reports.verdicts import read

    from .root import goes_on, leave

    with goes_on("the same command goes on where it stopped"), Display() as display:
        told = run_demo(QUICK if quick else SMOLLM2, display, sabotage)
    to = console()
    to.print()
    show_campaign(told.campaign, to)
    for gated in told.gates:
        to.print()
        show_verdict(read(gated.json), to)
    to.print()
    for line in told.next_steps():
        to.print(safe(line), soft_wrap=True)
    leave(told.exit)
