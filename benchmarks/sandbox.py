"""How long a sandbox takes: create, run `true`, destroy; and each further command in an open one.

    python benchmarks/sandbox.py [--times N]

Prints median and 90th percentile in milliseconds, beside a plain `true` without a sandbox in the same run.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from evalctl.types import Limits
from sandboxes.bwrap import Bwrap


@contextmanager
def clocked(to: list[float]) -> Iterator[None]:
    """Add the milliseconds spent inside to `to`."""
    started = time.perf_counter()
    yield
    to.append((time.perf_counter() - started) * 1000)


async def measure(backend: Bwrap, times: int) -> dict[str, list[float]]:
    """Milliseconds by what was done."""
    found: dict[str, list[float]] = {
        "create, true, destroy": [],
        "a further true": [],
        "two cores, 8 at once, each": [],
    }

    async def whole() -> None:
        async with backend.open(Limits(), {}) as sandbox:
            assert (await sandbox.exec(["true"])).exit == 0

    await whole()
    for _ in range(times):
        with clocked(found["create, true, destroy"]):
            await whole()
    async with backend.open(Limits(), {}) as sandbox:
        for _ in range(times):
            with clocked(found["a further true"]):
                await sandbox.exec(["true"])
    for _ in range(max(1, times // 8)):
        spent: list[float] = []
        with clocked(spent):
            await asyncio.gather(*(whole() for _ in range(8)))
        found["two cores, 8 at once, each"].append(spent[0] / 8)
    return found


def row(name: str, values: list[float]) -> str:
    """One line of the table."""
    tenths = statistics.quantiles(values, n=10) if len(values) > 1 else values * 9
    return f"{name:<52} {statistics.median(values):7.1f} {tenths[8]:7.1f}"


def plain(times: int) -> list[float]:
    """A `true` without a sandbox."""
    found: list[float] = []
    for _ in range(times):
        with clocked(found):
            subprocess.run(["true"], check=True)
    return found


def main() -> None:
    """Measure every form that works here."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=100, help="how often each is done (default 100)")
    times = parser.parse_args().times
    forms: dict[str, Callable[[], Bwrap]] = {
        "bwrap": Bwrap,
        "bwrap without groups": lambda: Bwrap(groups=False),
    }
    print(f"load before {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; ms{'':<27} median     90%")
    print(row("no sandbox: true", plain(times)))
    for name, make in forms.items():
        backend = make()
        if why := backend.unavailable():
            print(f"{name}: {why}")
            continue
        for what, values in asyncio.run(measure(backend, times)).items():
            print(row(f"{name}: {what}", values))


if __name__ == "__main__":
    main()
