"""`checkpoints/<name>/checkpoint.json`: identity and lineage of each checkpoint; weights are referenced, not copied."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path

from evalctl.digests import digest
from evalctl.errors import LookupFailed, StoreError
from evalctl.types import Checkpoint, Json

from .files import folder_name, make_folder, read_json, write_json

CURRENT = "checkpoint.json"
PROMOTION = "promotion.json"
"""Beside it: the record of the campaign that promoted it."""


@dataclass(frozen=True)
class Lineage:
    """How a checkpoint was made; all empty where it was not made here."""

    campaign: str | None = None
    """Campaign id."""
    data_digest: str | None = None
    """Of the training data."""
    trained_clusters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Suite to ids of the clusters its training rows came from, those of its parents left out."""


@dataclass(frozen=True)
class SavedCheckpoint:
    """A checkpoint as it stands in the store."""

    checkpoint: Checkpoint
    lineage: Lineage
    chain: str
    """Digest of weights, lineage and the parent's chain: none can be changed afterwards unseen."""
    parent_chain: str | None
    saved: str
    """ISO 8601, UTC."""
    current: bool = True
    """False where its name now means other weights."""


class Checkpoints:
    """The checkpoints of a store, by name and by weights digest."""

    def __init__(self, folder: Path, writing: Callable[[], AbstractContextManager[None]]) -> None:
        self._folder = folder
        self._writing = writing

    def save(self, checkpoint: Checkpoint, lineage: Lineage | None = None) -> str | None:
        """Keep `checkpoint` under its name; returns a line to show where the name meant other weights before.

        The older weights stay in the name's history. Saved again with the same weights and no lineage, the
        lineage that is there stays.
        """
        folder = self._folder / folder_name(checkpoint.name, "checkpoint")
        with self._writing():
            before = self._read(folder / CURRENT) if (folder / CURRENT).exists() else None
            same = before is not None and before.checkpoint.weights_digest == checkpoint.weights_digest
            if before and same and before.checkpoint == checkpoint and lineage in (None, before.lineage):
                return None
            kept = before.lineage if before and same and lineage is None else lineage or Lineage()
            parent = self._of_weights(checkpoint.parent)
            parent_chain = parent.chain if parent else None
            chain = _chain(checkpoint, kept, parent_chain)
            now = datetime.now(UTC).isoformat(timespec="microseconds")
            make_folder(folder)
            if before and not same:
                write_json(folder / f"{before.checkpoint.weights_digest}.json", _to_json(before))
            write_json(folder / CURRENT, _to_json(SavedCheckpoint(checkpoint, kept, chain, parent_chain, now)))
        if before is None or same:
            return None
        return (
            f"checkpoint {checkpoint.name!r} now means weights {checkpoint.weights_digest[:12]}; "
            f"{before.checkpoint.weights_digest[:12]} stays in its history"
        )

    def get(self, name: str) -> Checkpoint | None:
        """What `name` means now; None where nothing is called that."""
        path = self._path(name)
        return self._read(path).checkpoint if path.is_file() else None

    def saved(self, name: str) -> SavedCheckpoint:
        """What `name` means now, with its lineage. Raises LookupFailed with a did-you-mean."""
        path = self._path(name)
        if not path.is_file():
            raise LookupFailed("checkpoint", name, [checkpoint.name for checkpoint in self.all()])
        return self._read(path)

    def all(self) -> list[Checkpoint]:
        """What each name means now, by name."""
        return [saved.checkpoint for saved in self.history() if saved.current]

    def history(self, name: str | None = None) -> list[SavedCheckpoint]:
        """Everything ever saved (under `name`), what each name means now first, then older, newest first."""
        found = [self._read(path) for path in self._records()]
        found = [saved for saved in found if name in (None, saved.checkpoint.name)]
        found.sort(key=lambda saved: saved.saved, reverse=True)
        found.sort(key=lambda saved: (saved.checkpoint.name, not saved.current))
        now = {saved.checkpoint.name: saved.checkpoint.weights_digest for saved in found if saved.current}
        return [s for s in found if s.current or now.get(s.checkpoint.name) != s.checkpoint.weights_digest]

    def ancestors(self, weights_digest: str) -> list[SavedCheckpoint]:
        """The checkpoint of these weights, its parent, and so on as far as the store knows them."""
        line: list[SavedCheckpoint] = []
        at: str | None = weights_digest
        while (saved := self._of_weights(at)) is not None:
            if any(saved.checkpoint.weights_digest == known.checkpoint.weights_digest for known in line):
                raise StoreError(f"checkpoint {saved.checkpoint.name!r} is its own ancestor; `evalctl store check`")
            line.append(saved)
            at = saved.checkpoint.parent
        return line

    def trained_clusters(self, weights_digest: str, suite: str) -> frozenset[str]:
        """Ids of every cluster of `suite` in the training lineage of these weights, parents included."""
        line = self.ancestors(weights_digest)
        return frozenset(id_ for saved in line for id_ in saved.lineage.trained_clusters.get(suite, ()))

    def problems(self) -> list[str]:
        """Records that cannot be read or whose chain does not fit, a line each."""
        lines = []
        for path in self._records():
            try:
                saved = self._read(path)
            except StoreError as error:
                lines.append(str(error))
                continue
            if _chain(saved.checkpoint, saved.lineage, saved.parent_chain) != saved.chain:
                lines.append(f"{path}: changed after it was written (its chain does not match)")
        return lines

    def _records(self) -> list[Path]:
        paths = sorted(self._folder.glob("*/*.json"))
        return [path for path in paths if path.name != PROMOTION and not path.name.startswith(".")]

    def _path(self, name: str) -> Path:
        return self._folder / folder_name(name, "checkpoint") / CURRENT

    def _of_weights(self, weights_digest: str | None) -> SavedCheckpoint | None:
        """A saved checkpoint of these weights; of several, one that knows its lineage."""
        if weights_digest is None:
            return None
        found = [saved for saved in self.history() if saved.checkpoint.weights_digest == weights_digest]
        found.sort(key=lambda saved: (not saved.lineage.trained_clusters, saved.checkpoint.parent is None))
        return found[0] if found else None

    def _read(self, path: Path) -> SavedCheckpoint:
        data = read_json(path)
        try:
            checkpoint = Checkpoint(**{field.name: data[field.name] for field in fields(Checkpoint)})
            lineage = Lineage(data["campaign"], data["data_digest"], _clusters(data["trained_clusters"]))
            chain, parent_chain, saved = data["chain"], data["parent_chain"], data["saved"]
        except (KeyError, TypeError, AttributeError) as error:
            raise StoreError(f"{path}: not a checkpoint record ({type(error).__name__}: {error})") from None
        return SavedCheckpoint(checkpoint, lineage, chain, parent_chain, saved, path.name == CURRENT)


def _clusters(data: Json) -> dict[str, tuple[str, ...]]:
    return {suite: tuple(ids) for suite, ids in data.items()}


def _chain(checkpoint: Checkpoint, lineage: Lineage, parent_chain: str | None) -> str:
    identity = [checkpoint.weights_digest, checkpoint.parent, checkpoint.kind]
    return digest([identity, asdict(lineage), parent_chain])


def _to_json(saved: SavedCheckpoint) -> dict[str, Json]:
    links = {"chain": saved.chain, "parent_chain": saved.parent_chain, "saved": saved.saved}
    return {"schema": 1, **asdict(saved.checkpoint), **asdict(saved.lineage), **links}
