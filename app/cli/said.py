"""What goes wrong, on standard error: a line that cannot move the terminal, whatever stands in it."""

import re
import sys

import click

LONG = re.compile(r"(\S{200})\S{300,}")
"""A word that nobody reads to its end: a name or a path that was not meant to be one."""


def say(text: object) -> None:
    """One line on standard error; control characters are written out, a line break is a space."""
    # Here and not above: the help imports nothing of it.
    from reports.words import visible

    line = visible(LONG.sub(r"\1...", str(text)))
    sys.stderr.write(f"{line}\n")


def say_each(text: str) -> None:
    """Every line of `text`, as `say` does."""
    for line in text.split("\n"):
        say(line)


def show_usage(error: click.ClickException) -> None:
    """Click's own error as click shows it, but for the characters that a person gave."""
    from reports.words import visible

    # The message of this one is the help of a command, of many lines.
    if not isinstance(error, click.exceptions.NoArgsIsHelpError):
        vars(error)["message"] = visible(LONG.sub(r"\1...", error.message))
    error.show()
