"""Digests: what is the same is decided by content, never by name, path or time."""

import hashlib
import json
import math
from pathlib import Path
from typing import Any


def canonical(value: Any) -> str:
    """JSON with sorted keys, no spaces and only finite numbers: equal values give equal text.

    Raises ValueError for NaN or infinity, TypeError for what JSON cannot say.
    """
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def digest(value: Any) -> str:
    """First 32 hex digits of the SHA-256 of the canonical JSON of `value` (128 bits)."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:32]


def digest_bytes(data: bytes) -> str:
    """First 32 hex digits of the SHA-256 of `data`."""
    return hashlib.sha256(data).hexdigest()[:32]


def file_sha256(path: Path) -> str:
    """The whole SHA-256 of a file, read in pieces of 1 MiB."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def trial_seed(run_seed: int, content_key: str, variant: str, epoch: int) -> int:
    """The sampling seed of one trial, in [0, 2**63): its own, whatever is run beside it."""
    text = canonical([run_seed, content_key, variant, epoch])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def unit_interval(*parts: str) -> float:
    """A number in [0, 1) that depends on `parts` alone: for draws that must not depend on order."""
    whole = hashlib.sha256("\x1f".join(parts).encode()).digest()
    return math.ldexp(int.from_bytes(whole[:8], "big") >> 11, -53)
