"""`run_suite(plan, store) -> Run`: the one loop. Interrupted anywhere, it goes on where it stopped.

A run has a key made of everything that could change a score. Each finished trial is one fsynced
line; what is missing is what is left to do. Where answers are computed in batches, a batch that was
not finished is replayed whole, so that resuming gives the same trials.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import groupby, islice
from typing import TYPE_CHECKING, Protocol, TypeAlias

from .digests import canonical, digest
from .errors import EvidenceError, UsageError
from .identity import agent_digest, sandbox_digest, scorer_digest
from .keys import run_key
from .lookup import find
from .store import RunWriter, Store
from .trials import Member, members
from .types import Checkpoint, Engine, Model, Run, RunRecord, Sampling, Status, Suite, Trial

if TYPE_CHECKING:
    from .inspect_adapter.evaluate import Bench

RETRIES = 2
"""Further passes over trials that ended in an infrastructure error which another try may mend."""
FINAL = ("SandboxUnavailable", "internal")
"""Errors that another try does not mend: no sandbox on this machine, a fault of our own."""
MOST_DOWN = 0.02
"""Share of trials that may stay infrastructure errors in a sealed run; the gate's own default."""
SERVED_CONCURRENCY = 16
"""Trials at once against a served model, which batches by itself."""
GROUPS_AT_ONCE = 2
"""Batches whose members are at work at once: the second opens its sandboxes while the first computes."""


Key: TypeAlias = tuple[str, str, int]
"""(content key, variant key, epoch) of a trial."""


class Watch(Protocol):
    """Who is told how a run goes."""

    def begin(self, label: str, total: int, done: int) -> None:
        """A run starts, or goes on with `done` of `total` trials there."""
        ...

    def advance(self, trial: Trial) -> None:
        """One more trial has finished."""
        ...

    def say(self, text: str) -> None:
        """One line a person should read."""
        ...

    def end(self) -> None:
        """The run is over, well or not."""
        ...


@dataclass(frozen=True)
class RunPlan:
    """What to run and how; `record` is all of it that could change a score."""

    suite: Suite
    checkpoint: Checkpoint
    model: Model | None
    """None: served, answered through Inspect's provider of that name."""
    sampling: Sampling
    epochs: int
    seed: int
    record: RunRecord


def plan_run(
    suite: Suite,
    checkpoint: Checkpoint,
    model: Model | None,
    *,
    sampling: Sampling | None = None,
    epochs: int | None = None,
    seed: int = 0,
    replicate: int = 0,
) -> RunPlan:
    """The plan of one run; `sampling` and `epochs` default to the suite's own."""
    sampling = sampling or Sampling(max_tokens=suite.max_tokens)
    epochs = epochs or suite.epochs
    expected = tuple(member.key for member in members(suite, epochs))
    if len(set(expected)) != len(expected):
        raise UsageError(f"suite {suite.name}: two samples have one content key; `evalctl suites validate` names them")
    scorer = scorer_digest(suite.scorer)
    record = RunRecord(
        key="",
        suite={
            "name": suite.name,
            "version": suite.version,
            "digest": suite.digest,
            "n": len(suite.samples),
            "roles": sorted({str(sample.role) for sample in suite.samples}),
        },
        checkpoint=asdict(checkpoint),
        prompt_digest=digest([suite.prompt_digest, agent_digest(suite.agent)]),
        sampling=asdict(sampling),
        judge={"scorer": suite.scorer.name, "digest": scorer},
        limits={**asdict(suite.limits), "max_turns": suite.max_turns},
        scorer_digest=scorer,
        sandbox_digest=sandbox_digest(suite.sandbox),
        engine=asdict(model.engine if model else _served_engine(checkpoint)),
        seed=seed,
        replicate=replicate,
        expected=expected,
    )
    return RunPlan(suite, checkpoint, model, sampling, epochs, seed, replace(record, key=run_key(record)))


def run_suite(plan: RunPlan, store: Store, watch: Watch, *, resume: bool = False) -> Run:
    """Run what is missing of `plan` and return the finished run; a run that is there is returned as it is.

    Raises UsageError when an interrupted run of this key is there and `resume` is not asked for,
    KeyboardInterrupt when interrupted (what has finished is kept).
    """
    key = plan.record.key
    if store.has(key):
        watch.say(f"{plan.suite.name} on {plan.checkpoint.name}: already there as run {key[:12]}, nothing to do")
        return store.load(key)
    everyone = members(plan.suite, plan.epochs)
    with store.begin(replace(plan.record, started=_now())) as writer:
        done = _finished(writer)
        if done and not resume:
            raise UsageError(
                f"an interrupted run of exactly this is there ({len(done)} of {len(everyone)} trials, run {key[:12]}); "
                "--resume goes on with it, --replicate N makes a fresh one"
            )
        watch.begin(f"{plan.suite.name} on {plan.checkpoint.name}", len(everyone), len(done))
        try:
            _work(plan, everyone, writer, watch)
        finally:
            watch.end()
        _settled(plan, writer)
        return writer.finish(complete=not plan.suite.cut, seconds=writer.spent)


def _settled(plan: RunPlan, writer: RunWriter) -> None:
    """A run is sealed once what another try might mend is within what a gate may bear.

    Raises EvidenceError otherwise: the run stays open, so that --resume tries those trials again.
    """
    final = _final(writer)
    down = [t for t in writer.trials if t.status == Status.INFRA_ERROR and _key(t) not in final]
    if len(down) > MOST_DOWN * len(writer.trials):
        raise EvidenceError(
            f"{plan.suite.name} on {plan.checkpoint.name}: {len(down)} of {len(writer.trials)} trials ended in "
            f"infrastructure errors ({down[0].error}); what has finished is kept, --resume tries the others again"
        )


def _work(plan: RunPlan, everyone: Sequence[Member], writer: RunWriter, watch: Watch) -> None:
    """Passes over what is missing, then over infrastructure errors that another try may mend."""
    from .inspect_adapter.evaluate import Pass, evaluate, name_logs

    bench = _bench(plan)
    size = plan.model.batch_size if plan.model else 1
    groups = list(_groups(everyone, size))
    logs = writer.folder / "logs"
    name_logs(logs)
    settled = _finished(writer)
    for _ in range(1 + RETRIES):
        again = [group for group in groups if any(member.key not in settled for member in group)]
        for epoch in sorted({group[0].epoch for group in again}):
            part = Pass(
                name=f"epoch-{epoch}-pass-{len(list(logs.glob('*.eval'))) + 1}",
                groups=[group for group in again if group[0].epoch == epoch],
                concurrent=size * GROUPS_AT_ONCE if plan.model else SERVED_CONCURRENCY,
            )
            began = time.monotonic()
            try:
                evaluate(bench, part, logs, _keep(writer, watch, settled))
            finally:
                writer.note_time(time.monotonic() - began)
        settled = _finished(writer) | _final(writer)


def _keep(writer: RunWriter, watch: Watch, settled: frozenset[Key]) -> Callable[[Member, Trial], None]:
    """Append each finished trial, but for those a replayed batch only repeats."""

    def finished(member: Member, trial: Trial) -> None:
        if member.key not in settled:
            writer.append(trial)
            watch.advance(trial)

    return finished


def _key(trial: Trial) -> Key:
    return (trial.content_key, canonical(trial.variant), trial.epoch)


def _finished(writer: RunWriter) -> frozenset[Key]:
    """Members whose trial stands; an infrastructure error does not, since another try may mend it."""
    return frozenset(_key(trial) for trial in writer.trials if trial.status != Status.INFRA_ERROR)


def _final(writer: RunWriter) -> frozenset[Key]:
    """Members whose infrastructure error another try does not mend."""
    return frozenset(_key(trial) for trial in writer.trials if trial.error and trial.error.startswith(FINAL))


def _groups(everyone: Sequence[Member], size: int) -> Iterator[list[Member]]:
    """Batches of `size` in the order of the sample list; a batch never spans two epochs."""
    for _, epoch in groupby(everyone, key=lambda member: member.epoch):
        while group := list(islice(epoch, size)):
            yield group


def _bench(plan: RunPlan) -> "Bench":
    from .inspect_adapter.evaluate import Bench

    suite = plan.suite
    return Bench(
        suite=suite,
        checkpoint=plan.checkpoint,
        model=plan.model,
        agent=find("agents", suite.agent, f"suite {suite.name}")(suite),
        scorer=find("scorers", suite.scorer.name, f"suite {suite.name}")(**suite.scorer.options),
        backend=find("sandboxes", suite.sandbox, f"suite {suite.name}")() if suite.sandbox else None,
        sampling=plan.sampling,
        seed=plan.seed,
    )


def _served_engine(checkpoint: Checkpoint) -> Engine:
    return Engine(name=f"inspect:{checkpoint.reference.split('/', 1)[0]}", version=version("inspect-ai"))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
