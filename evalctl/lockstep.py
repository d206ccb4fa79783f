"""Batches that are composed from the sample list, never from arrival.

In bf16 a greedy answer can change with the batch it was computed in, so which requests stand
together must not depend on timing. Members of a group move turn by turn: a batch is computed
when every member still at work has asked, in the group's order. A single-turn suite is the case
of one turn. Replaying a whole group therefore gives the same answers.
"""

import threading
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import anyio
import anyio.to_thread

from .errors import ServiceError
from .types import Completion, Model, Request


@dataclass
class _Asked:
    request: Request
    answered: anyio.Event = field(default_factory=anyio.Event)
    completion: Completion | None = None
    error: BaseException | None = None


@dataclass
class _Group:
    order: list[Hashable]
    at_work: set[Hashable]
    asked: dict[Hashable, _Asked] = field(default_factory=dict)

    @property
    def ready(self) -> bool:
        return bool(self.asked) and len(self.asked) == len(self.at_work)


class Lockstep:
    """Collects the requests of each group's members and computes them as one batch a turn.

    `groups` holds members in the order of the sample list; a member stands in exactly one group.
    The caller must start members in that order and enough of them at once for a whole group.
    """

    def __init__(self, model: Model, groups: Sequence[Sequence[Hashable]]) -> None:
        self._model = model
        self._computing = threading.Lock()
        self._group: dict[Hashable, _Group] = {}
        for members in groups:
            group = _Group(list(members), set(members))
            self._group.update(dict.fromkeys(members, group))

    async def ask(self, member: Hashable, request: Request) -> Completion:
        """The completion for `request`, computed beside the other members' requests of this turn.

        Raises ServiceError when the model failed on the batch.
        """
        group = self._group[member]
        asked = group.asked[member] = _Asked(request)
        if group.ready:
            await self._compute(group)
        await asked.answered.wait()
        if asked.error is not None:
            raise ServiceError(
                f"the model failed on a batch: {type(asked.error).__name__}: {asked.error}"
            ) from asked.error
        assert asked.completion is not None
        return asked.completion

    async def leave(self, member: Hashable) -> None:
        """`member` will not ask again; the others need not wait for it."""
        group = self._group[member]
        group.at_work.discard(member)
        if group.ready:
            await self._compute(group)

    def _generate(self, requests: list[Request]) -> list[Completion]:
        # A lock of the threads, not of the event loop: this object is made before the loop runs.
        with self._computing:
            return self._model.generate(requests)

    async def _compute(self, group: _Group) -> None:
        batch = [group.asked[member] for member in group.order if member in group.asked]
        group.asked = {}
        try:
            completions = await anyio.to_thread.run_sync(self._generate, [one.request for one in batch])
            for one, completion in zip(batch, completions, strict=True):
                one.completion = completion
        except Exception as error:
            for one in batch:
                one.error = error
        finally:
            for one in batch:
                if one.completion is None and one.error is None:
                    one.error = RuntimeError("the batch was cancelled")
                one.answered.set()
