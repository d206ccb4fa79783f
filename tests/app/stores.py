"""A store with two checkpoints, two suites and a verdict, made without a model."""

from dataclasses import replace
from pathlib import Path

from evalctl.keys import run_key
from evalctl.store import Store
from tests.doubles import Synthetic

EARLY, LATE = "2026-03-01T09:00:00+00:00", "2026-03-02T09:00:00+00:00"


def keep(store: Store, made: Synthetic) -> str:
    """Write one run as the runner would; its key."""
    record = replace(made.run().record, key="", complete=False)
    record = replace(record, key=run_key(record))
    with store.begin(record) as writer:
        for trial in made.trials():
            writer.append(trial)
        writer.finish(complete=made.complete, seconds=3.0)
    return record.key


def filled(home: Path, *verdicts: dict[str, object]) -> Store:
    """`base`, then `tuned`: better at tooluse, worse at arithmetic."""
    store = Store.open(home)
    small = {"clusters": 12, "per_cluster": 1, "families": ("refund", "search")}
    for suite, checkpoint, rate, started in (
        ("tooluse", "base", 0.5, EARLY),
        ("arithmetic", "base", 0.8, EARLY),
        ("tooluse", "tuned", 0.8, LATE),
        ("arithmetic", "tuned", 0.2, LATE),
    ):
        keep(store, Synthetic(suite=suite, checkpoint=checkpoint, rate=rate, started=started, **small))  # type: ignore[arg-type]
    for verdict in verdicts:
        store.save_verdict(verdict)
    return store
