"""`evalctl plan`: what a policy can resolve, before anyone runs it."""

from pathlib import Path

import click

from .json_option import json_option, write_json_to
from .root import leave


@click.command(name="plan")
@click.option(
    "--policy", "policy_file", required=True, metavar="FILE", type=click.Path(path_type=Path), help="The gate's policy."
)
@click.option("--baseline", metavar="REF", help="Read sizes, clusters and noise from these runs.")
@json_option
def command(policy_file: Path, baseline: str | None, json_to: str | None) -> None:
    """Say how many samples a policy needs, the smallest drop it sees, and the chance that no change passes.

    Power is 80%. Without --baseline one sample a cluster is taken, with success rates spread evenly. Exit status 3
    where a margin cannot be resolved at the baseline's size, or at any.
    """
    from app.planning import plan_of, plan_to_json, show_plan
    from evalctl.policy import load_policy
    from evalctl.store import Store

    made = plan_of(Store.open(), load_policy(policy_file), baseline)
    if json_to:
        write_json_to(json_to, plan_to_json(made))
    if json_to != "-":
        show_plan(made)
    leave(made.exit)
