"""Agents drive a model through one sample and say truly how it ended."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from evalctl.errors import SandboxError
from evalctl.types import Completion, ExecResult, Message, Sample, Suite
from suites import load_suite
from suites.agents import AGENTS, Shell, SingleTurn
from suites.agents.shell import ARGUMENT_LIMIT, clip, command_of, seen

ASKED = Sample("a", "Do it.")
PREFIX = (Message("system", "You work."),)

FINE = ExecResult(0, b"fine\n")


@dataclass
class Box:
    """A sandbox that answers every command with one result and remembers them."""

    result: ExecResult = FINE
    ran: list[list[str]] = field(default_factory=list)

    async def exec(self, argv: Sequence[str], **_: Any) -> ExecResult:
        self.ran.append(list(argv))
        return self.result

    async def read_file(self, path: str) -> bytes:
        raise FileNotFoundError(path)

    async def write_file(self, path: str, data: bytes) -> None:
        raise PermissionError(path)


@dataclass
class Chat:
    """A model that says the given turns, and remembers what it was shown."""

    turns: list[Completion]
    sandbox: Any = None
    shown: list[tuple[Message, ...]] = field(default_factory=list)

    async def generate(self, messages: Sequence[Message]) -> Completion:
        self.shown.append(tuple(messages))
        return self.turns[len(self.shown) - 1]


def said(text: str, **more: Any) -> Completion:
    return Completion(text, **({"input_tokens": 10, "output_tokens": 5} | more))


def block(command: str) -> str:
    return f"```sh\n{command}\n```"


def work(chat: Chat, turns: int = 2) -> Completion:
    return asyncio.run(Shell(turns)(ASKED, PREFIX, chat))


def test_a_single_turn_is_the_models_first_answer_to_prefix_and_sample() -> None:
    chat = Chat([said("42", stop_reason="length")])
    done = asyncio.run(SingleTurn()(ASKED, PREFIX, chat))
    assert done is chat.turns[0]
    assert chat.shown == [(*PREFIX, Message("user", "Do it."))]


def test_a_block_is_run_and_its_output_fed_back_until_a_turn_without_one() -> None:
    box = Box(ExecResult(3, b"out\n", b"err\n"))
    chat = Chat([said("First:\n" + block("ls -l")), said("Done.")], box)
    done = work(chat)
    assert box.ran == [["/bin/sh", "-c", "ls -l\n"]]
    assert chat.shown[1][-1] == Message("user", "[exit 3]\nout\nerr")
    assert chat.shown[1][-2] == Message("assistant", "First:\n" + block("ls -l"))
    assert (done.text, done.stop_reason, done.commands) == ("Done.", "stop", 1)


def test_limit_is_said_only_when_the_last_turn_still_acted() -> None:
    acting = Chat([said(block("a")), said(block("b"))], Box())
    assert (work(acting).stop_reason, len(acting.sandbox.ran)) == ("limit", 2)
    ending = Chat([said(block("a")), said("Ready.")], Box())
    assert work(ending).stop_reason == "stop"
    idle = Chat([said("Nothing to do.")], Box())
    assert (work(idle).stop_reason, work(Chat([said("No.")], Box())).commands) == ("stop", 0)


@pytest.mark.parametrize("reason", ["length", "error", "limit"])
def test_a_turn_that_was_cut_is_never_executed_and_its_reason_stands(reason: str) -> None:
    chat = Chat([said(block("rm -r ."), stop_reason=reason)], Box())
    done = work(chat)
    assert (done.stop_reason, chat.sandbox.ran, done.commands) == (reason, [], 0)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        (block("ls"), "ls\n"),
        ("```bash\r\nls\r\n```\r\n", "ls\r\n"),
        ("  ```shell\n  ls\n  ```", "  ls\n"),
        (block("one") + "\n" + block("two"), "one\n"),
        ("```sh\nls", None),
        ("```python\nprint()\n```", None),
        ("```\nls\n```", None),
        ("```sh\n\n```", None),
        ("Use ```sh\nls``` maybe", None),
        ("", None),
    ],
)
def test_the_first_closed_shell_fence_is_the_command(text: str, command: str | None) -> None:
    assert command_of(text) == command


def test_output_is_cut_in_the_middle_and_the_cut_is_told() -> None:
    assert clip(b"a" * 50 + b"b" * 50, 20) == "a" * 10 + "\n[80 characters left out]\n" + "b" * 10
    assert clip(b"\xff", 10) == "\N{REPLACEMENT CHARACTER}"
    assert seen(ExecResult(124, b"x", timed_out=True), 10) == "[timed out]\nx"
    assert seen(ExecResult(137, oom=True), 10) == "[out of memory]"


@pytest.mark.parametrize("command", ["x" * (ARGUMENT_LIMIT + 1), "echo \0"])
def test_a_block_no_shell_can_take_is_told_and_not_an_error_of_ours(command: str) -> None:
    chat = Chat([said(block(command)), said("Done.")], Box())
    assert work(chat).stop_reason == "stop"
    assert chat.sandbox.ran == []
    assert "not run" in chat.shown[1][-1].content


def test_without_a_sandbox_nothing_is_run() -> None:
    with pytest.raises(SandboxError, match="needs a sandbox"):
        work(Chat([said(block("ls"))]))


def test_the_table_takes_turns_from_the_suite() -> None:
    terminal: Suite = load_suite("terminal", samples=3)
    agent = AGENTS["shell"](terminal)
    assert isinstance(agent, Shell)
    assert agent.max_turns == terminal.max_turns
    assert AGENTS["single_turn"](terminal) == SingleTurn()
