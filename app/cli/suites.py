"""`evalctl suites`: list, show, prove, export and begin suites."""

from dataclasses import asdict
from pathlib import Path

import click

from evalctl.errors import EvalctlError

from .json_option import json_option, writable, write_json_to
from .root import leave

size_option = click.option(
    "--samples", type=click.IntRange(1, 10_000_000), metavar="N", help="Size of a generated suite (default: its own)."
)
seed_option = click.option(
    "--seed", type=click.IntRange(-(2**31), 2**31 - 1), default=0, show_default=True, help="Seed of the generator."
)


@click.group(name="suites")
def command() -> None:
    """List, show, validate and export suites.

    A suite is a name, or the path of a folder with a suite.yaml (./my-suite). Loading a folder whose
    suite.yaml names a generator runs that Python file: load only what you would run.
    """


@command.command(name="list")
@json_option
def list_suites(json_to: str | None) -> None:
    """List every suite by name, those of other installed packages too."""
    from app.suite_tables import describe, suites_table
    from evalctl import lookup
    from suites import load_suite

    rows = []
    for name in sorted(lookup.table("suites")):
        try:
            rows.append(describe(load_suite(name)))
        except EvalctlError as error:
            rows.append({"name": name, "error": str(error)})
    if json_to:
        write_json_to(json_to, rows)
    else:
        suites_table(rows)


@command.command(name="show")
@click.argument("name")
@size_option
@seed_option
@json_option
def show(name: str, samples: int | None, seed: int, json_to: str | None) -> None:
    """Show what NAME measures and does not, where its samples stand, and one sample of each family."""
    from app.suite_tables import describe, suite_page
    from suites import load_suite

    suite = load_suite(name, samples, seed)
    if json_to:
        write_json_to(json_to, describe(suite))
    else:
        suite_page(suite)


@command.command(name="validate")
@click.argument("names", nargs=-1, metavar="[NAME|PATH]...")
@click.option(
    "--oracle/--no-oracle",
    default=True,
    show_default=True,
    help="Prove each sample: its reference scores 1; nothing, and wrong answers, score 0. Else the data alone.",
)
@size_option
@seed_option
@json_option
def validate(names: tuple[str, ...], oracle: bool, samples: int | None, seed: int, json_to: str | None) -> None:
    """Prove suites without a model; all of them where none is named. Exit 4 when something is found.

    A suite that does not load is told, the others go on, and the exit status is 2 when nothing worse is found.
    """
    from app.present import console, watch_on_terminal
    from app.suite_tables import problem_lines
    from evalctl import lookup
    from evalctl.types import Trial
    from suites import load_suite
    from suites.validate import validate as prove

    found, unloaded = [], 0
    with watch_on_terminal() as display:
        for name in names or tuple(sorted(lookup.table("suites"))):
            try:
                suite = load_suite(name, samples, seed)
            except EvalctlError as error:
                display.say(f"evalctl: {error}")
                unloaded = error.exit_status
                continue
            display.begin(f"proving {suite.name}", len(suite.samples), 0)
            tick = Trial(suite.name, suite.digest, "", "")
            problems = prove(suite, oracle, lambda *_, tick=tick: display.advance(tick))
            display.end()
            found += problems
            if not json_to:
                problem_lines(suite, problems, oracle, console())
    if json_to:
        write_json_to(json_to, [asdict(problem) for problem in found])
    if found or unloaded:
        leave(4 if found else unloaded)


@command.command(name="export")
@click.argument("name")
@click.option(
    "--out", type=click.Path(path_type=Path), callback=writable, help="Write there (default: standard output)."
)
@size_option
@seed_option
def export(name: str, out: Path | None, samples: int | None, seed: int) -> None:
    """Write the samples of NAME as JSON lines, roles drawn: the samples.jsonl of the same suite as a file."""
    from app.files import write
    from suites import load_suite
    from suites.export import export_lines

    lines = export_lines(load_suite(name, samples, seed).samples)
    if out is None:
        for line in lines:
            click.echo(line)
    else:
        write(out, "".join(f"{line}\n" for line in lines))


@command.command(name="new")
@click.argument("folder", metavar="NAME", type=click.Path(path_type=Path))
def new(folder: Path) -> None:
    """Write a small working suite in a new folder NAME, to change into your own."""
    from suites.skeleton import write_skeleton

    write_skeleton(folder)
    click.echo(f"{folder}: suite.yaml and generate.py; try `evalctl suites validate ./{folder}`")
