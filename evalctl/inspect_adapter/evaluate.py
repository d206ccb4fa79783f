"""One pass over members of a suite as an Inspect task; every finished member is handed on at once."""

import re
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import anyio
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import MemoryDataset
from inspect_ai.dataset import Sample as InspectSample
from inspect_ai.log import EvalLog
from inspect_ai.model import Model as InspectModel
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score as InspectScore
from inspect_ai.scorer import Scorer as InspectScorer
from inspect_ai.scorer import Target, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from ..errors import ResourceError, SandboxError, ServiceError
from ..judging import judge, told
from ..lockstep import Lockstep
from ..queued import Queued, turns
from ..trials import Member, Outcome, make_trial, status_of
from ..types import (
    Agent,
    Checkpoint,
    Model,
    Sampling,
    SandboxBackend,
    SandboxScorer,
    Score,
    Scorer,
    Status,
    Suite,
    Trial,
)
from .model import InspectChat, open_model, to_inspect


@dataclass(frozen=True)
class Bench:
    """What every trial of a run works with."""

    suite: Suite
    checkpoint: Checkpoint
    model: Model | None
    """None where Inspect's own provider answers."""
    agent: Agent
    scorer: Scorer | SandboxScorer
    backend: SandboxBackend | None
    sampling: Sampling
    seed: int


@dataclass(frozen=True)
class Pass:
    """One Inspect log: groups of members that are computed together, of one epoch."""

    name: str
    """Names the log: `logs/<name>.eval`."""
    groups: Sequence[Sequence[Member]]
    concurrent: int
    """Members at work at once; at least the largest group."""


def evaluate(bench: Bench, one: Pass, folder: Path, finished: Callable[[Member, Trial], None]) -> None:
    """Run `one` and hand every finished trial on, as it finishes, with its transcript reference.

    Inspect's exit status and aggregates are not read: what counts is each member's own outcome.
    Raises KeyboardInterrupt when interrupted, whatever `finished` raised first (no free disk), and
    ResourceError when Inspect could not run at all.
    """
    model = open_model(bench.checkpoint)
    lockstep = Lockstep(bench.model, [[m.inspect_id for m in group] for group in one.groups]) if bench.model else None
    everyone = {member.inspect_id: member for group in one.groups for member in group}
    commands = turns()
    broken: list[BaseException] = []

    async def work(inspect_id: str) -> Outcome:
        if broken:  # what finishes now could not be kept either
            raise broken[0]
        member = everyone[inspect_id]
        seed = member.seed(bench.seed)
        chat = InspectChat(model, bench.sampling, seed, member.sample.id, None, lockstep, inspect_id)
        outcome = await _outcome(bench, member, chat, commands)
        try:
            finished(member, make_trial(bench.suite, member, outcome, f"logs/{one.name}.eval#{inspect_id}/1"))
        except Exception as error:
            broken.append(error)
            raise
        return outcome

    try:
        log = _inspect(bench, one, model, folder, work)
    finally:
        name_logs(folder)
    if broken:
        raise broken[0]
    if log.status == "cancelled":
        raise KeyboardInterrupt
    if log.status == "error":
        why = log.error.message if log.error else "no reason given"
        raise ResourceError(f"suite {bench.suite.name}: Inspect stopped: {why}")


def _inspect(
    bench: Bench, one: Pass, model: InspectModel, folder: Path, work: Callable[[str], Awaitable[Outcome]]
) -> EvalLog:
    members = [member for group in one.groups for member in group]
    task = Task(
        dataset=MemoryDataset([_sample(bench.suite, member) for member in members], name=bench.suite.name),
        solver=_solver(work),
        scorer=_scorer(),
        name=one.name,
        metadata={"suite": bench.suite.name, "suite_digest": bench.suite.digest, "checkpoint": bench.checkpoint.name},
    )
    logs = inspect_eval(
        task,
        model=model,
        log_dir=str(folder),
        log_format="eval",
        display="none",
        log_level="error",
        fail_on_error=False,
        max_samples=one.concurrent,
        log_buffer=1,
        log_realtime=False,
        log_shared=False,
        acp_server=False,  # nothing listens
        ctl_server=False,
        score_display=False,
    )
    if not logs:  # Inspect swallows an interrupt and gives nothing back
        raise KeyboardInterrupt
    return logs[0]


def name_logs(folder: Path) -> None:
    """Give each log the name of its pass, which its trials refer to (Inspect's own name holds the time)."""
    for log in sorted(folder.glob("*.eval")):
        if found := re.search(r"_(epoch-\d+-pass-\d+)_", log.name):
            log.replace(folder / f"{found[1]}.eval")


async def _outcome(bench: Bench, member: Member, chat: InspectChat, commands: anyio.Semaphore) -> Outcome:
    """Work on one member and judge it; what is not the model's failure never becomes a 0."""
    began = time.monotonic()
    completion = None
    try:
        async with chat, AsyncExitStack() as stack:
            if bench.backend is not None:
                files = {path: text.encode() for path, text in member.sample.files.items()}
                opened = await stack.enter_async_context(bench.backend.open(bench.suite.limits, files))
                chat.sandbox = Queued(opened, commands)
            completion = chat.told(await bench.agent(member.sample, bench.suite.prefix, chat))
            await chat.leave()
            status, score, error = await judge(bench.scorer, member.sample, completion, chat.sandbox)
    except (SandboxError, ServiceError) as failed:
        status, score, error = Status.INFRA_ERROR, Score(None), told(failed)
    except Exception as failed:
        # Our own agents' faults are ours: never a model's failure, never a 0.
        status, score, error = Status.INFRA_ERROR, Score(None), f"internal: {type(failed).__name__}: {failed}"
    if completion is not None:
        status = status_of(completion, status)
    return Outcome(status, score, completion, error, time.monotonic() - began, chat.context_tokens)


def _sample(suite: Suite, member: Member) -> InspectSample:
    sample = member.sample
    target = sample.target if isinstance(sample.target, str) else repr(sample.target)
    return InspectSample(
        id=member.inspect_id,
        input=[to_inspect(message) for message in (*suite.prefix, *sample.messages)],
        target=target,
        metadata={"family": sample.family, "cluster": sample.cluster, "role": str(sample.role), "epoch": member.epoch},
    )


def _solver(work: Callable[[str], Awaitable[Outcome]]) -> Solver:
    @solver(name="evalctl_trial")
    def trial() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            outcome = await work(str(state.sample_id))
            state.metadata["outcome"] = {
                "status": str(outcome.status),
                "score": outcome.score.value,
                "answer": outcome.score.answer,
                "explanation": outcome.score.explanation,
            }
            if outcome.completion is None:
                raise RuntimeError(outcome.error or str(outcome.status))
            state.output = ModelOutput.from_content(str(state.model), outcome.completion.text)
            state.messages.append(state.output.message)
            return state

        return solve

    return trial()


def _scorer() -> InspectScorer:
    @scorer(metrics=[mean()], name="evalctl_score")
    def score() -> InspectScorer:
        async def read(state: TaskState, target: Target) -> InspectScore | None:
            outcome = state.metadata["outcome"]
            if outcome["score"] is None:
                return None
            return InspectScore(
                value=outcome["score"],
                answer=outcome["answer"],
                explanation=outcome["explanation"],
                metadata={"status": outcome["status"]},
            )

        return read

    return score()
