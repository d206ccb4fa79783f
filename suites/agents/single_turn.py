"""One question, one answer."""

from dataclasses import dataclass

from evalctl.types import Chat, Completion, Message, Sample


@dataclass(frozen=True)
class SingleTurn:
    """The model's first answer is what is judged."""

    async def __call__(self, sample: Sample, prefix: tuple[Message, ...], chat: Chat) -> Completion:
        """Ask once: prefix, then the sample's messages."""
        return await chat.generate((*prefix, *sample.messages))
