"""`--json FILE`: what a command says, as one JSON value; `-` is standard output, and then nothing else is there."""

import json
from pathlib import Path
from typing import Any

import click

json_option = click.option(
    "--json",
    "json_to",
    metavar="FILE",
    help="Write the result as JSON to FILE; - is standard output, and nothing else.",
)


def write_json_to(target: str, value: Any) -> None:
    """Write `value` to a file, or to standard output for `-`; only finite numbers, control characters escaped."""
    text = json.dumps(value, indent=2, allow_nan=False)
    if target == "-":
        click.echo(text)
    else:
        Path(target).write_text(text + "\n", encoding="utf-8")
