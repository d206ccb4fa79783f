"""A minimal agent with one tool, the shell, for small models: a fenced block a turn, its output fed back.

A turn that holds one closed fence marked `sh`, `bash` or `shell` is acted on; the first block counts, and
text around it is the model's own affair. A turn without one ends the work. What a model sees is the
exit status, then standard output and standard error, each cut in the middle.
"""

import re
from dataclasses import dataclass

from evalctl.errors import SandboxError
from evalctl.types import Chat, Completion, ExecResult, Message, Sample, Sandbox

FENCE = re.compile(r"^[ \t]*```[ \t]*(?:sh|bash|shell)[ \t]*\r?\n(.*?)^[ \t]*```[ \t]*\r?$", re.DOTALL | re.MULTILINE)
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/tmp"}  # noqa: S108 - inside the sandbox

ARGUMENT_LIMIT = 120_000
"""Bytes of one argument; Linux takes no more than 131,072."""


def command_of(text: str) -> str | None:
    r"""The commands of the first closed shell fence, or None where the model does not act.

    >>> command_of("Look first.\n```sh\nls -l\n```\nThen we see.")
    'ls -l\n'
    """
    found = FENCE.search(text)
    return found.group(1) if found and found.group(1).strip() else None


def clip(data: bytes, limit: int) -> str:
    """Text of at most about `limit` characters, the middle left out and counted."""
    text = data.decode("utf-8", "replace")
    if len(text) <= limit:
        return text
    head, tail = text[: limit // 2], text[len(text) - limit // 2 :]
    return f"{head}\n[{len(text) - len(head) - len(tail)} characters left out]\n{tail}"


def seen(result: ExecResult, limit: int) -> str:
    """What the model is told of an executed block."""
    how = "timed out" if result.timed_out else "out of memory" if result.oom else f"exit {result.exit}"
    streams = [clip(stream, limit).rstrip("\n") for stream in (result.stdout, result.stderr)]
    return "\n".join([f"[{how}]", *filter(None, streams)])


@dataclass
class _Work:
    """What has happened so far in one sample."""

    messages: list[Message]
    commands: int = 0

    def end(self, last: Completion, stop_reason: str) -> Completion:
        """The completion that is judged: the last text. Turns and tokens are counted by the Chat."""
        return Completion(last.text, stop_reason, truncated=last.truncated, commands=self.commands)


@dataclass(frozen=True)
class Shell:
    """Runs the model's shell blocks in the sample's sandbox for at most `max_turns` turns.

    Ends with `limit` only when the last turn allowed still acted; a turn cut short at the token cap
    (`length`) is never executed in part. Raises SandboxError when the sandbox, not a command, fails.
    """

    max_turns: int = 3
    output_limit: int = 1000
    """Characters of each stream that the model sees."""

    async def __call__(self, sample: Sample, prefix: tuple[Message, ...], chat: Chat) -> Completion:
        """Work until a turn without a block, a turn that ended otherwise than by itself, or the last turn."""
        if chat.sandbox is None:
            raise SandboxError(f"{sample.id}: the shell agent needs a sandbox; name one in suite.yaml")
        work = _Work([*prefix, *sample.messages])
        for _ in range(self.max_turns):
            turn = await chat.generate(tuple(work.messages))
            work.messages.append(Message("assistant", turn.text))
            command = command_of(turn.text) if turn.stop_reason == "stop" else None
            if command is None:
                return work.end(turn, turn.stop_reason)
            work.messages.append(Message("user", await self._act(chat.sandbox, command)))
            work.commands += 1
        return work.end(turn, "limit")

    async def _act(self, sandbox: Sandbox, command: str) -> str:
        if len(command.encode("utf-8", "replace")) > ARGUMENT_LIMIT or "\0" in command:
            return "[not run: the block is too long, or holds a NUL]"
        # Not on standard input: a command in the block that reads it would swallow the rest of the block.
        result = await sandbox.exec(["/bin/sh", "-c", command], env=ENVIRONMENT)
        return seen(result, self.output_limit)
