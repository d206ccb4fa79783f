"""What a Limits asks of the kernel: one place for both backends."""

import math
import re
import resource

from evalctl.errors import UsageError
from evalctl.types import Limits

NOT_ENFORCED = "not enforced here"
SLACK = 2
"""Processes of the sandbox itself beside the command's: the monitor and the first of the pid namespace."""
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


PRLIMIT = "/usr/bin/prlimit"


def bounds(limits: Limits, *, memory: bool) -> list[str]:
    """What stands before a command, inside the sandbox, and bounds each of its processes.

    `memory`: bound the address space too, one process at a time, where no group bounds the tree.
    """
    cpu = max(1, math.ceil(limits.cpu_seconds))
    wanted = {
        # The soft limit tells (SIGXCPU); the hard one, a second later, cannot be ignored.
        "cpu": (resource.RLIMIT_CPU, cpu, cpu + 1),
        "nproc": (resource.RLIMIT_NPROC, limits.pids + SLACK, limits.pids + SLACK),
        # A sparse file costs nothing in a size-bounded folder, and much for who reads it.
        "fsize": (resource.RLIMIT_FSIZE, limits.work_bytes, limits.work_bytes),
        "core": (resource.RLIMIT_CORE, 0, 0),
        "nofile": (resource.RLIMIT_NOFILE, 1024, 1024),
    }
    if memory:
        wanted["as"] = (resource.RLIMIT_AS, limits.memory_bytes, limits.memory_bytes)
    command = [PRLIMIT]
    for name, (kind, soft, hard) in wanted.items():
        most = resource.getrlimit(kind)[1]
        if most != resource.RLIM_INFINITY:
            soft, hard = min(soft, most), min(hard, most)
        command.append(f"--{name}={soft}:{hard}")
    return [*command, "--"]


def parse_size(text: str) -> int:
    """Bytes of `256M`, `1.5G`, `65536`; units are powers of 1024, an `iB` or `B` after them is allowed.

    >>> parse_size("256M")
    268435456
    """
    match = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{1,15})?)\s*([KMGT]?)(?:I?B)?\s*", text.upper())
    if match is None or float(match[1]) == 0:
        raise UsageError(f"{text!r} is no size; write bytes or a number with K, M, G or T, such as 256M")
    return int(float(match[1]) * _UNITS[match[2]])
