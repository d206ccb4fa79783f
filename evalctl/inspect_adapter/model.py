"""A Model of ours, or any Inspect provider by name, as what an agent's Chat talks to."""

from collections.abc import Hashable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    get_model,
    modelapi,
)
from inspect_ai.model import Model as InspectModel
from inspect_ai.tool import ToolChoice, ToolInfo

from ..errors import CheckpointError, EvalctlError, ServiceError
from ..lockstep import Lockstep
from ..types import Checkpoint, Completion, Message, Request, Sampling, Sandbox

MANY = 1_000_000
STOP_REASONS = {"max_tokens": "length", "stop": "stop", "tool_calls": "stop", "model_length": "length"}
"""Inspect's stop reason to ours; any other is kept by its own name."""


@dataclass(frozen=True)
class _Asking:
    lockstep: Lockstep
    member: Hashable
    request: Request


_asking: ContextVar[_Asking] = ContextVar("asking")


@modelapi(name="in_process")
class InProcessAPI(ModelAPI):
    """Inspect's face of a Model in this process: the answer comes from the lockstep of the running trial."""

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        asking = _asking.get()
        answer = await asking.lockstep.ask(asking.member, asking.request)
        reason = {"length": "max_tokens", "stop": "stop"}.get(answer.stop_reason, "unknown")
        message = ChatMessageAssistant(content=answer.text, source="generate")
        read, written = answer.input_tokens or 0, answer.output_tokens or 0
        return ModelOutput(
            model=self.model_name,
            choices=[ChatCompletionChoice(message=message, stop_reason=reason)],  # type: ignore[arg-type]
            usage=ModelUsage(input_tokens=read, output_tokens=written, total_tokens=read + written),
            metadata={"truncated": answer.truncated, "stop_reason": answer.stop_reason},
        )

    def should_retry(self, ex: BaseException) -> bool:
        return False


def open_model(checkpoint: Checkpoint) -> InspectModel:
    """What Inspect generates with. Raises CheckpointError when no provider has the served name."""
    if checkpoint.kind != "served":
        # The lockstep decides what is computed together: a limit on connections would starve a batch of its members.
        unlimited = GenerateConfig(max_connections=MANY, adaptive_connections=False, max_retries=0)
        return InspectModel(InProcessAPI(checkpoint.name), unlimited)
    try:
        return get_model(checkpoint.reference, config=GenerateConfig(max_retries=2, timeout=300, attempt_timeout=120))
    except EvalctlError:
        raise
    except Exception as error:
        raise CheckpointError(f"model reference {checkpoint.reference!r}: {error}") from error


def to_inspect(message: Message) -> ChatMessage:
    """One message in Inspect's form."""
    match message.role:
        case "system":
            return ChatMessageSystem(content=message.content)
        case "user":
            return ChatMessageUser(content=message.content)
        case "assistant":
            return ChatMessageAssistant(content=message.content)
        case "tool":
            return ChatMessageTool(content=message.content)


@dataclass
class InspectChat:
    """The Chat of one trial: every turn goes through Inspect, so its log holds every turn."""

    model: InspectModel
    sampling: Sampling
    seed: int
    sample_id: str
    sandbox: Sandbox | None = None
    lockstep: Lockstep | None = None
    member: Hashable = None
    turns: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    context_tokens: int | None = None
    truncated: bool = False

    async def __aenter__(self) -> "InspectChat":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.leave()

    async def leave(self) -> None:
        """Nothing more will be asked: the others of the batch need not wait. Harmless the second time."""
        lockstep, self.lockstep = self.lockstep, None
        if lockstep is not None:
            await lockstep.leave(self.member)

    async def generate(self, messages: Sequence[Message]) -> Completion:
        """The model's next turn. Raises ServiceError when the model or its server failed."""
        # Each turn has its own seed, so that a second turn does not repeat the first one's draws.
        request = Request(tuple(messages), self.sampling, (self.seed + self.turns) % 2**63, self.sample_id)
        self.turns += 1
        output = await self._ask(request)
        if output.error:
            raise ServiceError(f"{self.model}: {output.error}")
        if output.usage is not None:
            self.input_tokens = (self.input_tokens or 0) + output.usage.input_tokens
            self.context_tokens = max(self.context_tokens or 0, output.usage.input_tokens)
            self.output_tokens = (self.output_tokens or 0) + output.usage.output_tokens
        metadata = output.metadata or {}
        self.truncated = self.truncated or bool(metadata.get("truncated"))
        reason = str(metadata.get("stop_reason") or STOP_REASONS.get(output.stop_reason, output.stop_reason))
        return Completion(
            output.completion,
            reason,
            truncated=bool(metadata.get("truncated")),
            input_tokens=output.usage.input_tokens if output.usage else None,
            output_tokens=output.usage.output_tokens if output.usage else None,
        )

    async def _ask(self, request: Request) -> ModelOutput:
        sampling = request.sampling
        config = GenerateConfig(
            temperature=sampling.temperature,
            top_p=sampling.top_p if sampling.top_p < 1.0 else None,
            max_tokens=sampling.max_tokens,
            seed=request.seed % 2**31,  # servers take 32 bits
        )
        if self.lockstep is not None:
            _asking.set(_Asking(self.lockstep, self.member, request))
        try:
            return await self.model.generate([to_inspect(m) for m in request.messages], config=config)
        except EvalctlError:
            raise
        except Exception as error:
            raise ServiceError(f"{self.model}: {type(error).__name__}: {error}") from error

    def told(self, completion: Completion) -> Completion:
        """`completion` with what this chat counted: an agent cannot misreport it."""
        return replace(
            completion,
            turns=self.turns,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            truncated=self.truncated,
        )
