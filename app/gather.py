"""From the store to an Overview: which runs a page shows, and which pair it compares."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from evalctl.errors import EvidenceError, UsageError
from evalctl.store.records import RunRow
from evalctl.store.resolve import Wanted, newest_covering, resolve
from evalctl.store.store import Store
from evalctl.types import Json
from reports.cells import Cell, Place, measure
from reports.figures import Overview, Side, overview

from .campaigns import newest as newest_campaign

Measure = Callable[[str], Cell]
"""A run key to its figures."""


def newest(rows: Sequence[RunRow]) -> list[RunRow]:
    """Of each checkpoint and suite the run that is meant by the roles a page shows; `rows` newest first."""
    found = newest_covering(rows, lambda row: (row.checkpoint, row.weights_digest, row.suite), Wanted())
    kept = {row.key for row in found.values()}
    return [row for row in rows if row.key in kept]


def gather(store: Store, baseline: str | None = None, candidate: str | None = None) -> Overview:
    """What a page of this store shows: its runs and verdicts, and its newest campaign; raises as `arrange` does."""
    return replace(arrange(store, baseline, candidate), campaign=newest_campaign(store))


def arrange(
    store: Store, baseline: str | None = None, candidate: str | None = None, measured: Measure | None = None
) -> Overview:
    """The runs and verdicts of a page; `measured` gives a run's figures by its key (default: load and measure).

    Without names the pair is that of the newest verdict, else the two newest checkpoints that share a suite.
    Raises UsageError when only one name is given or a name means nothing, EvidenceError without runs.
    """
    if (baseline is None) != (candidate is None):
        raise UsageError("--baseline and --candidate belong together: give both or neither")
    rows = store.find()
    if not rows:
        raise EvidenceError(f"no finished run in {store.home}; `evalctl run SUITE --checkpoint REF` makes one")
    figures = measured or (lambda key: measure(store.load(key)))
    cells = [figures(row.key) for row in newest(rows)]
    verdicts = store.verdicts()
    if baseline is not None and candidate is not None:
        return overview(cells, verdicts, side(store, baseline), side(store, candidate))
    pair = _judged_pair(store, verdicts) or _newest_pair(store, overview(cells))
    return overview(cells, verdicts, *pair) if pair else overview(cells, verdicts)


def choose(store: Store, page: Overview, baseline: Place, candidate: Place) -> Overview:
    """The same page with another pair of its checkpoints: the suites that both have run."""
    shared = [suite for suite in page.suites if (baseline, suite) in page.cells and (candidate, suite) in page.cells]
    sides = [_side_of(store, page, place, shared) for place in (baseline, candidate)]
    newest_first = [
        page.cells[(place, suite)] for place in page.places for suite in page.suites if (place, suite) in page.cells
    ]
    return overview(newest_first, store.verdicts(), *sides)


def side(store: Store, reference: str) -> Side:
    """The runs behind a reference, by suite."""
    found = resolve(store, reference)
    return Side(found.name, {suite: store.load(key) for suite, key in found.runs.items()})


def _judged_pair(store: Store, verdicts: Sequence[Mapping[str, Json]]) -> tuple[Side, Side] | None:
    if not verdicts:
        return None
    names = [str(verdicts[0].get(key) or "") for key in ("baseline_name", "candidate_name")]
    found = []
    for name in names:
        try:
            runs = side(store, name).runs
        except UsageError:
            # The verdict stands without its runs: its own figures are shown, and nothing beside them.
            runs = {}
        found.append(Side(name, runs))
    return (found[0], found[1])


def _newest_pair(store: Store, page: Overview) -> tuple[Side, Side] | None:
    if not page.places:
        return None
    candidate, *older = page.places
    suites = {suite for place, suite in page.cells if place == candidate}
    for place in older:
        shared = sorted(suite for suite in suites if (place, suite) in page.cells)
        if shared:
            return (_side_of(store, page, place, shared), _side_of(store, page, candidate, shared))
    return None


def _side_of(store: Store, page: Overview, place: Place, suites: Sequence[str]) -> Side:
    return Side(page.label(place), {suite: store.load(page.cells[(place, suite)].record.key) for suite in suites})
