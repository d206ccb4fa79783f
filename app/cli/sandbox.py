"""`evalctl sandbox exec`: one command in a sandbox, as suites, scorers and rewards run theirs."""

import asyncio
import math
import sys
from typing import Any

import click

from evalctl.errors import SandboxError, UsageError
from evalctl.types import ExecResult, Limits

from .json_option import writable, write_json_to
from .root import leave
from .said import say

FAILED = 125
"""Exit status when the sandbox, not the command in it, failed."""
LONGEST = 1_000_000.0
"""Seconds a command may be given: eleven days."""
LARGEST = 1024 * 2**40
"""Bytes of any size; the kernel's own bound is far above."""


@click.group(name="sandbox")
def command() -> None:
    """Try a command in a sandbox."""


def _seconds(context: click.Context, option: click.Parameter, value: float | None) -> float | None:
    if value is None:
        return None
    if not math.isfinite(value) or value <= 0:
        raise click.BadParameter(f"{value} is no time to run for; write seconds above 0", context, option)
    if value > LONGEST:
        raise click.BadParameter(f"{value:g} seconds; at most {LONGEST:,.0f}", context, option)
    return value


def _size(context: click.Context, option: click.Parameter, value: str) -> int:
    from sandboxes.limits import parse_size

    try:
        size = parse_size(value)
    except UsageError as error:
        raise click.BadParameter(str(error), context, option) from None
    if size > LARGEST:
        raise click.BadParameter(f"{value}; at most {LARGEST // 2**40}T", context, option)
    return size


@command.command(name="exec")
@click.option("--backend", default="bwrap", show_default=True, metavar="NAME", help="Which sandbox: bwrap.")
@click.option("--memory", default="512M", show_default=True, metavar="SIZE", callback=_size, help="Of the whole tree.")
@click.option("--pids", default=128, show_default=True, type=click.IntRange(1, 2**22), help="Processes and threads.")
@click.option("--time", default=30.0, show_default=True, callback=_seconds, help="Wall seconds.")
@click.option("--cpu", type=float, callback=_seconds, help="CPU seconds of each process.  [default: as --time]")
@click.option(
    "--work", default="256M", show_default=True, metavar="SIZE", callback=_size, help="Of /work, /tmp, /dev/shm each."
)
@click.option(
    "--output", default="1M", show_default=True, metavar="SIZE", callback=_size, help="Kept of each output stream."
)
@click.option("--stdin", is_flag=True, help="Give standard input to the command; else it has none.")
@click.option(
    "--json",
    "json_to",
    is_flag=False,
    flag_value="-",
    metavar="[FILE]",
    callback=writable,
    help="Give the result as JSON instead: to standard output (also as -), or to FILE.",
)
@click.argument("argv", nargs=-1, required=True, metavar="-- CMD...")
def exec_(backend: str, json_to: str | None, stdin: bool, argv: tuple[str, ...], **bounds: Any) -> None:
    """Run CMD in a fresh sandbox: no network, no home, nothing of this machine but its programs.

    CMD's output and exit status are passed through (128 + N for signal N). Else: 124 timed out,
    137 out of memory, 125 the sandbox itself failed. --json gives exit, stdout, stderr, timed_out,
    oom, sandbox_error and truncated.
    """
    limits = _limits(**bounds)
    given = sys.stdin.buffer.read() if stdin else b""
    try:
        result = asyncio.run(_run(backend, limits, argv, given))
    except SandboxError as error:
        if json_to:
            write_json_to(json_to, _report(ExecResult(FAILED), str(error)))
        say(f"evalctl: {error}")
        leave(FAILED)
    if json_to:
        write_json_to(json_to, _report(result, None))
    else:
        _pass_through(result, limits)
    leave(result.exit)


def _limits(*, time: float, cpu: float | None, memory: int, pids: int, work: int, output: int) -> Limits:
    return Limits(
        seconds=time,
        cpu_seconds=time if cpu is None else cpu,
        memory_bytes=memory,
        pids=pids,
        work_bytes=work,
        output_bytes=output,
    )


async def _run(backend: str, limits: Limits, argv: tuple[str, ...], given: bytes) -> ExecResult:
    from evalctl.lookup import find

    async with find("sandboxes", backend)().open(limits, {}) as sandbox:
        result: ExecResult = await sandbox.exec(argv, stdin=given)
        return result


def _report(result: ExecResult, failure: str | None) -> dict[str, object]:
    return {
        "exit": result.exit,
        "stdout": result.stdout.decode(errors="replace"),
        "stderr": result.stderr.decode(errors="replace"),
        "timed_out": result.timed_out,
        "oom": result.oom,
        "sandbox_error": failure,
        "truncated": result.truncated,
        "seconds": round(result.seconds, 6),
    }


def _pass_through(result: ExecResult, limits: Limits) -> None:
    """The command's own bytes, as they were; what happened to it is said after them, on standard error."""
    for stream, data in ((sys.stdout, result.stdout), (sys.stderr, result.stderr)):
        stream.buffer.write(data)
        stream.flush()
    if result.truncated:
        click.echo(f"evalctl: output was cut at {limits.output_bytes} bytes a stream (--output)", err=True)
    if result.timed_out:
        click.echo(f"evalctl: timed out after {result.seconds:.1f} s (--time, --cpu)", err=True)
    if result.oom:
        click.echo(f"evalctl: out of memory at {limits.memory_bytes} bytes (--memory)", err=True)
