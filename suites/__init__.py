"""What is measured: suites as folders, their agents, and the proof that each sample can be passed and failed."""

from pathlib import Path

from .load import load_suite

__all__ = ["SUITES", "load_suite"]

SUITES: dict[str, Path] = {name: Path(__file__).parent / name for name in ("arithmetic", "terminal", "tooluse")}
