"""A real browser for tests: headless Chromium over its debugging pipe, with a profile of its own."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
LAUNCH = "import os, sys; a = sys.argv; os.dup2(int(a[1]), 3); os.dup2(int(a[2]), 4); os.execv(a[3], a[3:])"
"""The browser reads commands on descriptor 3 and answers on 4."""


def chromium() -> str | None:
    """The browser's path, or None."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def pipe() -> tuple[int, int]:
    """Both ends of a pipe, numbered above those that the browser's own will be moved to."""
    low = os.pipe()
    high = (fcntl.fcntl(low[0], fcntl.F_DUPFD_CLOEXEC, 20), fcntl.fcntl(low[1], fcntl.F_DUPFD_CLOEXEC, 20))
    for end in low:
        os.close(end)
    return high


class Browser:
    """One page in one fresh browser; `complaints` holds what its console and its policies said."""

    def __init__(self, program: str) -> None:
        self._program = program
        self._last = 0
        self._buffer = b""
        self._session: str | None = None
        self.complaints: list[str] = []
        self.requests: list[str] = []

    def __enter__(self) -> "Browser":
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        profile = f"--user-data-dir={self._profile.name}"
        theirs_in, ours_out = pipe()
        ours_in, theirs_out = pipe()
        self._in, self._out = ours_in, ours_out
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                LAUNCH,
                str(theirs_in),
                str(theirs_out),
                self._program,
                *FLAGS,
                profile,
                "about:blank",
            ],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.call(f"{domain}.enable")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        os.close(self._out)
        self._profile.cleanup()

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """One command of the DevTools protocol, and its result."""
        self._last += 1
        message: dict[str, object] = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            answer = self._next(deadline)
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return dict(answer["result"])
            self._note(answer)
        raise TimeoutError(method)

    def view(self, width: int, height: int = 900, dark: bool = False) -> None:
        """The window's size, and the person's preference for light or dark."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, url: str, until: str = "document.readyState === 'complete'", patience: float = 60) -> None:
        """Go to `url` and wait for the JavaScript expression `until`."""
        self.call("Page.navigate", url=url)
        self.wait(until, patience)

    def wait(self, until: str, patience: float = 60) -> None:
        """Wait for a JavaScript expression to be true."""
        deadline = time.monotonic() + patience
        while not self.evaluate(f"Boolean({until})"):
            if time.monotonic() > deadline:
                raise TimeoutError(until)
            time.sleep(0.2)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(str(result["exceptionDetails"].get("text")))
        return result["result"].get("value")

    def shot(self, path: Path, whole: bool = True) -> None:
        """A picture of the page as PNG."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def _next(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0.0, deadline - time.monotonic()))
            piece = os.read(self._in, 1 << 16) if ready else b""
            if not piece:
                raise TimeoutError("the browser said nothing")
            self._buffer += piece
        text, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(text))

    def _note(self, event: dict[str, Any]) -> None:
        parameters = event.get("params", {})
        if event.get("method") == "Log.entryAdded":
            self.complaints.append(str(parameters["entry"]["text"]))
        if event.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(str(parameters["exceptionDetails"].get("text")))
        if event.get("method") == "Network.requestWillBeSent":
            self.requests.append(str(parameters["request"]["url"]))
