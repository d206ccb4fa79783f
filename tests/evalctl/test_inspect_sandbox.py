"""Our sandboxes are Inspect's too: a task of anyone's finds `evalctl/bwrap` by name."""

from pathlib import Path

import pytest
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import SandboxEnvironmentSpec, sandbox

from evalctl.errors import UsageError
from evalctl.inspect_adapter.sandbox import SandboxLimits, limits_from
from evalctl.types import Limits
from sandboxes import SANDBOXES

why = SANDBOXES["bwrap"]().unavailable()
pytestmark = [pytest.mark.sandbox, pytest.mark.skipif(why is not None, reason=str(why))]


@solver
def probing() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        box = sandbox()
        await box.write_file("notes/a.txt", "kept between commands")
        read = await box.exec(["cat", "a.txt"], cwd="notes")
        failed = await box.exec(["sh", "-c", "echo told >&2; exit 3"])
        network = await box.exec(
            ["/usr/bin/python3", "-c", "import socket; socket.create_connection(('1.1.1.1', 80), 2)"]
        )
        with pytest.raises(TimeoutError):
            await box.exec(["sleep", "60"], timeout=1)
        with pytest.raises(FileNotFoundError):
            await box.read_file("nothing")
        assert read.stdout == "kept between commands"
        assert (failed.returncode, failed.stderr) == (3, "told\n")
        assert not network.success
        assert await box.read_file("notes/a.txt", text=False) == b"kept between commands"
        state.output = ModelOutput.from_content("double", "all held")
        return state

    return solve


def test_an_inspect_task_runs_its_commands_in_our_sandbox(tmp_path: Path) -> None:
    output = ModelOutput.from_content("mockllm/model", "unused")
    output.usage = ModelUsage()
    [log] = inspect_eval(
        Task(dataset=[Sample(input="?", target="all held")], solver=probing(), scorer=includes(), name="probe"),
        model=get_model("mockllm/model", custom_outputs=[output]),
        sandbox=SandboxEnvironmentSpec("evalctl/bwrap", SandboxLimits(seconds=20, memory_bytes=2**28)),
        log_dir=str(tmp_path),
        display="none",
        acp_server=False,
        ctl_server=False,
    )
    assert log.status == "success", log.error
    assert log.samples is not None
    [sample] = log.samples
    assert sample.error is None
    assert sample.scores is not None
    assert sample.scores["includes"].value == "C"


def test_limits_are_read_from_the_sandboxs_configuration(tmp_path: Path) -> None:
    file = tmp_path / "limits.json"
    file.write_text('{"pids": 7}')
    assert limits_from(str(file)).pids == 7
    assert limits_from(SandboxLimits(seconds=2.5)).seconds == 2.5
    assert limits_from(None) == Limits()
    file.write_text('{"pid": 7}')
    with pytest.raises(UsageError, match="pid"):
        limits_from(str(file))
