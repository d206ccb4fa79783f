"""What a checkpoint or a baseline may be called."""

import unicodedata

from .errors import UsageError

LONGEST = 200
"""Characters of a name."""


def fit_name(name: str, kind: str, *, slashes: bool = False) -> str:
    """`name`, where it can be one; `slashes`: it stems from a `provider/name` reference. Raises UsageError.

    >>> fit_name("qwen-0.6b@step100", "checkpoint")
    'qwen-0.6b@step100'
    """
    fault = _fault(name, slashes)
    if fault:
        shown = name if len(name) <= 60 else f"{name[:57]}..."
        raise UsageError(f"{kind} name {shown!r}: {fault}; give another name")
    return name


def _fault(name: str, slashes: bool) -> str | None:
    if not name.strip():
        return "it is empty"
    if len(name) > LONGEST:
        return f"it has {len(name):,} characters, and {LONGEST} are the most"
    if name.startswith("-"):
        return "it begins with -, as an option does"
    if name.startswith("baseline:"):
        return "baseline: begins the reference to a pinned baseline"
    if any(unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} for char in name):
        return "it holds a control character"
    if "/" in name and not slashes:
        return "it holds a slash, as a path does"
    if any(part in ("", ".", "..") for part in name.split("/")):
        return "it is a path"
    return None
