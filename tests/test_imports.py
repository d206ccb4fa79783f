"""Importing a module prints nothing, creates nothing, and the command line stays light."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ["app", "evalctl", "reports", "sandboxes", "scorers", "suites", "training"]
HEAVY = {"torch", "transformers", "inspect_ai", "pandas", "pyarrow", "scipy", "streamlit", "docker", "pydantic"}


@pytest.mark.slow
def test_importing_every_module_prints_nothing_and_creates_nothing(tmp_path: Path) -> None:
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if path.name != "dashboard.py"  # a Streamlit script runs when imported
    ]
    code = f"import importlib\nfor name in {modules!r}: importlib.import_module(name)"
    result = subprocess.run(
        [sys.executable, "-B", "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys, json, io, contextlib\nsys.argv = ['evalctl', '--help']\nfrom app.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()): status = main()\n"
        "print(json.dumps([status, sorted({name.split('.')[0] for name in sys.modules})]))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    status, modules = json.loads(result.stdout)
    assert status == 0
    assert set(modules) & HEAVY == set()
