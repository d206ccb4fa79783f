"""The nouns: Sample, Suite, Score, Trial, Run, Checkpoint, and the Protocols they meet in.

Everything here is frozen data or a Protocol. Nothing here reads a file, opens a socket or
imports a heavy library, so every other module may import this one.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from .digests import canonical, digest

if TYPE_CHECKING:
    import pandas as pd

Json: TypeAlias = Any
"""A value that JSON can say: None, bool, int, finite float, str, list or dict with str keys."""

Direction: TypeAlias = Literal["higher", "lower"]


class Status(StrEnum):
    """How a trial ended, apart from how it scored."""

    OK = "ok"
    LIMIT = "limit"
    """The sample's own budget (time, tokens, turns) was used up: counts as its score, or 0."""
    MODEL_ERROR = "model_error"
    """The model's own doing: counts as its score, or 0."""
    INFRA_ERROR = "infra_error"
    """Not the model's fault: sandbox, network, server, disk. Never a 0."""
    VERIFIER_ERROR = "verifier_error"
    """The judge could not judge. Never a 0."""
    MISSING = "missing"
    """Expected, and there is no trial."""


class Role(StrEnum):
    """What a cluster may be used for, fixed before any failure is read."""

    POOL = "pool"
    """May feed training, in folds."""
    DEV = "dev"
    """For choosing rates, recipes, bands, monitors; never reported as a result."""
    SEALED = "sealed"
    """Judged rarely; every look is counted."""
    BENCH = "bench"
    """Independent provenance: other generator, templates and names."""
    REPLAY = "replay"
    """General ability and production cases that must not regress; never trained on."""


PLAIN_ROLES = frozenset({Role.BENCH, Role.REPLAY, Role.POOL})
"""What is run, gated and shown where nobody names roles: all but `sealed` (each look is counted) and `dev` (never a
result)."""


@dataclass(frozen=True)
class ToolCall:
    """One call a model made: the tool's name and its arguments as an object."""

    name: str
    arguments: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class Message:
    """One turn of a conversation, in the chat form every model and Inspect share."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True)
class Variant:
    """What was varied around one sample; None means *not varied*."""

    context: str | None = None
    modality: str | None = None
    strategy: str | None = None
    attempt: int | None = None

    @property
    def key(self) -> str:
        """Canonical JSON of what was varied: `{}` for the plain sample."""
        return canonical({k: v for k, v in asdict(self).items() if v is not None})


@dataclass(frozen=True)
class Sample:
    """One question: what the model sees, what it is judged against, and where it stands.

    >>> Sample("a", "1+1", "2").messages
    (Message(role='user', content='1+1', tool_calls=()),)
    """

    id: str
    input: str | tuple[Message, ...]
    """The sample's own text, before any template or few-shot prefix."""
    target: Json = None
    """What a scorer compares with; the scorer names its form."""
    family: str = ""
    """One skill."""
    cluster: str = ""
    """What makes samples dependent: one document, scenario, template, customer. Declared, never guessed."""
    band: str = ""
    """Difficulty band, as the generator declares it."""
    role: Role = Role.BENCH
    shard: int | None = None
    """Which shard of the sealed set, where a suite declares shards."""
    tools: tuple[Mapping[str, Json], ...] = ()
    """Tool schemas: `{"name", "description", "parameters": <JSON Schema object>}`."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The work folder at the start: relative path to text."""
    pair_id: str = ""
    """Variants of one sample share it; the sample's id where nothing is varied."""
    variant: Variant = Variant()
    metadata: Mapping[str, Json] = field(default_factory=dict)
    """What scorers read (tolerance, aliases, hidden tests …); never shown to the model."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The input as messages."""
        return (Message("user", self.input),) if isinstance(self.input, str) else self.input

    @cached_property
    def content_key(self) -> str:
        """Digest of what the model sees and what it is judged against; pairing is by this, never by position."""
        return digest(
            {
                "input": [asdict(m) for m in self.messages],
                "target": self.target,
                "tools": list(self.tools),
                "files": dict(self.files),
            }
        )


@dataclass(frozen=True)
class Metric:
    """One further figure of a trial, with what better means."""

    value: float | None
    direction: Direction = "higher"
    range: tuple[float, float] | None = (0.0, 1.0)
    """Declared lowest and highest value; a metric without one cannot PASS."""


@dataclass(frozen=True)
class Score:
    """What a scorer says. `value` None is *unscored*: never NaN, never 0."""

    value: float | None
    answer: str | None = None
    """What was read out of the completion."""
    explanation: str = ""
    metadata: Mapping[str, Json] = field(default_factory=dict)
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    """Further figures by name; none hides another."""


@dataclass(frozen=True)
class Sampling:
    """How answers are drawn. Temperature 0 is greedy."""

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 256


@dataclass(frozen=True)
class Request:
    """One prompt for a Model: chat messages, sampling and the trial's own seed."""

    messages: tuple[Message, ...]
    sampling: Sampling = Sampling()
    seed: int = 0
    sample_id: str = ""
    """For doubles and logs; a real model does not read it."""


@dataclass(frozen=True)
class Completion:
    """What came back: the text a scorer judges, and how it ended."""

    text: str
    stop_reason: str = "stop"
    """`stop`, `length` (the answer cap), `limit` (turns or time), `error`."""
    tool_calls: tuple[ToolCall, ...] = ()
    truncated: bool = False
    """The prompt was cut before the model saw it."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    turns: int = 1
    commands: int = 0
    """How many tool calls or commands were really run on the way."""


@dataclass(frozen=True)
class Limits:
    """What a sandbox enforces; both backends read this one form."""

    seconds: float = 30.0
    """Wall time of one exec."""
    cpu_seconds: float = 30.0
    """CPU time of one process."""
    memory_bytes: int = 512 * 2**20
    """Memory of the whole process tree."""
    pids: int = 128
    """Processes and threads of the whole tree."""
    work_bytes: int = 256 * 2**20
    """What the work folder may hold; /tmp and /dev/shm have the same bound."""
    output_bytes: int = 2**20
    """Each of standard output and standard error; more is cut, and that is said."""


@dataclass(frozen=True)
class ExecResult:
    """How a command in a sandbox ended. A failure of the sandbox itself is a SandboxError instead."""

    exit: int
    """Exit status; 128 + N for signal N; 124 timed out; 137 out of memory."""
    stdout: bytes = b""
    stderr: bytes = b""
    timed_out: bool = False
    oom: bool = False
    truncated: bool = False
    seconds: float = 0.0


@runtime_checkable
class Sandbox(Protocol):
    """One open sandbox: a work folder and commands that cannot leave it."""

    async def exec(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        seconds: float | None = None,
        readonly: Mapping[str, bytes] | None = None,
    ) -> ExecResult:
        """Run `argv` in the work folder; the whole tree is dead when this returns.

        `readonly` files stand under `/verifier` for this exec alone, where nothing in the sandbox can
        write. Raises SandboxError when the sandbox, not the command, failed.
        """
        ...

    async def read_file(self, path: str) -> bytes:
        """The bytes of a file in the work folder; FileNotFoundError, IsADirectoryError, PermissionError."""
        ...

    async def write_file(self, path: str, data: bytes) -> None:
        """Write a file in the work folder, making parents; never through a symlink that leaves it."""
        ...


class SandboxBackend(Protocol):
    """A way of making sandboxes; the `sandboxes` table holds these."""

    name: str

    def digest(self) -> str:
        """What could change a result: backend, version, image."""
        ...

    def unavailable(self) -> str | None:
        """None where it works here, else one line: why not, and the command that brings it."""
        ...

    def enforced(self) -> Mapping[str, str]:
        """Field of Limits to what enforces it here, or `not enforced here`."""
        ...

    def open(self, limits: Limits, files: Mapping[str, bytes]) -> AbstractAsyncContextManager[Sandbox]:
        """A fresh sandbox whose work folder holds `files`; SandboxUnavailable rather than an unprotected one."""
        ...


class Scorer(Protocol):
    """How an answer is judged: a frozen dataclass with `__call__`, so that it survives pickling."""

    def __call__(self, sample: Sample, completion: Completion) -> Score:
        """Judge one completion. Raises VerifierError when it cannot judge."""
        ...


@runtime_checkable
class SandboxScorer(Protocol):
    """A scorer that judges the state an agent left in its sandbox."""

    async def in_sandbox(self, sample: Sample, completion: Completion, sandbox: Sandbox) -> Score:
        """Judge the final state, after the agent has ended. Raises VerifierError, SandboxError."""
        ...


class Chat(Protocol):
    """What an agent holds while it works on one sample."""

    sandbox: Sandbox | None

    async def generate(self, messages: Sequence[Message]) -> Completion:
        """The model's next turn after `messages` (prompt prefix included by the caller)."""
        ...


class Agent(Protocol):
    """How a model is driven through one sample; the `agents` table holds these."""

    async def __call__(self, sample: Sample, prefix: tuple[Message, ...], chat: Chat) -> Completion:
        """Work on `sample` until done; the returned completion is what is judged."""
        ...


class Model(Protocol):
    """What answers, in this process: a local folder through Transformers, or a deterministic double."""

    batch_size: int
    """How many requests belong together; the runner composes batches from the sample list."""

    @property
    def engine(self) -> "Engine":
        """What computed the answers."""
        ...

    def generate(self, batch: Sequence[Request]) -> list[Completion]:
        """One completion a request, in order. The same batch always gives the same completions."""
        ...


class Environment(Protocol):
    """A stateful tool world: the same object for an agent, a training rollout and a scorer."""

    def reset(self, sample: Sample) -> None:
        """Put the world in the sample's first state, completely: instances are reused."""
        ...

    def tools(self) -> Mapping[str, Callable[..., Json]]:
        """Tool name to the typed function that acts on the state."""
        ...

    def final_state(self) -> Json:
        """The state now, as JSON, with violated invariants under `violations`."""
        ...


@dataclass(frozen=True)
class ScorerSpec:
    """A scorer by name with its options, as a suite declares it."""

    name: str
    options: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class Suite:
    """A named, versioned set of samples with everything that could change a score of theirs."""

    name: str
    version: str
    samples: tuple[Sample, ...]
    scorer: ScorerSpec
    capability: tuple[str, ...] = ()
    sandbox: str | None = None
    """Name of the sandbox backend, or None where nothing untrusted runs."""
    limits: Limits = Limits()
    agent: str = "single_turn"
    max_turns: int = 1
    epochs: int = 1
    max_tokens: int = 256
    prefix: tuple[Message, ...] = ()
    """System text and worked examples that stand before every sample: part of `prompt_digest`."""
    advisory: bool = False
    salt: str = ""
    """Of the role draw; belongs to the suite version."""
    card: Mapping[str, Json] = field(default_factory=dict)
    """Source, licence, what it does not measure."""
    reference: Callable[[Sample], str] | None = None
    """The completion that solves a sample (a generator's own), for `validate` and doubles."""
    wrong: Callable[[Sample], Sequence[str]] | None = None
    """At least three completions that must score 0."""
    whole: str | None = None
    """Digest of the whole suite where `samples` is a part of it (`--limit`, `--roles`)."""
    cut: bool = False
    """True when `--limit` took a part: a run of it is never complete."""

    @cached_property
    def digest(self) -> str:
        """Name, version, every sample (content, place, what its scorer reads), scorer, limits and agent."""
        if self.whole is not None:
            return self.whole
        rows = [
            [s.id, s.content_key, s.family, s.cluster, s.band, s.role, s.shard, s.pair_id, s.variant.key, s.metadata]
            for s in self.samples
        ]
        # The sandbox's backend is not in it: `sandbox_digest` of a run says where its commands ran.
        settings = [asdict(self.scorer), asdict(self.limits), self.agent, self.max_turns, self.max_tokens]
        return digest([self.name, self.version, rows, settings])

    @cached_property
    def prompt_digest(self) -> str:
        """Few-shot text and template; samples are in `digest`."""
        return digest([asdict(m) for m in self.prefix])


@dataclass(frozen=True)
class Engine:
    """What computed the answers; every field could change one."""

    name: str
    version: str
    dtype: str | None = None
    batch: int | None = None
    threads: int | None = None


@dataclass(frozen=True)
class Checkpoint:
    """Weights with an identity: a local folder, a served model, or a double."""

    name: str
    weights_digest: str
    """SHA-256 over weights, adapter, tokenizer and template; for a served model of address, name and version."""
    kind: Literal["folder", "served", "double", "imported"]
    reference: str
    """What resolves to it again: a path, `provider/name`, `double:NAME`."""
    parent: str | None = None
    """Weights digest of the checkpoint it was made from."""
    verified: bool = True
    """False where the weights themselves could not be read (served, imported)."""


@dataclass(frozen=True)
class RunRecord:
    """`run.json`: everything that could change a score, and what was expected. None means *not recorded*."""

    key: str
    suite: Mapping[str, Json]
    """`name`, `version`, `digest`, `n`, `roles` (list of role names covered)."""
    checkpoint: Mapping[str, Json]
    """`name`, `weights_digest`, `parent`, `kind`, `reference`, `verified`."""
    prompt_digest: str | None = None
    sampling: Mapping[str, Json] | None = None
    judge: Mapping[str, Json] | None = None
    limits: Mapping[str, Json] | None = None
    scorer_digest: str | None = None
    sandbox_digest: str | None = None
    engine: Mapping[str, Json] | None = None
    seed: int | None = None
    replicate: int = 0
    complete: bool = False
    expected: tuple[tuple[str, str, int], ...] | None = None
    """(content key, variant key, epoch) of every trial there must be; None for an import."""
    started: str = ""
    """ISO 8601, UTC."""
    seconds: float = 0.0
    """Wall time, cumulative over resumes."""
    cost: float | None = None
    source: Mapping[str, Json] | None = None
    """For an import: `format`, `file`, `digest` of the bytes."""
    schema: int = 1


@dataclass(frozen=True)
class Trial:
    """One sample x one variant x one epoch: the exchange form, a JSON line. Errors are data."""

    suite: str
    suite_digest: str | None
    sample_id: str
    content_key: str
    family: str = ""
    cluster: str = ""
    band: str = ""
    role: str = "bench"
    shard: int | None = None
    pair_id: str = ""
    variant: Mapping[str, Json] = field(default_factory=dict)
    context_tokens: int | None = None
    epoch: int = 1
    status: str = "ok"
    score: float | None = None
    metric: str = "correct"
    direction: str | None = "higher"
    range: tuple[float, float] | None = None
    metrics: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    """Name to `{"value", "direction", "range"}`."""
    answer: str | None = None
    stop_reason: str | None = None
    truncated: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None
    turns: int | None = None
    tool_calls: int | None = None
    seconds: float | None = None
    cost: float | None = None
    reward: float | None = None
    failure: str | None = None
    """An enumeration per suite: what kind of failure."""
    error: str | None = None
    transcript: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """One suite x one checkpoint x one sampling setting."""

    record: RunRecord
    trials: "pd.DataFrame"
    """One row a trial; columns as Trial, `variant`, `metrics` and `metadata` as canonical JSON text."""


@dataclass(frozen=True)
class Estimate:
    """A figure with its uncertainty; no naked float leaves `stats/`."""

    value: float
    low: float
    high: float
    n: int
    clusters: int
