"""Every line of the README runs as it is written; the tiny model stands in for the demo's."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.model]

ROOT = Path(__file__).parent.parent
TRAINING = "evalctl train-on-failures"
"""Takes the better part of an hour on the sizes of the README; tests/app/test_demo.py runs a campaign whole."""
REGRESSED = 1


def lines() -> list[str]:
    """The lines of every shell block that call evalctl, in order, comments apart."""
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith("evalctl ")]


def test_every_line_runs_as_written(trained_tiny: Path, tmp_path: Path) -> None:
    from evalctl.models.damage import damaged_copy

    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    models = tmp_path / ".evalctl" / "models"
    shutil.copytree(trained_tiny, models / "smollm2-135m")
    damaged_copy(models / "smollm2-135m", models / "smollm2-135m-4bit", 2)
    environment = {key: value for key, value in os.environ.items() if key != "EVALCTL_HOME"} | {"HF_HUB_OFFLINE": "1"}
    code = "import sys; from app.cli import main; sys.exit(main())"
    ran = 0
    for line in lines():
        if line.startswith(TRAINING):
            continue
        command = [sys.executable, "-c", code, *shlex.split(line, comments=True)[1:]]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600, check=False
        )
        allowed = {0, REGRESSED} if line.startswith("evalctl gate") else {0}
        assert done.returncode in allowed, f"{line}\n{done.stdout[-500:]}\n{done.stderr[-500:]}"
        ran += 1
    assert ran >= 12


def test_the_line_that_trains_names_a_policy_and_suites_that_are_there() -> None:
    from evalctl.policy import load_policy
    from suites import load_suite

    [line] = [line for line in lines() if line.startswith(TRAINING)]
    words = shlex.split(line)
    policy = load_policy(ROOT / words[words.index("--policy") + 1])
    assert load_suite(words[words.index("--suite") + 1]).name in policy.suites
