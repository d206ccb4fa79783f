"""A REF to the runs it means: a run key, a checkpoint name, `baseline:NAME`, a path or a model reference."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from evalctl.errors import LookupFailed, UsageError

from .records import RunRow
from .store import Store

SHORTEST = 6
"""Characters a run key may be cut to."""


@dataclass(frozen=True)
class Side:
    """One side of a comparison."""

    name: str
    weights_digest: str | None
    """None where its runs are of several weights (a baseline may pin such)."""
    runs: Mapping[str, str]
    """Suite to the key of its newest complete run; of an incomplete one only where none is complete."""


def resolve(store: Store, reference: str) -> Side:
    """What `reference` means in `store`.

    Raises UsageError, with a did-you-mean, where nothing here is called that or a prefix means several runs.
    """
    if reference.startswith("baseline:"):
        return _baseline(store, reference)
    rows = store.find()
    for checkpoint in store.checkpoints.all():
        if checkpoint.name == reference:
            return _newest(reference, checkpoint.weights_digest, rows)
    if key := _by_key(reference, rows):
        row = next(row for row in rows if row.key == key)
        return Side(f"{row.checkpoint}@{key[:12]}", row.weights_digest, {row.suite: key})
    saved = sorted(store.checkpoints.history(), key=lambda one: one.saved, reverse=True)
    weights = _weights_of_folder(reference)
    for one in saved:
        if one.checkpoint.weights_digest in (weights, reference) or (
            weights is None and one.checkpoint.reference == reference
        ):
            return _newest(one.checkpoint.name, one.checkpoint.weights_digest, rows)
    if weights is not None:
        if any(row.weights_digest == weights for row in rows):
            return _newest(reference, weights, rows)
        raise UsageError(
            f"{reference}: {store.home} knows no run of the weights that stand there now ({weights[:12]}); "
            f"`evalctl run SUITE --checkpoint {reference}` makes one"
        )
    for row in rows:
        if row.checkpoint == reference:
            return _newest(reference, row.weights_digest, rows)
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


def _newest(name: str, weights_digest: str, rows: Iterable[RunRow]) -> Side:
    runs: dict[str, RunRow] = {}
    for row in rows:
        if row.weights_digest == weights_digest:
            held = runs.setdefault(row.suite, row)
            if row.complete and not held.complete:
                runs[row.suite] = row
    return Side(name, weights_digest, {suite: row.key for suite, row in sorted(runs.items())})


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
    guess = f"; did you mean {near[0]!r}?" if near else ""
    known = ", ".join(sorted(names)) or "none yet, `evalctl run` makes the first"
    return UsageError(
        f"{reference!r} is no run, checkpoint, baseline or path that {store.home} knows{guess} Known: {known}"
    )
