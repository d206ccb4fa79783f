"""Sandboxed commands take turns: no more run at once than there are cores.

Members of a batch reach their commands and verifiers together. Run all at once, each would get a
sliver of a core, and time limits would measure the neighbours, not the command.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import anyio

from .types import ExecResult, Sandbox


def turns() -> anyio.Semaphore:
    """As many turns as this process has cores."""
    return anyio.Semaphore(len(os.sched_getaffinity(0)))


@dataclass(frozen=True)
class Queued:
    """A Sandbox whose commands wait for a turn; a command's own time starts when it runs."""

    sandbox: Sandbox
    turns: anyio.Semaphore

    async def exec(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        seconds: float | None = None,
        readonly: Mapping[str, bytes] | None = None,
    ) -> ExecResult:
        """As the sandbox's own, in its turn."""
        async with self.turns:
            return await self.sandbox.exec(argv, stdin=stdin, env=env, seconds=seconds, readonly=readonly)

    async def read_file(self, path: str) -> bytes:
        """As the sandbox's own."""
        return await self.sandbox.read_file(path)

    async def write_file(self, path: str, data: bytes) -> None:
        """As the sandbox's own."""
        await self.sandbox.write_file(path, data)
