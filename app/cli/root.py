"""The root command: a table of command modules, each loaded only when it is called."""

import difflib
import errno
import importlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

import click

from evalctl import __version__
from evalctl.errors import EvalctlError

from .said import say, show_usage

UNUSABLE = frozenset(
    {
        errno.EACCES,
        errno.EPERM,
        errno.EROFS,
        errno.ENOENT,
        errno.ENOTDIR,
        errno.EISDIR,
        errno.EEXIST,
        errno.ELOOP,
        errno.ENAMETOOLONG,
    }
)
"""What is wrong with the place a person named, and no fault of the machine or of ours."""
COMMANDS: dict[str, tuple[str, str]] = {
    "baselines": ("app.cli.baselines", "Pin the runs of a checkpoint under a name, and list the pins."),
    "checkpoints": ("app.cli.checkpoints", "List, show and promote checkpoints, and where each came from."),
    "compare": ("app.cli.compare", "Paired differences of two or more checkpoints, suite by suite."),
    "demo": ("app.cli.demo", "Evaluate and gate a small real model here, with a report at the end."),
    "doctor": ("app.cli.doctor", "What works on this machine, and the command that brings what is missing."),
    "gate": ("app.cli.gate", "Decide on a checkpoint: pass, regressed, inconclusive or invalid."),
    "import": ("app.cli.importing", "Read trials that another tool made."),
    "ledger": ("app.cli.ledger", "Show the looks that were taken at sealed samples."),
    "plan": ("app.cli.plan", "How many samples a policy needs, and what it can resolve."),
    "report": ("app.cli.report", "One HTML or Markdown file: matrix, intervals, verdicts."),
    "run": ("app.cli.run", "Run suites on a checkpoint."),
    "runs": ("app.cli.runs", "List, show and export runs."),
    "sandbox": ("app.cli.sandbox", "Try a command in a sandbox."),
    "score": ("app.cli.score", "Try a scorer without a model."),
    "store": ("app.cli.store", "Check the store, or rebuild its index from the files."),
    "suites": ("app.cli.suites", "List, show, validate and export suites."),
    "train-on-failures": ("app.cli.train", "Failures to verified data to a checkpoint that held-out gains promote."),
    "app": ("app.cli.dashboard", "Open the dashboard (loopback only)."),
}
"""Command to (module, one line of help). The module's `command` is the click command."""


class LazyGroup(click.Group):
    """A group whose members are imported by name, so that `--help` imports nothing heavy."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(COMMANDS[cmd_name][0]).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            guess = f"; did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"unknown command {args[0]!r}{guess} (evalctl --help lists them)")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="evalctl")
def root() -> None:
    """Evaluate checkpoints of a language model, and gate them on evidence.

    Records stand under EVALCTL_HOME (default .evalctl). Exit status: 0 done or pass, 1 regressed
    or refused, 2 usage, 3 inconclusive, 4 invalid or missing evidence, 5 internal error, 130 interrupted.
    """


def dispatch(arguments: Sequence[str]) -> int:
    """Run one command; errors raised on purpose become one line and their exit status."""
    try:
        # Not `root.main`: that turns a reader that went away (`evalctl runs list | head`) into an exit of 1.
        with root.make_context("evalctl", list(arguments)) as context:
            outcome = root.invoke(context)
        return outcome if isinstance(outcome, int) else 0
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.exceptions.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        show_usage(error)
        return error.exit_code
    except EvalctlError as error:
        say(f"evalctl: {error}")
        return error.exit_status
    except OSError as error:
        place = str(error.filename or "a file")
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            say(f"evalctl: no free disk ({place}); free some, and {told_of(error) or 'try again'}")
            return 5
        if error.errno in UNUSABLE:
            home = os.environ.get("EVALCTL_HOME")
            hint = "; EVALCTL_HOME names the folder of the records" if home and place.startswith(home) else ""
            say(f"evalctl: {place}: cannot be used ({error.strerror}){hint}")
            return 2
        raise


@contextmanager
def goes_on(how: str) -> Iterator[None]:
    """Work that is kept when it is interrupted or the disk is full: `how` is then said to go on."""
    try:
        yield
    except (KeyboardInterrupt, OSError) as error:
        error.add_note(how)
        raise


def told_of(error: BaseException) -> str:
    """What `goes_on` left on an error; empty where it left nothing."""
    return "; ".join(getattr(error, "__notes__", []))


def leave(status: int) -> NoReturn:
    """End the running command with an exit status of the contract."""
    raise click.exceptions.Exit(status)
