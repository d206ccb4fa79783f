"""Suite folders made for a test."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

HEAD = """
name: {name}
version: "1"
scorer: {scorer}
card: {{source: us, licence: CC0-1.0, does_not_measure: anything}}
"""

GENERATOR = """
from evalctl.types import Role, Sample
from .words import WORDS

def generate(seed, n):
    for i in range(min(n, 60)):
        text = f"Say {WORDS[i % 2]} {i} times for seed {seed}."
        yield Sample(f"s{i}", text, f"answer {i}", "say", f"c{i}", role=Role.POOL)

def siblings(sample, seed, n):
    return []

def reference(sample):
    return sample.target

def wrong(sample):
    return ["no", "never", "answer"]
"""


def write(folder: Path, head: str = "", scorer: str = "exact", files: Mapping[str, str] | None = None) -> Path:
    """A folder with a `suite.yaml` (`head` is added to it) and whatever `files` hold."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "suite.yaml").write_text(HEAD.format(name=folder.name, scorer=scorer) + head)
    for name, text in (files or {}).items():
        (folder / name).write_text(text)
    return folder


def generated(folder: Path, head: str = "", generator: str = GENERATOR) -> Path:
    """A suite of 40 drawn samples whose generator imports a module beside it."""
    roles = "roles: {pool: 0.4, dev: 0.3, sealed: 0.3}\n"
    files = {"make.py": generator, "words.py": "WORDS = ('yes', 'no')\n"}
    return write(folder, f"{roles}generator: make.py\nsamples: 40\n{head}", files=files)


def row(number: int, **more: object) -> dict[str, object]:
    """A sound sample of its own cluster, in words that no other number has."""
    words = " ".join(f"w{number}{letter}" for letter in "abcd")
    return {"id": f"s{number}", "input": f"Say {words}.", "target": f"word {number}", "cluster": f"c{number}"} | more


def from_rows(folder: Path, rows: Sequence[Mapping[str, object]], head: str = "", scorer: str = "exact") -> Path:
    """A suite of a `samples.jsonl`."""
    lines = "".join(json.dumps(one) + "\n" for one in rows)
    return write(folder, head, scorer, {"samples.jsonl": lines})
