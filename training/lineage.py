"""Where a trained checkpoint comes from, and the promotion record that vouches for it, chained to its parent's."""

from collections.abc import Mapping
from pathlib import Path

from evalctl.digests import digest
from evalctl.errors import EvidenceError, UsageError
from evalctl.store import Store
from evalctl.store.checkpoints import PROMOTION, Lineage
from evalctl.store.files import folder_name, make_folder, read_json, write_json
from evalctl.types import Checkpoint, Json

UNCHAINED = ("chain", "created", "seconds")
"""What of a record its chain does not cover: itself, and times."""


def keep_candidate(store: Store, made: Checkpoint, campaign: str, data: Mapping[str, Json]) -> None:
    """Save a candidate with its lineage, so that its trained clusters decide nothing wherever it is gated."""
    clusters = {suite: tuple(ids) for suite, ids in data["clusters"].items()}
    store.checkpoints.save(made, Lineage(campaign, data["digest"], clusters))


def chained(store: Store, record: Mapping[str, Json]) -> dict[str, Json]:
    """The record with its chain: a digest of what it says and of the record that promoted its incumbent."""
    parent = promotion_of(store, str(record["checkpoint"]["weights_digest"]))
    told = {**record, "parent_chain": parent["chain"] if parent else None}
    return told | {"chain": chain_of(told)}


def chain_of(record: Mapping[str, Json]) -> str:
    """The digest of what a record says."""
    return digest({key: value for key, value in record.items() if key not in UNCHAINED})


def promotion_of(store: Store, weights_digest: str) -> dict[str, Json] | None:
    """The record that promoted these weights; None where none did."""
    for path in sorted((store.home / "checkpoints").glob(f"*/{PROMOTION}")):
        record = read_json(path)
        if (record.get("candidate") or {}).get("weights_digest") == weights_digest:
            return record
    return None


def promote(store: Store, record: Mapping[str, Json]) -> Path:
    """Keep the record beside the checkpoint that it promotes."""
    name = str(record["candidate"]["name"])
    folder = make_folder(store.home / "checkpoints" / folder_name(name, "checkpoint"))
    return write_json(folder / PROMOTION, dict(record))


def find_record(store: Store, campaign: str) -> tuple[Path, dict[str, Json]]:
    """A finished campaign's folder and record, by its id or the first digits of it. Raises UsageError."""
    ended = sorted((store.home / "campaigns").glob("*/record.json"))
    found = [path for path in ended if path.parent.name.startswith(campaign)]
    if not campaign or len(found) != 1:
        there = [path.parent.name for path in ended]
        said = "several campaigns" if len(found) > 1 else "no finished campaign"
        raise UsageError(f"{said} {campaign!r}; finished: {', '.join(there) or '(none)'}")
    record = read_json(found[0])
    if record.get("chain") != chain_of(record):
        raise EvidenceError(f"{found[0]}: changed after it was written (its chain does not match)")
    return found[0].parent, record
