"""No more sandboxed commands run at once than there are turns."""

from collections.abc import Sequence
from typing import Any

import anyio

from evalctl.queued import Queued
from evalctl.types import ExecResult, Sandbox


class Counting:
    """A Sandbox that notes how many of its commands run at once."""

    def __init__(self) -> None:
        self.now = self.most = 0

    async def exec(self, argv: Sequence[str], **_: Any) -> ExecResult:
        self.now += 1
        self.most = max(self.most, self.now)
        await anyio.sleep(0.01)
        self.now -= 1
        return ExecResult(0)

    async def read_file(self, path: str) -> bytes:
        return path.encode()

    async def write_file(self, path: str, data: bytes) -> None:
        raise PermissionError(path)


def test_commands_of_many_samples_take_turns_and_all_run() -> None:
    inner = Counting()

    async def everyone() -> int:
        turns, done = anyio.Semaphore(2), []

        async def one() -> None:
            done.append(await Queued(inner, turns).exec(["true"]))

        async with anyio.create_task_group() as tasks:
            for _ in range(9):
                tasks.start_soon(one)
        return len(done)

    assert anyio.run(everyone) == 9
    assert inner.most == 2


def test_a_queued_sandbox_is_a_sandbox_with_the_inner_ones_files() -> None:
    queued = Queued(Counting(), anyio.Semaphore(1))
    assert isinstance(queued, Sandbox)
    assert anyio.run(queued.read_file, "a") == b"a"
