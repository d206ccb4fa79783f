"""The quick demo in a process of its own, as a person starts it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path


def demo(home: Path, *options: str) -> "subprocess.Popen[str]":
    """`evalctl demo --quick` in a process of its own."""
    code = "import sys; from app.cli import main; sys.exit(main())"
    environment = {**os.environ, "EVALCTL_HOME": str(home), "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-c", code, "demo", "--quick", *options]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def with_model(trained_tiny: Path, home: Path) -> Path:
    shutil.copytree(trained_tiny, home / "models" / "tiny-0.9m")  # the demo would train the very same
    return home
