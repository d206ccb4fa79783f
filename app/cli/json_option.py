"""`--json FILE`: what a command says, as one JSON value; `-` is standard output, and then nothing else is there."""

import json
from pathlib import Path
from typing import Any

import click


def writable(_context: click.Context, option: click.Parameter, value: Any) -> Any:
    """A callback of an option that names a file: where it cannot be written, the work does not begin."""
    if value is not None and str(value) != "-":
        from app.files import ready

        ready(Path(value), option.opts[0])
    return value


json_option = click.option(
    "--json",
    "json_to",
    metavar="FILE",
    callback=writable,
    help="Write the result as JSON to FILE; - is standard output, and nothing else.",
)


def write_json_to(target: str, value: Any) -> None:
    """Write `value` to a file, or to standard output for `-`; only finite numbers, control characters escaped."""
    text = json.dumps(value, indent=2, allow_nan=False)
    if target == "-":
        click.echo(text)
    else:
        from app.files import write

        write(Path(target), text + "\n", "--json")
