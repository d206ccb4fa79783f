"""The file about to be trained on: read back, compared with what was curated, and audited once more."""

from evalctl.digests import digest_bytes
from evalctl.errors import EvidenceError
from suites.contamination.exact import Hit, Index

from .campaign import Campaign
from .curate import audit_rows
from .rows import Row, read_rows

ROWS = "rows.jsonl"


def index_of(campaign: Campaign) -> Index:
    """Every sample that anything here is measured on."""
    return Index.of(campaign.judged.values())


def curated_rows(campaign: Campaign, expected: str) -> list[Row]:
    """The curated rows. Raises EvidenceError, with the evidence, for a leak in the file or a file that was changed."""
    path = campaign.folder / ROWS
    rows = read_rows(path)
    hits = audit_rows(rows, index_of(campaign))
    if hits:
        raise EvidenceError(f"{path}: {shown(hits[0])} ({len(hits)} such); nothing is trained on this file")
    if digest_bytes(path.read_bytes()) != expected:
        raise EvidenceError(
            f"{path}: was changed after it was curated (its digest does not match); nothing is trained on this file, "
            "and another --seed starts a campaign with rows of its own"
        )
    return rows


def shown(hit: Hit) -> str:
    """The evidence of one leak, in one line."""
    return (
        f"row {hit.text_id} holds the {hit.part} of {hit.suite} sample {hit.sample_id} ({hit.role}): "
        f"{hit.evidence!r} at characters {hit.span[0]} to {hit.span[1]}"
    )
