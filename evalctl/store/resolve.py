"""A REF to the runs it means: a run key, a checkpoint name, `baseline:NAME`, a path or a model reference."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

from evalctl.errors import LookupFailed, UsageError
from evalctl.types import PLAIN_ROLES

from .records import RunRow
from .store import Store

SHORTEST = 6
"""Characters a run key may be cut to."""
Place = TypeVar("Place", bound=Hashable)


@dataclass(frozen=True)
class Wanted:
    """The roles that are to be read."""

    roles: Collection[str] = PLAIN_ROLES
    suites: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Suites that are read in other roles."""

    def of(self, suite: str) -> frozenset[str]:
        """The roles that are to be read of `suite`."""
        return frozenset(self.suites.get(suite, self.roles))


@dataclass(frozen=True)
class Side:
    """One side of a comparison."""

    name: str
    weights_digest: str | None
    """None where its runs are of several weights (a baseline may pin such)."""
    runs: Mapping[str, str]
    """Suite to the key of the run that is meant: see `newest_covering`."""


def resolve(
    store: Store,
    reference: str,
    roles: Collection[str] = PLAIN_ROLES,
    suites: Mapping[str, Collection[str]] | None = None,
) -> Side:
    """What `reference` means in `store` to one who reads `roles`, and of `suites` the roles given there.

    A run key and a baseline mean the runs they name, whatever their roles. Raises UsageError, with a did-you-mean,
    where nothing here is called that or a prefix means several runs.
    """
    wanted = Wanted(roles, suites or {})
    if reference.startswith("baseline:"):
        return _baseline(store, reference)
    rows = store.find()
    for checkpoint in store.checkpoints.all():
        if checkpoint.name == reference:
            return _newest(reference, checkpoint.weights_digest, rows, wanted)
    if key := _by_key(reference, rows):
        row = next(row for row in rows if row.key == key)
        return Side(f"{row.checkpoint}@{key[:12]}", row.weights_digest, {row.suite: key})
    saved = sorted(store.checkpoints.history(), key=lambda one: one.saved, reverse=True)
    weights = _weights_of_folder(reference)
    for one in saved:
        if one.checkpoint.weights_digest in (weights, reference) or (
            weights is None and one.checkpoint.reference == reference
        ):
            return _newest(one.checkpoint.name, one.checkpoint.weights_digest, rows, wanted)
    if weights is not None:
        if any(row.weights_digest == weights for row in rows):
            return _newest(reference, weights, rows, wanted)
        raise UsageError(
            f"{reference}: {store.home} knows no run of the weights that stand there now ({weights[:12]}); "
            f"`evalctl run SUITE --checkpoint {reference}` makes one"
        )
    for row in rows:
        if row.checkpoint == reference:
            return _newest(reference, row.weights_digest, rows, wanted)
    raise _unknown(store, reference, rows)


def run_key_of(store: Store, reference: str) -> str:
    """The full key of the run that `reference` (a key, or 6 or more of its first characters) means."""
    rows = store.find()
    if key := _by_key(reference, rows):
        return key
    raise _unknown(store, reference, rows)


def _baseline(store: Store, reference: str) -> Side:
    name = reference.removeprefix("baseline:")
    baseline = store.baselines.get(name)
    if baseline is None:
        raise LookupFailed("baseline", name, [one.name for one in store.baselines.all()])
    by_key = {row.key: row for row in store.find()}
    gone = [f"{suite} ({key[:12]})" for suite, key in baseline.runs.items() if key not in by_key]
    if gone:
        raise UsageError(f"{reference} pins runs that are not there: {', '.join(gone)}; set it again")
    weights = {by_key[key].weights_digest for key in baseline.runs.values()}
    return Side(reference, weights.pop() if len(weights) == 1 else None, dict(baseline.runs))


def newest_covering(rows: Sequence[RunRow], place: Callable[[RunRow], Place], wanted: Wanted) -> dict[Place, RunRow]:
    """Of each place the run that is meant, in the order of `rows`, which are those of the store, newest first.

    The newest complete run that covers the wanted roles its suite has; where none does, the complete one that holds
    most of them; an incomplete one, or one that holds none of them, only where there is no other.
    """
    known: dict[tuple[str, str | None], set[str]] = {}
    for row in rows:
        known.setdefault((row.suite, row.suite_digest), set()).update(row.roles)

    def rank(row: RunRow) -> tuple[bool, bool, float]:
        there = wanted.of(row.suite) & known[row.suite, row.suite_digest]
        share = len(there & set(row.roles)) / len(there) if there else 0.0
        return share > 0, row.complete, share

    found: dict[Place, RunRow] = {}
    for row in rows:
        held = found.setdefault(place(row), row)
        if rank(row) > rank(held):
            found[place(row)] = row
    return found


def _newest(name: str, weights_digest: str, rows: Sequence[RunRow], wanted: Wanted) -> Side:
    found = newest_covering(rows, lambda row: (row.weights_digest, row.suite), wanted)
    runs = {suite: row.key for (weights, suite), row in found.items() if weights == weights_digest}
    return Side(name, weights_digest, dict(sorted(runs.items())))


def _by_key(reference: str, rows: Iterable[RunRow]) -> str | None:
    # `checkpoint@key` is what a Side of one run is called, so that a name in a verdict means the run again.
    name, _, start = reference.rpartition("@")
    if len(start) < SHORTEST:
        return None
    found = [row.key for row in rows if row.key.startswith(start) and name in ("", row.checkpoint)]
    if len(found) > 1 and start not in found:
        raise UsageError(
            f"{reference!r} begins {len(found)} run keys: {', '.join(k[:16] for k in found[:4])}; say more"
        )
    return start if start in found else found[0] if found else None


def _weights_of_folder(reference: str) -> str | None:
    """The digest of the weights that stand in a folder now, whatever stood there when it was saved."""
    if not Path(reference).is_dir():
        return None
    from evalctl.models import checkpoint_for

    digest: str = checkpoint_for(reference).weights_digest
    return digest


def _unknown(store: Store, reference: str, rows: Iterable[RunRow]) -> UsageError:
    names = {checkpoint.name for checkpoint in store.checkpoints.all()} | {row.checkpoint for row in rows}
    names |= {f"baseline:{baseline.name}" for baseline in store.baselines.all()}
    near = get_close_matches(reference, sorted(names), n=1)
    guess = f"; did you mean {near[0]!r}?" if near else "."
    known = ", ".join(sorted(names)) or "none yet, `evalctl run` makes the first"
    return UsageError(
        f"{reference!r} is no run, checkpoint, baseline or path that {store.home} knows{guess} Known: {known}"
    )
