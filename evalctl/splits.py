"""Clusters to roles and to folds: drawn by hash, stratified, and never by what a model scored.

A role belongs to the suite version (its salt), a fold to the campaign (its own salt). Both are pure
functions of names, so they are fixed before any failure is read, and the same everywhere.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

from .digests import unit_interval
from .errors import SuiteError, UsageError
from .types import Role, Sample

DRAWN = (Role.POOL, Role.DEV, Role.SEALED)
"""The roles that are drawn; `bench` and `replay` are declared by a generator or a file."""


def draw_roles(strata: Mapping[str, Hashable], shares: Mapping[Role, float], salt: str) -> dict[str, Role]:
    """A role for each cluster; `strata` maps cluster to stratum, in the order in which the suite gives them.

    Within a stratum the counts follow the shares (each to within the number of roles) while the hash of
    salt and cluster chooses. Appending clusters never changes the roles of those before, so a larger
    suite keeps the smaller one's roles. Shares are relative: they need not add up to 1.

    >>> sorted(draw_roles({"a": 0, "b": 0}, {Role.POOL: 1, Role.DEV: 1}, "v1").values())
    [<Role.DEV: 'dev'>, <Role.POOL: 'pool'>]
    """
    positive = {role: share for role, share in shares.items() if share > 0}
    total = sum(positive.values())
    if strata and not positive:
        raise SuiteError("no role has a share above 0; give `roles` at least one of pool, dev, sealed")
    given: dict[Hashable, dict[Role, int]] = defaultdict(lambda: dict.fromkeys(positive, 0))
    roles: dict[str, Role] = {}
    for cluster, stratum in strata.items():
        counts = given[stratum]
        place = sum(counts.values()) + 1
        # What each role is owed after this cluster; the debts add up to 1, so one of them is positive.
        owed = {role: max(0.0, share / total * place - counts[role]) for role, share in positive.items()}
        roles[cluster] = _choose(owed, unit_interval("role", salt, cluster))
        counts[roles[cluster]] += 1
    return roles


def _choose(weights: Mapping[Role, float], point: float) -> Role:
    """The role whose stretch of the summed weights holds `point`, a number in [0, 1)."""
    reach = point * sum(weights.values())
    heavy = [role for role, weight in weights.items() if weight > 0]
    for role in heavy:
        reach -= weights[role]
        if reach < 0:
            return role
    return heavy[-1]


def with_roles(samples: Sequence[Sample], shares: Mapping[Role, float], salt: str) -> tuple[Sample, ...]:
    """The samples with roles drawn for those that stand in `pool`; declared `bench` and `replay` stay.

    The stratum is family and band of a cluster's first sample. Raises SuiteError when a cluster holds drawn
    and declared samples: its role would be two.
    """
    drawn: dict[str, Hashable] = {}
    declared: dict[str, Role] = {}
    for sample in samples:
        if sample.role is Role.POOL:
            drawn.setdefault(sample.cluster, (sample.family, sample.band))
        else:
            declared.setdefault(sample.cluster, sample.role)
    for cluster in drawn:
        if cluster in declared:
            raise SuiteError(
                f"cluster {cluster!r} is declared {declared[cluster]} and also to be drawn; give it one role"
            )
    roles = draw_roles(drawn, {role: shares.get(role, 0.0) for role in DRAWN}, salt)
    return tuple(replace(s, role=roles[s.cluster]) if s.cluster in roles else s for s in samples)


def draw_folds(strata: Mapping[str, Hashable], folds: int, salt: str) -> dict[str, int]:
    """A fold in [0, folds) for each cluster, whatever their order; sizes differ by at most 1, in a stratum too.

    Raises UsageError with fewer than two folds, or fewer clusters than folds.
    """
    if folds < 2:
        raise UsageError(f"{folds} fold(s): cross-fitting needs at least 2")
    if len(strata) < folds:
        raise UsageError(f"{len(strata)} cluster(s) cannot fill {folds} folds; take fewer folds or more samples")
    members: dict[str, list[str]] = defaultdict(list)
    for cluster, stratum in strata.items():
        members[repr(stratum)].append(cluster)
    order = [
        cluster
        for stratum in sorted(members)
        for cluster in sorted(members[stratum], key=lambda name: (unit_interval("fold", salt, name), name))
    ]
    # One round over all strata: dealing goes on where the last stratum ended, so no fold collects the remainders.
    return {cluster: place % folds for place, cluster in enumerate(order)}


def strata_of(samples: Iterable[Sample]) -> dict[str, Hashable]:
    """Cluster to (family, band) of its first sample, in order: what `draw_roles` and `draw_folds` take."""
    strata: dict[str, Hashable] = {}
    for sample in samples:
        strata.setdefault(sample.cluster, (sample.family, sample.band))
    return strata
