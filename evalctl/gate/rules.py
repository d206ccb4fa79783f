"""What must hold before anything is decided: a plain list of pure rules.

Each takes a Case and returns its faults, a line each, beginning with the rule's name; none means it holds. The
rules of RUNS need only the records; those of ROWS read trials, where there are any; those of CELLS
pair them and run only where each cell stands once.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalctl import measures
from evalctl.digests import canonical
from evalctl.types import Json, Run

from .case import SIDES, Case
from .guards import listed

Rule = Callable[[Case], list[str]]
ABSENT = "null"
"""What a row that does not record something says, where others of its run do."""


def presence(case: Case) -> list[str]:
    """Every suite the policy names is there on both sides."""
    return [f"presence: {side} has no run of {case.demand.suite}" for side in SIDES if case.runs[side] is None]


def same_run(case: Case) -> list[str]:
    """The two sides are two runs: one compared with itself would always pass and says nothing."""
    keys = {side: run.record.key for side, run in case.runs.items() if run is not None}
    if len(keys) == len(SIDES) and keys["baseline"] == keys["candidate"]:
        return [
            f"same_run: both sides are run {keys['baseline'][:12]}; run the candidate afresh (--replicate N) "
            "or pin the baseline (evalctl baselines set)"
        ]
    return []


def ledger(case: Case) -> list[str]:
    """A look at sealed samples was counted, and lies within the budget."""
    if not case.demand.sealed:
        return []
    look = case.look
    if look is None:
        return ["ledger: this suite reads sealed samples and no look was counted; gate it through `evalctl gate`"]
    if look.refused:
        return [
            f"ledger: look {look.number} of {look.budget} at the sealed samples of {look.suite} is refused and spent; "
            "rotate in a fresh sealed shard (evalctl ledger show lists the looks)"
        ]
    return []


def complete(case: Case) -> list[str]:
    """Neither run was cut by a limit or is still being written."""
    faults = []
    for side in SIDES:
        run = case.runs[side]
        if run is not None and not run.record.complete:
            faults.append(f"complete: {side} run {run.record.key[:12]} is not complete; finish it with --resume")
    return faults


def empty(case: Case) -> list[str]:
    """Each side has trials that the policy reads."""
    roles = ", ".join(sorted(case.demand.roles))
    return [
        f"empty: {side} has no trials of {case.demand.suite} in roles {roles}"
        + (" outside training lineage" if case.pairing.without else "")
        for side, frame in case.pairing.sides.items()
        if not len(frame)
    ]


def comparability(case: Case) -> list[str]:
    """What `require_same` lists is the same on both sides; recorded on neither fails where the policy lists it."""
    faults = []
    for name in case.demand.require_same:
        found = {side: recorded(case, side, name) for side in SIDES}
        several = [side for side in SIDES if len(found[side]) > 1]
        if several:
            faults.append(f"comparability: {name} has several values within one run ({', '.join(several)})")
        elif not any(found.values()):
            if case.demand.named_same:
                faults.append(f"comparability: {name} is recorded on neither side, and the policy requires it")
        elif found["baseline"] != found["candidate"]:
            shown = [f"{side} {_short(found[side][0]) if found[side] else 'not recorded'}" for side in SIDES]
            faults.append(f"comparability: {name} differs: {', '.join(shown)}")
    return faults


def metric(case: Case) -> list[str]:
    """The metric is in the rows, with one direction and at most one range."""
    name = case.demand.metric
    faults = [f"metric: {side} has no {name!r}" for side in SIDES if not case.declared[side].found]
    if faults:
        return faults
    for side, frame in case.pairing.sides.items():
        if (twice := measures.two_valued(frame, name)).any():
            faults.append(f"metric: {side} has rows whose score and metrics.{name} differ: {_ids(frame, twice)}")
    if case.direction_fault:
        faults.append(f"direction: {case.direction_fault}")
    if case.range_fault:
        faults.append(f"range: {case.range_fault}")
    return faults


def out_of_range(case: Case) -> list[str]:
    """Scores are finite and within the declared range."""
    faults = []
    for side, frame in case.pairing.sides.items():
        status = frame["status"].isin(measures.COUNTED).to_numpy(bool)
        bad = measures.not_finite(frame, case.demand.metric)
        if case.range is not None:
            values = measures.raw_values(frame, case.demand.metric)
            low, high = case.range
            bad = bad | (status & ((values < low) | (values > high)))
        else:
            bad = bad | (np.abs(measures.raw_values(frame, case.demand.metric)) > measures.WIDEST)
        if bad.any():
            bounds = f"[{case.range[0]:g}, {case.range[1]:g}]" if case.range else f"±{measures.WIDEST:g}"
            faults.append(
                f"out_of_range: {side} has {int(bad.sum())} values of {case.demand.metric} outside {bounds}: "
                + _ids(frame, bad)
            )
    return faults


def duplicates(case: Case) -> list[str]:
    """No (content key, variant, epoch) stands twice on a side."""
    return [
        f"duplicates: {side} has {len(ids)} samples more than once in one epoch: {listed(ids)}"
        for side, ids in case.pairing.duplicates.items()
        if ids
    ]


def coverage(case: Case) -> list[str]:
    """Each side has nearly every cell of the union and of the suite's own list."""
    cells, least = case.pairing.cells, case.demand.min_coverage
    return [
        f"coverage: {side} covers {cells.coverage(side):.3g} of {cells.count} (content key, variant, epoch), "
        f"less than {least:g}; pairing is by content"
        for side in SIDES
        if cells.coverage(side) < least
    ]


def epochs(case: Case) -> list[str]:
    """Nearly every sample has as many epochs as the policy demands."""
    wanted, faults = case.demand.epochs, []
    for side, frame in case.pairing.sides.items():
        if wanted > 1 and len(frame):
            counts = frame.groupby(["content_key", "variant"], sort=False).size()
            short = int((counts < wanted).sum())
            if short > (1 - case.demand.min_coverage) * len(counts):
                faults.append(f"epochs: {short} of {len(counts)} samples of {side} have fewer than {wanted} epochs")
    return faults


def clusters_agree(case: Case) -> list[str]:
    """A sample stands in the same cluster on both sides."""
    torn = case.pairing.cells.torn
    return [f"comparability: {torn} samples stand in different clusters on the two sides"] if torn else []


def errors(case: Case) -> list[str]:
    """The share not scored for reasons that are not the model's is within the budget on both sides."""
    most = case.demand.max_error_rate
    return [
        f"errors: {side} has {case.unscored(side)} of {len(case.values[side])} trials not scored "
        f"({case.error_rate(side):.3g}, more than {most:g})"
        for side in SIDES
        if case.error_rate(side) > most
    ]


RUNS: Sequence[Rule] = (presence, same_run, ledger, complete)
ROWS: Sequence[Rule] = (comparability, metric, out_of_range, duplicates)
CELLS: Sequence[Rule] = (coverage, epochs, clusters_agree, errors)


def faults(case: Case) -> list[str]:
    """Every fault of a case; a later group is read only where the earlier ones leave something to read."""
    found = [line for rule in RUNS for line in rule(case)]
    if any(line.startswith(("presence:", "same_run:", "ledger:")) for line in found):
        return found
    if nothing := empty(case):
        return found + nothing
    found += [line for rule in ROWS for line in rule(case)]
    if any(line.startswith("duplicates:") for line in found):
        return found
    return found + [line for rule in CELLS for line in rule(case)]


def recorded(case: Case, side: str, name: str) -> list[str]:
    """Every value of `name` in a side's run as canonical JSON: the run field, else the column, else `metadata.NAME`.

    Empty where it is not recorded; more than one where the run's own trials disagree, or where some record it and
    others do not: one row speaks for no other.
    """
    run = case.runs[side]
    assert run is not None
    field = None if name.startswith("metadata.") else _run_field(run, name)
    if field is not None:
        return [canonical(field)]
    frame = case.pairing.sides[side]
    if name in frame.columns and frame[name].notna().any():
        values = frame[name].dropna()
        told = {_spelled(value) for value in (values if values.dtype == object else values.unique())}
        return sorted(told | ({ABSENT} if len(values) < len(frame) else set()))
    return _in_metadata(frame, name.removeprefix("metadata."))


def not_recorded(case: Case) -> tuple[str, ...]:
    """What `require_same` lists and neither side recorded."""
    names = case.demand.require_same
    return tuple(name for name in names if not any(recorded(case, side, name) for side in SIDES))


def _run_field(run: Run, name: str) -> Json:
    if name == "suite_digest":
        return run.record.suite.get("digest")
    return getattr(run.record, name, None) if name in type(run.record).__dataclass_fields__ else None


def _in_metadata(frame: pd.DataFrame, name: str) -> list[str]:
    # Most metadata does not hold the name: a text search spares parsing it.
    held = frame["metadata"].str.contains(json.dumps(name, ensure_ascii=False), regex=False).fillna(False).astype(bool)
    found = [json.loads(text).get(name) for text in frame.loc[held, "metadata"].unique()]
    told = {canonical(value) for value in found if value is not None}
    return sorted(told | ({ABSENT} if told and (not held.all() or None in found) else set()))


def _spelled(value: Any) -> str:
    return canonical(value.item() if isinstance(value, np.generic) else value)


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


def _ids(frame: pd.DataFrame, chosen: Any) -> str:
    return listed(list(dict.fromkeys(frame.loc[chosen, "sample_id"].astype(str))))
