"""The wheel installs in a fresh environment and runs, owns its names alone, and others plug in."""

import subprocess
import sys
import sysconfig
import venv
from importlib.metadata import distributions, packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ["app", "evalctl", "reports", "sandboxes", "scorers", "suites", "training"]


@pytest.mark.parametrize("package", PACKAGES)
def test_each_import_name_belongs_to_evalctl_alone(package: str) -> None:
    owners = set(packages_distributions().get(package, []))
    assert owners <= {"evalctl"}
    site = Path(sysconfig.get_path("purelib"))
    assert not (site / package).exists() or owners == {"evalctl"}


def test_the_console_script_and_every_table_are_published() -> None:
    [ours] = [d for d in distributions() if d.metadata["Name"] == "evalctl"][:1]
    points = {(point.group, point.name) for point in ours.entry_points}
    assert ("console_scripts", "evalctl") in points
    assert {("evalctl.tables", name) for name in ("agents", "sandboxes", "scorers", "suites")} <= points
    assert ("inspect_ai", "evalctl") in points


PLUGIN = {
    "pyproject.toml": """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "plugin-of-others"
version = "0"
[project.entry-points."evalctl.tables"]
scorers = "plugin_of_others:SCORERS"
sandboxes = "plugin_of_others:SANDBOXES"
suites = "plugin_of_others:SUITES"
[tool.setuptools]
packages = ["plugin_of_others"]
[tool.setuptools.package-data]
plugin_of_others = ["suite/*"]
""",
    "plugin_of_others/__init__.py": """
from dataclasses import dataclass
from pathlib import Path
from evalctl.errors import SandboxUnavailable
from evalctl.types import Score
@dataclass(frozen=True)
class Shout:
    def __call__(self, sample, completion):
        return Score(float(completion.text == str(sample.target).upper()), completion.text)
class Nowhere:
    name = "nowhere"
    def digest(self): return "nowhere"
    def unavailable(self): return "nowhere is nowhere"
    def enforced(self): return {}
    def open(self, limits, files): raise SandboxUnavailable(self.unavailable())
SCORERS = {"shout": Shout}
SANDBOXES = {"nowhere": Nowhere}
SUITES = {"shouting": Path(__file__).parent / "suite"}
""",
    "plugin_of_others/suite/suite.yaml": """
name: shouting
version: "1"
advisory: true
scorer: {name: shout}
card: {source: ours, licence: CC0-1.0, does_not_measure: anything}
""",
    "plugin_of_others/suite/samples.jsonl": '{"id": "a", "input": "hey", "target": "hey"}\n',
}


@pytest.mark.slow
@pytest.mark.packaging
def test_the_wheel_runs_in_a_fresh_environment_and_finds_what_others_publish(tmp_path: Path) -> None:
    """Dependencies come from this environment's site-packages; evalctl itself only from the wheel."""
    wheels = tmp_path / "wheels"
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(wheels)]
    source = tmp_path / "source"
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    for name in filter(None, tracked):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes())
    plugin = tmp_path / "plugin"
    for name, text in PLUGIN.items():
        (plugin / name).parent.mkdir(parents=True, exist_ok=True)
        (plugin / name).write_text(text)
    for folder in (source, plugin):
        subprocess.run([*build, str(folder)], check=True, timeout=300)
    fresh = tmp_path / "fresh"
    venv.create(fresh, with_pip=True)
    python = fresh / "bin/python"
    install = [str(python), "-m", "pip", "install", "-q", "--no-deps", *map(str, wheels.glob("*.whl"))]
    subprocess.run(install, check=True, timeout=300)
    # The libraries only, by path: the editable evalctl of this environment is a .pth file, which PYTHONPATH ignores.
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": sysconfig.get_path("purelib"), "HOME": str(tmp_path)}

    def evalctl(*words: str) -> subprocess.CompletedProcess[str]:
        command = [str(fresh / "bin/evalctl"), *words]
        return subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
        )

    assert evalctl("--version").stdout.startswith("evalctl, version ")
    scored = evalctl("score", "shout", "--target", "hey", "--answer", "HEY")
    assert '"value": 1.0' in scored.stdout, scored.stderr
    listed = evalctl("suites", "list").stdout
    assert "shouting" in listed
    assert "tooluse" in listed
    refused = evalctl("sandbox", "exec", "--backend", "nowhere", "--", "true")
    assert refused.returncode == 125
    assert "nowhere is nowhere" in refused.stderr
    where = "import app, evalctl, suites; print(app.__file__, evalctl.__file__, suites.__file__)"
    found = subprocess.run(
        [str(python), "-c", where], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert str(fresh) in found.stdout
    assert str(ROOT) not in found.stdout
