"""`evalctl runs`: list, show and export finished runs."""

import sys
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

import click

from evalctl.errors import UsageError

from .json_option import json_option, writable, write_json_to
from .root import leave
from .said import say


@click.group(name="runs")
def command() -> None:
    """List, show and export finished runs."""


@command.command(name="list")
@click.option("--suite", metavar="NAME", help="Only runs of this suite.")
@click.option("--checkpoint", metavar="NAME", help="Only runs of this checkpoint.")
@json_option
def list_runs(suite: str | None, checkpoint: str | None, json_to: str | None) -> None:
    """List finished runs, newest first.

    Run folders that cannot be read are named, and the exit status is then 4.
    """
    from app.listings import runs_table
    from evalctl.store import Store

    store = Store.open()
    rows, problems = store.rows()
    rows = [row for row in rows if suite in (None, row.suite) and checkpoint in (None, row.checkpoint)]
    for problem in problems:
        say(f"evalctl: {problem}")
    if json_to:
        write_json_to(json_to, [asdict(row) for row in rows])
    else:
        runs_table(rows, store.partials())
    if problems:
        leave(4)


@command.command(name="show")
@click.argument("key")
@json_option
def show(key: str, json_to: str | None) -> None:
    """Show one run: its scores, and everything that could have changed them.

    KEY is a run key or its first 6 or more characters. Sealed and dev scores are not shown.
    """
    from app.listings import record_lines
    from app.tables import run_summary
    from evalctl.store import Store
    from evalctl.store.records import record_to_json
    from evalctl.store.resolve import run_key_of

    store = Store.open()
    full = run_key_of(store, key)
    if json_to:
        stored = store.stored(full)
        record = {**record_to_json(stored.record), "finished": stored.finished, "trials": stored.rows}
        write_json_to(json_to, record)
        return
    run = store.load(full)
    run_summary(run)
    record_lines(run.record, store.folder(full))


@command.command(name="export")
@click.argument("keys", nargs=-1, metavar="[KEY...]")
@click.option(
    "--format", "form", type=click.Choice(["jsonl", "csv", "parquet"]), default="jsonl", show_default=True, help="Form."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    callback=writable,
    help="Default: standard output.",
)
def export_runs(keys: tuple[str, ...], form: str, out: Path | None) -> None:
    """Write the trials of the runs KEY... (default: all) as JSON lines, CSV or Parquet.

    jsonl is the exchange form that `evalctl import` reads. With several runs each row begins with run and checkpoint.
    In CSV a text cell that a spreadsheet would take for a formula (it begins with = + - @, tab or carriage return, and
    is no plain number) gets an apostrophe before it, and control characters but tab and line feed are written out
    (\\x1b); number columns are written as they are. The other forms keep every text exactly. Sealed trials are left
    out.
    """
    from app.files import writing
    from evalctl.store import Store
    from evalctl.store.export import export
    from evalctl.store.resolve import run_key_of

    if form == "parquet" and out is None:
        raise UsageError("--format parquet needs --out FILE")
    store = Store.open()
    chosen = [run_key_of(store, key) for key in keys] or [row.key for row in store.find()]
    with nullcontext(sys.stdout.buffer) if out is None else writing(out) as file:
        done = export(store, list(dict.fromkeys(chosen)), form, file)
    sealed = f"; {done.withheld:,} sealed trials left out" if done.withheld else ""
    say(f"{done.rows:,} trials of {len(set(chosen))} runs{f' to {out}' if out else ''}{sealed}")
