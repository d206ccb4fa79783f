"""A training row as token ids, with the folder's own template: what is trained is what would be sampled.

The prompt is tokenized as the provider tokenizes it, and the answer apart from it, as it is sampled after it. So no
generation marks are needed in the template: what stands before the answer is told by the prefix rule, and a
template that breaks the rule is refused.
"""

from dataclasses import dataclass
from typing import Any

from evalctl.models.local import chat_row
from evalctl.types import Message

from .errors import StageError
from .rows import Row


@dataclass(frozen=True)
class Encoded:
    """One row as ids; those from `answer_from` on are learned."""

    ids: tuple[int, ...]
    answer_from: int

    @property
    def labels(self) -> list[int]:
        """The ids with -100, which no loss reads, in place of the prompt."""
        return [-100] * self.answer_from + list(self.ids[self.answer_from :])


def encode(tokenizer: Any, row: Row) -> Encoded:
    """The row's ids: prompt, answer and the token that ends it.

    Raises StageError where the template is not prefix-preserving, never ends an answer, or does not give the answer
    back as it was written: the model would learn something else than the row says.
    """
    prompt = render(tokenizer, row.prompt, opened=True)
    whole = render(tokenizer, (*row.prompt, Message("assistant", row.completion)), opened=False)
    if not whole.startswith(prompt):
        raise StageError(
            f"row {row.id}: the chat template is not prefix-preserving (the conversation with its answer does not "
            "begin with its prompt), so it is not known what to learn; use a template that only appends"
        )
    end = tokenizer.eos_token
    answer, found, _ = whole[len(prompt) :].partition(end) if end else (whole[len(prompt) :], "", "")
    if not found:
        raise StageError(
            f"row {row.id}: the chat template writes no end token {end!r} after an answer, so the model would never "
            "learn to stop; add it to the template"
        )
    if answer.strip() != row.completion.strip():
        raise StageError(
            f"row {row.id}: the chat template writes {answer!r:.60} where the answer is {row.completion!r:.60}; use a "
            "template that keeps answers as they are"
        )
    before, learned = token_ids(tokenizer, prompt), token_ids(tokenizer, answer)
    back = tokenizer.decode(learned, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    if back != answer:
        raise StageError(
            f"row {row.id}: the tokenizer does not give the answer back ({answer!r:.60} comes back as {back!r:.60}); "
            "it lacks characters that the row needs"
        )
    return Encoded((*before, *learned, int(tokenizer.eos_token_id)), len(before))


def render(tokenizer: Any, messages: tuple[Message, ...], *, opened: bool) -> str:
    """The conversation as text, the answer's turn opened or not."""
    template = str(tokenizer.chat_template)
    rows = [chat_row(message, "tool_calls" in template) for message in messages]
    try:
        return str(tokenizer.apply_chat_template(rows, tokenize=False, add_generation_prompt=opened))
    except Exception as error:
        raise StageError(
            f"the chat template refuses the conversation ({error}); use a template that takes these roles"
        ) from error


def token_ids(tokenizer: Any, text: str) -> list[int]:
    """Ids of text that already holds its special tokens."""
    return list(tokenizer(text, add_special_tokens=False, truncation=False, padding=False, verbose=False)["input_ids"])
