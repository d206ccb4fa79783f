"""Fresh trials for a campaign: a part of a suite on a checkpoint, with a replicate that no other step shares."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pandas as pd

from evalctl.digests import digest
from evalctl.models import load_model
from evalctl.runner import Watch, plan_run, run_suite
from evalctl.store import Store
from evalctl.types import Checkpoint, Model, Role, Run, Sample, Suite


class Measuring:
    """Runs parts of suites; the weights of one checkpoint are held at a time, loaded once for all its suites."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._held: dict[str, Model | None] = {}

    def run(self, store: Store, suite: Suite, checkpoint: Checkpoint, replicate: int) -> Run:
        """The finished run of `suite` as it stands; what was interrupted goes on, what is there is returned."""
        plan = plan_run(suite, checkpoint, self.model(checkpoint, suite), replicate=replicate)
        if store.has(plan.record.key):
            return store.load(plan.record.key)
        return run_suite(plan, store, self._watch, resume=True)

    def model(self, checkpoint: Checkpoint, suite: Suite) -> Model | None:
        """What answers for a checkpoint; None where it is served."""
        if checkpoint.kind == "double":
            return load_model(checkpoint, suite)  # a double knows the samples of one suite, and weighs nothing
        if checkpoint.weights_digest not in self._held:
            self._held = {checkpoint.weights_digest: load_model(checkpoint, suite)}
        return self._held[checkpoint.weights_digest]

    def release(self) -> None:
        """Let go of the weights: training needs the memory."""
        self._held.clear()


def part(suite: Suite, samples: Iterable[Sample]) -> Suite:
    """The suite with these of its samples alone; the digest stays the whole suite's."""
    return replace(suite, samples=tuple(samples), whole=suite.digest)


def in_roles(suite: Suite, *roles: Role) -> Suite | None:
    """The samples of some roles; None where there are none."""
    kept = [sample for sample in suite.samples if sample.role in roles]
    return part(suite, kept) if kept else None


def replicate_of(campaign: str, step: str) -> int:
    """A replicate of a campaign's step: its own, so that fresh means fresh."""
    return int(digest([campaign, step])[:7], 16) + 1


def joined(runs: Mapping[int, Run]) -> Run:
    """The runs of fold models, each on its own held-out fold, as one run of the whole pool."""
    first = runs[min(runs)]
    expected = tuple(item for fold in sorted(runs) for item in runs[fold].record.expected or ())
    key = digest([runs[fold].record.key for fold in sorted(runs)])
    whole = replace(
        first.record, key=key, expected=expected, complete=all(run.record.complete for run in runs.values())
    )
    return Run(whole, pd.concat([runs[fold].trials for fold in sorted(runs)], ignore_index=True))
