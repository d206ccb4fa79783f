"""Imports run down only, and heavy libraries stay in their rooms."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BELOW = {
    "app": {"training", "reports", "suites", "scorers", "sandboxes", "evalctl"},
    "training": {"suites", "scorers", "sandboxes", "evalctl"},
    "reports": {"evalctl"},
    "suites": {"scorers", "sandboxes", "evalctl"},
    "scorers": {"sandboxes", "evalctl"},
    "sandboxes": {"evalctl"},
    "evalctl": set(),
}
HEAVY = {
    "inspect_ai": ("evalctl/inspect_adapter/",),
    "lm_eval": ("evalctl/lm_eval_adapter.py",),
    "trl": ("training/",),
    "peft": ("training/", "evalctl/models/"),
    "torch": ("training/", "evalctl/models/", "suites/contamination/"),
    "transformers": ("training/", "evalctl/models/", "suites/contamination/"),
    "ray": ("evalctl/executors.py",),
    "docker": ("sandboxes/docker.py",),
    "streamlit": ("app/",),
}


def imported(path: Path) -> Iterator[str]:
    """Every absolute module name a file imports, inside functions too."""
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module


def sources() -> list[Path]:
    return sorted(path for package in BELOW for path in (ROOT / package).rglob("*.py"))


@pytest.mark.parametrize("package", BELOW)
def test_imports_run_down_only(package: str) -> None:
    files = sorted((ROOT / package).rglob("*.py"))
    assert files
    up = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files
        for name in imported(path)
        if (top := name.split(".")[0]) in BELOW and top != package and top not in BELOW[package]
    }
    assert up == set()


@pytest.mark.parametrize("library", HEAVY)
def test_a_heavy_library_is_imported_only_in_its_rooms(library: str) -> None:
    strays = {
        str(path.relative_to(ROOT))
        for path in sources()
        if any(name.split(".")[0] == library for name in imported(path))
        and not str(path.relative_to(ROOT)).startswith(HEAVY[library])
    }
    assert strays == set()


def test_a_relative_import_never_climbs_out_of_its_package() -> None:
    climbing = {
        str(path.relative_to(ROOT))
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.level >= len(path.relative_to(ROOT).parts)
    }
    assert climbing == set()


def test_the_layer_test_sees_an_import_that_runs_up(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("def f():\n    from app.cli import main\n")
    assert list(imported(bad)) == ["app.cli"]


def test_the_top_level_holds_the_owners_folders_and_project_files_only() -> None:
    import subprocess

    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    allowed = {
        *BELOW, "tests", "docs", "benchmarks", ".ci", ".github", ".gitignore", "pyproject.toml", "README.md",
        "Makefile", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "action.yml", "constraints.txt",
    }  # fmt: skip
    assert {path.split("/")[0] for path in tracked} <= allowed
