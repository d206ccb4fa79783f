"""Parts of a suite: the roles a run covers, and `--limit`."""

from collections.abc import Iterable
from dataclasses import replace

from .errors import UsageError
from .types import PLAIN_ROLES, Role, Suite


def select(suite: Suite, roles: Iterable[Role] = PLAIN_ROLES, limit: int | None = None) -> Suite:
    """The samples of `roles`, at most `limit` of them; the digest stays the whole suite's.

    A suite that `limit` cut says so (`cut`): a run of it is never complete. Raises UsageError when
    nothing is left.
    """
    wanted = frozenset(roles)
    chosen = tuple(sample for sample in suite.samples if sample.role in wanted)
    if not chosen:
        there = sorted({str(sample.role) for sample in suite.samples})
        raise UsageError(
            f"suite {suite.name}: no sample has a role of {', '.join(sorted(wanted))}; its roles: {', '.join(there)}"
        )
    kept = chosen if limit is None else chosen[:limit]
    return replace(suite, samples=kept, whole=suite.digest, cut=suite.cut or len(kept) < len(chosen))
