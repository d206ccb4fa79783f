"""Trials that other tools made: a table of formats, each a reader from a file to Trials."""

from .jsonl import read_jsonl
from .load import Imported, ImportedRun, import_file
from .notes import Notes, Reader

IMPORTERS: dict[str, Reader] = {"jsonl": read_jsonl}
"""Format to its reader."""

__all__ = ["IMPORTERS", "Imported", "ImportedRun", "Notes", "Reader", "import_file"]
