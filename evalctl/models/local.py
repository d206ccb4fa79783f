"""The local provider: a folder through Transformers, in this process, batched, on all its threads."""

import importlib.util
import json
import os
import threading
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CheckpointError
from ..types import Completion, Engine, Message, Request
from .folder import layout
from .loading import default_dtype, load_tokenizer, load_weights
from .quiet import patient

if TYPE_CHECKING:
    from .decode import Decoder, Row

BATCH_SIZE = 32
"""Where tokens a second on two cores have levelled off and memory is still small."""


class LocalModel:
    """A Model (see evalctl.types) over one folder. Loaded at the first batch; one batch at a time.

    `dtype` is `bfloat16` or `float32`, by default the one this processor computes in; `threads` defaults to
    OMP_NUM_THREADS, else the cores this process may use. A prompt that does
    not fit the model's window is refused, never cut: its completion has stop_reason `error` and `truncated` True.
    """

    def __init__(
        self, folder: Path, batch_size: int = BATCH_SIZE, dtype: str | None = None, threads: int | None = None
    ) -> None:
        absent = [name for name in ("torch", "transformers") if importlib.util.find_spec(name) is None]
        if absent:
            raise CheckpointError(f"{folder}: {' and '.join(absent)} not installed; run: pip install 'evalctl[local]'")
        if batch_size < 1:
            raise CheckpointError(f"{folder}: batch size {batch_size}; it must be at least 1")
        patient()
        self.batch_size = batch_size
        self._parts = layout(folder)
        self._dtype = dtype or default_dtype()
        self._threads = threads or default_threads()
        self._lock = threading.Lock()

    @property
    def engine(self) -> Engine:
        """Versions of torch and transformers, dtype, batch and threads: each could change a greedy answer."""
        both = f"torch {version('torch')}, transformers {version('transformers')}"
        return Engine("transformers", both, self._dtype, self.batch_size, self._threads)

    @cached_property
    def tokenizer(self) -> Any:
        """The folder's tokenizer, its chat template with it."""
        return load_tokenizer(self._parts)

    @cached_property
    def weights(self) -> Any:
        """The Transformers model, adapter merged."""
        return load_weights(self._parts, self._dtype)

    @cached_property
    def window(self) -> int:
        """Positions the model can see: prompt and answer together."""
        return int(getattr(self.weights.config, "max_position_embeddings", None) or 2**31)

    def generate(self, batch: Sequence[Request]) -> list[Completion]:
        """One completion a request, in order; the same batch gives the same completions.

        Raises CheckpointError when the chat template refuses a conversation.
        """
        import torch

        from .decode import Row

        if not batch:
            return []
        with self._lock:
            # Process-wide in torch, and others may have set it: bf16 sums depend on it.
            torch.set_num_threads(self._threads)
            prompts = self._tokens([self.render(request.messages) for request in batch])
            fitting = [i for i, prompt in enumerate(prompts) if 0 < len(prompt) < self.window]
            rows = [self._row(Row, prompts[i], batch[i]) for i in fitting]
            drawn = dict(zip(fitting, self._decoder.run(rows), strict=True)) if rows else {}
            return [self._completion(prompt, drawn.get(i)) for i, prompt in enumerate(prompts)]

    def render(self, messages: Sequence[Message]) -> str:
        """The prompt as text: the chat template applied, and the answer's turn opened."""
        template = str(self.tokenizer.chat_template)
        rows = [chat_row(message, "tool_calls" in template) for message in messages]
        try:
            return str(self.tokenizer.apply_chat_template(rows, tokenize=False, add_generation_prompt=True))
        except Exception as error:
            raise CheckpointError(
                f"{self._parts.tokenizer}: the chat template refuses the conversation ({error}); "
                "use a template that takes these roles"
            ) from error

    def _tokens(self, texts: list[str]) -> list[list[int]]:
        # The template has written its special tokens already; a second BOS would be another prompt.
        encoded = self.tokenizer(texts, add_special_tokens=False, truncation=False, padding=False, verbose=False)
        return [list(ids) for ids in encoded["input_ids"]]

    def _row(self, row: type["Row"], prompt: list[int], request: Request) -> "Row":
        sampling = request.sampling
        room = min(sampling.max_tokens, self.window - len(prompt))
        return row(tuple(prompt), room, sampling.temperature, sampling.top_p, request.seed)

    def _completion(self, prompt: list[int], drawn: list[int] | None) -> Completion:
        if drawn is None:
            return Completion("", "error", truncated=len(prompt) > 0, input_tokens=len(prompt), output_tokens=0)
        ended = bool(drawn) and drawn[-1] in self._ends
        text = self.tokenizer.decode(drawn, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return Completion(str(text), "stop" if ended else "length", input_tokens=len(prompt), output_tokens=len(drawn))

    @cached_property
    def _ends(self) -> frozenset[int]:
        config = self.weights.generation_config
        named = config.eos_token_id if config is not None else None
        ends = set(named) if isinstance(named, list) else {named}
        return frozenset(int(end) for end in ends | {self.tokenizer.eos_token_id} if end is not None)

    @cached_property
    def _decoder(self) -> "Decoder":
        from .decode import Decoder

        return Decoder(self.weights, self._ends)


def default_threads() -> int:
    """OMP_NUM_THREADS where it is set, else the cores this process may use."""
    said = os.environ.get("OMP_NUM_THREADS", "")
    return int(said) if said.isdigit() and int(said) > 0 else len(os.sched_getaffinity(0))


def chat_row(message: Message, knows_calls: bool) -> dict[str, Any]:
    """A message as chat templates take it; `knows_calls` where the template itself writes tool calls."""
    if not message.tool_calls:
        return {"role": message.role, "content": message.content}
    calls = [{"name": call.name, "arguments": dict(call.arguments)} for call in message.tool_calls]
    if knows_calls:
        functions = [{"type": "function", "function": call} for call in calls]
        return {"role": message.role, "content": message.content, "tool_calls": functions}
    # A template that knows no calls would drop them without a word, and the model would not see what it did.
    text = "\n".join(f"<tool_call>{json.dumps(call)}</tool_call>" for call in calls)
    return {"role": message.role, "content": "\n".join(filter(None, [message.content, text]))}
