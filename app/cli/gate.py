"""`evalctl gate`: the decision on a checkpoint."""

from pathlib import Path

import click

from .json_option import json_option, write_json_to
from .root import leave


@click.command(name="gate")
@click.option(
    "--policy", "policy_file", required=True, metavar="FILE", type=click.Path(path_type=Path), help="What is demanded."
)
@click.option("--baseline", required=True, metavar="REF", help="What the candidate is compared with.")
@click.option("--candidate", required=True, metavar="REF", help="The checkpoint that is judged.")
@json_option
def command(policy_file: Path, baseline: str, candidate: str, json_to: str | None) -> None:
    """Judge a candidate against a baseline by a policy, and keep the verdict.

    A REF is a run, a checkpoint name, a path, a model reference or baseline:NAME; it means the newest complete run of
    each suite that the policy names that covers the roles the suite is read in. Exit status: 0 PASS (or an
    INCONCLUSIVE that the policy allows), 1 REGRESSED, 3 INCONCLUSIVE, 4 INVALID. The bounds are one-sided: the lower
    decides PASS, the upper REGRESSED.
    """
    from app.verdict_table import show_verdict
    from evalctl.gate.from_store import gate
    from evalctl.policy import load_policy
    from evalctl.store import Store
    from reports.verdicts import read

    policy = load_policy(policy_file)
    gated = gate(Store.open(), policy, baseline, candidate)
    if json_to:
        write_json_to(json_to, gated.json)
    if json_to != "-":
        show_verdict(read(gated.json))
    leave(gated.verdict.exit)
