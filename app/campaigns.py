"""The campaigns of a store, read for reports from the files they leave; nothing is run or changed."""

import fcntl
from collections.abc import Mapping
from pathlib import Path

from evalctl.store import Store
from evalctl.store.files import read_json
from evalctl.types import Json
from reports.campaign import CampaignView, State
from reports.campaign_record import read


def campaigns(store: Store) -> list[CampaignView]:
    """Every campaign, newest first: finished ones from their records, the others from their progress.

    Raises StoreError or EvidenceError for a file that is not what was written.
    """
    found = [_known(folder) for folder in (store.home / "campaigns").glob("*/") if _begun(folder)]
    return [read(one) for one in sorted(found, key=lambda one: str(one.get("created")), reverse=True)]


def newest(store: Store) -> CampaignView | None:
    """The newest campaign; None where there is none."""
    return next(iter(campaigns(store)), None)


def _begun(folder: Path) -> bool:
    return (folder / "record.json").is_file() or (folder / "campaign.json").is_file()


def _known(folder: Path) -> Mapping[str, Json]:
    # A campaign may end between two looks; its record is the last thing it writes, so it is looked for twice.
    if (folder / "record.json").is_file():
        return read_json(folder / "record.json")
    begun, alive = read_json(folder / "campaign.json"), _locked(folder / "campaign.lock")
    progress = folder / "progress.json"
    if (folder / "record.json").is_file():
        return read_json(folder / "record.json")
    return {
        "id": begun["id"],
        "status": str(State.RUNNING if alive else State.INTERRUPTED),
        "created": begun["created"],
        "checkpoint": begun["checkpoint"],
        "suites": (begun.get("identity") or {}).get("trained"),
        "sabotage": (begun.get("identity") or {}).get("sabotage"),
        "progress": read_json(progress) if progress.is_file() else None,
    }


def _locked(path: Path) -> bool:
    """Whether a process holds the lock: the system frees it however that process ends."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
