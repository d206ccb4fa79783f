"""A model reference to a Checkpoint: a local folder, a double, or any model that Inspect can serve."""

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import parse_qsl

from ..digests import digest
from ..errors import CheckpointError, LookupFailed
from ..types import Checkpoint
from .doubles import DOUBLES
from .folder import is_model, layout
from .weights import weights_digest

DOUBLE = "double:"
FORMS = "a model folder, provider/name, or double:NAME"


@dataclass(frozen=True)
class DoubleReference:
    """`double:NAME?key=value&...`, taken apart and checked against the table of doubles."""

    name: str
    options: Mapping[str, str]


def checkpoint_for(reference: str, name: str | None = None) -> Checkpoint:
    """What `reference` names, with its weights identity; nothing is loaded and nobody is asked over a network.

    `name` defaults to the folder's name, or the reference. Raises CheckpointError for a folder that is no whole
    model, LookupFailed (did-you-mean) for an unknown double or option of one.
    """
    if reference.startswith(DOUBLE):
        double = parse_double(reference)
        identity = digest(["double", double.name, dict(double.options)])
        return Checkpoint(name or reference, identity, "double", reference)
    folder = Path(reference).expanduser()
    if reference and folder.is_dir():
        return _folder(folder, reference, name)
    provider, slash, model = reference.partition("/")
    if not slash or not provider or not model or reference.startswith((".", "~")) or Path(provider).is_dir():
        raise CheckpointError(f"{reference!r} is no model: expected {FORMS}{_near(folder)}")
    # The weights behind an address cannot be read: the digest says which door was knocked on, no more.
    identity = digest(["served", base_url(reference), reference])
    return Checkpoint(name or reference, identity, "served", reference, verified=False)


def parse_double(reference: str) -> DoubleReference:
    """`double:noisy?accuracy=0.7` taken apart; LookupFailed for a name or option that no double has."""
    name, _, query = reference.removeprefix(DOUBLE).partition("?")
    if name not in DOUBLES:
        raise LookupFailed("double", name, DOUBLES, where=reference)
    options = dict(parse_qsl(query, keep_blank_values=True))
    for option in options:
        if option not in DOUBLES[name].options:
            raise LookupFailed(f"option of double:{name}", option, DOUBLES[name].options, where=reference)
    return DoubleReference(name, options)


def base_url(reference: str) -> str:
    """The address that Inspect would use for a served model: `<PROVIDER>_BASE_URL`, empty when it is not set."""
    parts = reference.split("/")
    provider = parts[1] if parts[0] == "openai-api" and len(parts) > 2 else parts[0]
    return os.environ.get(f"{provider.upper().replace('-', '_')}_BASE_URL", "")


def _folder(folder: Path, reference: str, name: str | None) -> Checkpoint:
    if not is_model(folder):
        raise CheckpointError(
            f"{folder}: no config.json and no adapter_config.json; give the folder that save_pretrained wrote"
        )
    parts = layout(folder)
    parent = None
    if parts.adapter is not None:
        # A base whose tokenizer lives with the adapter alone is no whole model, and has no digest of its own.
        with contextlib.suppress(CheckpointError):
            parent = weights_digest(layout(parts.base))
    return Checkpoint(name or folder.resolve().name, weights_digest(parts), "folder", reference, parent=parent)


def _near(folder: Path) -> str:
    if not folder.parent.is_dir():
        return ""
    beside = [path.name for path in folder.parent.iterdir() if path.is_dir() and is_model(path)]
    near = get_close_matches(folder.name, beside, n=1)
    return f"; did you mean {str(folder.parent / near[0])!r}?" if near else ""
