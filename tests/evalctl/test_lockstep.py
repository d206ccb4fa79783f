"""Batches are composed from the list, whatever order the members arrive in."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio
import pytest

from evalctl.errors import ServiceError
from evalctl.lockstep import Lockstep
from evalctl.types import Completion, Engine, Message, Request


@dataclass
class Noting:
    """Answers with what stood beside a request, and notes every batch; `fails` on the n-th."""

    batch_size: int = 3
    fails: int | None = None
    batches: list[list[str]] = field(default_factory=list)
    engine: Engine = field(default_factory=lambda: Engine("noting", "1"))

    def generate(self, batch: Sequence[Request]) -> list[Completion]:
        self.batches.append([request.sample_id for request in batch])
        if self.fails == len(self.batches):
            raise MemoryError("too little")
        return [Completion(" ".join(self.batches[-1])) for _ in batch]


async def work(lockstep: Lockstep, member: str, turns: int, delay: float) -> list[str]:
    said = []
    try:
        for _ in range(turns):
            await anyio.sleep(delay)
            said.append((await lockstep.ask(member, Request((Message("user", "?"),), sample_id=member))).text)
    finally:
        await lockstep.leave(member)
    return said


def run(model: Noting, groups: list[list[str]], turns: dict[str, int], seed: int) -> None:
    delays = random.Random(seed)

    async def everyone() -> None:
        lockstep = Lockstep(model, groups)
        async with anyio.create_task_group() as tasks:
            for member in [m for group in groups for m in group]:
                tasks.start_soon(work, lockstep, member, turns[member], delays.random() / 50)

    anyio.run(everyone)


@pytest.mark.parametrize("seed", range(4))
def test_a_batch_holds_its_group_in_the_lists_order_whatever_arrives_first(seed: int) -> None:
    model = Noting()
    groups = [["a", "b", "c"], ["d", "e", "f"], ["g"]]
    run(model, groups, dict.fromkeys("abcdefg", 1), seed)
    assert sorted(model.batches) == groups


def test_members_that_are_done_are_not_waited_for_in_later_turns() -> None:
    model = Noting()
    run(model, [["a", "b", "c"]], {"a": 1, "b": 3, "c": 2}, 0)
    assert model.batches == [["a", "b", "c"], ["b", "c"], ["b"]]


def test_a_member_that_never_asks_does_not_hold_its_group_up() -> None:
    model = Noting()
    run(model, [["a", "b"]], {"a": 0, "b": 1}, 0)
    assert model.batches == [["b"]]


def test_a_model_that_fails_is_a_service_error_for_every_member_of_the_batch_and_no_other() -> None:
    model = Noting(fails=1)
    outcomes: dict[str, str] = {}

    async def one(lockstep: Lockstep, member: str) -> None:
        try:
            outcomes[member] = (await work(lockstep, member, 1, 0))[0]
        except ServiceError as error:
            outcomes[member] = str(error)

    async def everyone() -> None:
        lockstep = Lockstep(model, [["a", "b"], ["c", "d"]])
        async with anyio.create_task_group() as tasks:
            for member in "abcd":
                tasks.start_soon(one, lockstep, member)

    anyio.run(everyone)
    failed = {member for member, text in outcomes.items() if "MemoryError" in text}
    assert failed in ({"a", "b"}, {"c", "d"})
    assert {outcomes[member] for member in "abcd" if member not in failed} <= {"a b", "c d"}
