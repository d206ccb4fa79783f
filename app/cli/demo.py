"""`evalctl demo`: the whole of it on a small real model, here."""

import click


@click.command(name="demo")
@click.option(
    "--quick", is_flag=True, help="A model of 0.9M parameters, trained here in a minute, on arithmetic alone."
)
def command(quick: bool) -> None:
    """Evaluate SmolLM2-135M in sandboxes, and gate a damaged variant and an identical copy of it.

    The models, runs, verdicts and the report stand under EVALCTL_HOME (default .evalctl). A demo that
    was interrupted goes on where it stopped. Exit status 0 when it ran to its end, whatever the gate
    said; 4 when a comparison was not valid.
    """
    from app.demo import QUICK, SMOLLM2, run_demo
    from app.present import Display, console, safe
    from app.verdict_table import show_verdict
    from reports.verdicts import read

    from .root import goes_on, leave

    with goes_on("the same command goes on where it stopped"), Display() as display:
        told = run_demo(QUICK if quick else SMOLLM2, display)
    to = console()
    for gated in told.gates:
        to.print()
        show_verdict(read(gated.json), to)
    to.print()
    for line in told.next_steps():
        to.print(safe(line), soft_wrap=True)
    leave(told.exit)
