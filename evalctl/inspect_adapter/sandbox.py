"""Our sandboxes as Inspect's: `evalctl/NAME` in a task of anyone's runs where our own suites run.

Limits are given as the sandbox's configuration, an object or a JSON file of its fields:
`SandboxEnvironmentSpec("evalctl/bwrap", SandboxLimits(memory_bytes=2**28, seconds=10))`.
"""

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, ClassVar, Literal, overload

from inspect_ai.util import ExecResult as InspectResult
from inspect_ai.util import (
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentConfigType,
    SandboxUnavailableError,
    sandboxenv,
)
from pydantic import BaseModel, ConfigDict, ValidationError

from ..errors import SandboxError, UsageError
from ..lookup import find
from ..types import Limits, Sandbox


class SandboxLimits(BaseModel):
    """Fields of Limits as Inspect's configuration; what is not given keeps its default."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    seconds: float = Limits.seconds
    cpu_seconds: float = Limits.cpu_seconds
    memory_bytes: int = Limits.memory_bytes
    pids: int = Limits.pids
    work_bytes: int = Limits.work_bytes
    output_bytes: int = Limits.output_bytes


def limits_from(config: SandboxEnvironmentConfigType | None) -> Limits:
    """Limits from Inspect's configuration: None, SandboxLimits, or the path of a JSON file. Raises UsageError."""
    if config is None:
        return Limits()
    if isinstance(config, SandboxLimits):
        return Limits(**config.model_dump())
    if not isinstance(config, str):
        raise UsageError(f"sandbox configuration {type(config).__name__}: give SandboxLimits or a JSON file of it")
    try:
        return Limits(**SandboxLimits.model_validate_json(Path(config).read_bytes()).model_dump())
    except (OSError, ValidationError) as error:
        raise UsageError(f"sandbox configuration {config}: {error}") from error


class _Environment(SandboxEnvironment):
    """One open sandbox of ours, in Inspect's shape."""

    backend: ClassVar[str]

    def __init__(self, sandbox: Sandbox, stack: AsyncExitStack, limits: Limits) -> None:
        super().__init__()
        self._sandbox, self._stack, self._limits = sandbox, stack, limits

    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> BaseModel:
        return SandboxLimits.model_validate(config)

    @classmethod
    async def sample_init(
        cls, task_name: str, config: SandboxEnvironmentConfigType | None, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        limits = limits_from(config)
        stack = AsyncExitStack()
        try:
            sandbox = await stack.enter_async_context(find("sandboxes", cls.backend)().open(limits, {}))
        except SandboxError as error:
            raise SandboxUnavailableError(str(error)) from error
        return {"default": cls(sandbox, stack, limits)}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        for environment in environments.values():
            await environment.as_type(_Environment)._stack.aclose()

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> InspectResult[str]:
        # The command's own words stay separate arguments; only our fixed line is shell text.
        argv = ["/bin/sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", cwd, *cmd] if cwd else cmd
        stdin = input.encode() if isinstance(input, str) else input or b""
        try:
            result = await self._sandbox.exec(argv, stdin=stdin, env=env, seconds=timeout)
        except SandboxError as error:
            raise SandboxUnavailableError(str(error)) from error
        if result.timed_out:
            raise TimeoutError(f"timed out after {timeout or self._limits.seconds} s")
        out, err = result.stdout.decode(errors="replace"), result.stderr.decode(errors="replace")
        if result.truncated:
            raise OutputLimitExceededError(f"{self._limits.output_bytes} bytes", out or err)
        if result.exit == 126 and "permission denied" in err.lower():
            raise PermissionError(err.strip())
        return InspectResult(success=result.exit == 0, returncode=result.exit, stdout=out, stderr=err)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        await self._sandbox.write_file(file, contents.encode() if isinstance(contents, str) else contents)

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        data = await self._sandbox.read_file(file)
        return data.decode() if text else data


# Inspect looks sandboxes up without the package's name, so the name it is known by is given whole.
@sandboxenv(name="evalctl/bwrap")
class BwrapSandboxEnvironment(_Environment):
    """`evalctl/bwrap`: bubblewrap, as the `bwrap` backend enforces it."""

    backend = "bwrap"
