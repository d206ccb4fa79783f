"""Proof, without a model, that every sample can be passed and can be failed.

The reference answer must score 1; an empty answer, an agent that does nothing, and at least three wrong answers
must score 0. Where a suite has a sandbox, its agent works in the real one with a scripted model behind it, so the
agent, the sandbox, the files and the hidden tests are proved together.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from evalctl import lookup
from evalctl.errors import SandboxError
from evalctl.judging import judge
from evalctl.types import (
    Completion,
    Message,
    Sample,
    Sandbox,
    SandboxBackend,
    SandboxScorer,
    Score,
    Scorer,
    Status,
    Suite,
)

from .checks import Problem, check_data

MIN_WRONG = 3
AT_ONCE = 4
"""Sandboxes open at a time: hidden tests are short, and the machine may be small."""
NOTHING = "I have nothing to do here."

Progress = Callable[[int, int], None]
"""Called with (samples proved, samples in all)."""


@dataclass
class Script:
    """A Chat whose model says the given turns, then that it is done."""

    turns: list[str]
    sandbox: Sandbox | None = None
    said: int = field(default=0, init=False)

    async def generate(self, messages: Sequence[Message]) -> Completion:
        """The next turn, whatever was said to it."""
        text = self.turns[self.said] if self.said < len(self.turns) else "Done."
        self.said += 1
        return Completion(text, input_tokens=0, output_tokens=0)


@dataclass(frozen=True)
class Proof:
    """One completion and what it must score."""

    rule: str
    text: str
    passes: bool


def validate(suite: Suite, oracle: bool = True, progress: Progress | None = None) -> list[Problem]:
    """Every problem of a suite, data first. `oracle` False leaves out what runs scorers and sandboxes."""
    problems = list(check_data(suite))
    if oracle:
        problems += asyncio.run(_prove_all(suite, progress))
    return problems


async def _prove_all(suite: Suite, progress: Progress | None) -> list[Problem]:
    scorer = lookup.find("scorers", suite.scorer.name)(**suite.scorer.options)
    backend: SandboxBackend | None = None
    if suite.sandbox is not None:
        backend = lookup.find("sandboxes", suite.sandbox)()
        why = backend.unavailable()
        if why is not None:
            text = f"{len(suite.samples)} sample(s) need the sandbox {suite.sandbox}, and there is none here: {why}"
            return [Problem(suite.name, "unproved", None, text)]
    elif isinstance(scorer, SandboxScorer):
        text = f"scorer {suite.scorer.name} judges a sandbox, and suite.yaml names none"
        return [Problem(suite.name, "unproved", None, text)]
    if suite.reference is None:
        return [
            Problem(suite.name, "unproved", None, "no reference answers: nothing shows that a sample can be passed")
        ]
    gate, done = asyncio.Semaphore(AT_ONCE), 0

    async def one(sample: Sample) -> list[Problem]:
        nonlocal done
        async with gate:
            found = await _prove(suite, sample, scorer, backend)
        done += 1
        if progress is not None:
            progress(done, len(suite.samples))
        return found

    found = await asyncio.gather(*(one(sample) for sample in suite.samples))
    return [problem for problems in found for problem in problems]


async def _prove(
    suite: Suite, sample: Sample, scorer: Scorer | SandboxScorer, backend: SandboxBackend | None
) -> list[Problem]:
    """What one sample's known-good and known-bad answers show."""
    try:
        proofs = list(_proofs(suite, sample))
    except Exception as error:
        text = f"the generator cannot answer its own sample: {type(error).__name__}: {error}"
        return [Problem(suite.name, "reference", sample.id, text)]
    found = []
    if sum(proof.rule == "wrong" for proof in proofs) < MIN_WRONG:
        text = f"fewer than {MIN_WRONG} different wrong answers; give them in metadata `wrong`, or in the generator"
        found.append(Problem(suite.name, "wrong", sample.id, text))
    for proof in proofs:
        complaint = await _try(suite, sample, proof, scorer, backend)
        if complaint is not None:
            found.append(Problem(suite.name, proof.rule, sample.id, complaint))
    return found


def _proofs(suite: Suite, sample: Sample) -> Iterator[Proof]:
    assert suite.reference is not None
    yield Proof("reference", suite.reference(sample), passes=True)
    yield Proof("empty", "", passes=False)
    yield Proof("nothing", NOTHING, passes=False)
    for text in dict.fromkeys(suite.wrong(sample) if suite.wrong is not None else ()):
        yield Proof("wrong", text, passes=False)


async def _try(
    suite: Suite, sample: Sample, proof: Proof, scorer: Scorer | SandboxScorer, backend: SandboxBackend | None
) -> str | None:
    """None where the answer scores what it must, else what happened."""
    try:
        status, score, error = await _judged(suite, sample, proof, scorer, backend)
    except SandboxError as failure:
        return f"the sandbox failed: {failure}"
    said = " ".join(proof.text.split())
    shown = repr(said if len(said) <= 60 else said[:57] + "...")
    if status is not Status.OK or score.value is None:
        return f"the answer {shown} could not be judged ({status}): {error or score.explanation}"
    wanted = 1.0 if proof.passes else 0.0
    if score.value == wanted:
        return None
    why = f": {score.explanation}" if score.explanation else ""
    return f"the answer {shown} scores {score.value:g} and must score {wanted:g}{why}"


async def _judged(
    suite: Suite, sample: Sample, proof: Proof, scorer: Scorer | SandboxScorer, backend: SandboxBackend | None
) -> tuple[Status, Score, str | None]:
    """The suite's own agent with a scripted model behind it, then the suite's own scorer."""
    agent = lookup.find("agents", suite.agent)(suite)
    if backend is None:
        completion = await agent(sample, suite.prefix, Script([proof.text]))
        return await judge(scorer, sample, completion, None)
    files = {name: text.encode() for name, text in sample.files.items()}
    async with backend.open(suite.limits, files) as sandbox:
        completion = await agent(sample, suite.prefix, Script([proof.text], sandbox))
        return await judge(scorer, sample, completion, sandbox)
