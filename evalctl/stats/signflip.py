"""The cluster sign-flip test and the interval that inverts it.

Under no change each cluster's total difference is as likely as its negative. Flipping a set A of clusters
moves the total by twice the total of A, so the test at a shift d counts the sets whose mean is at least d:
the bounds are quantiles of the means of random subsets of clusters. Fisher 1935, The Design of Experiments,
section 21; Hartigan 1969, JASA 64:1303 ("typical values": exact for a drawn family of subsets too); by
cluster: Canay, Romano and Shaikh 2017, Econometrica 85:1013.
"""

import math
from collections.abc import Iterator

import numpy as np
from scipy import special

from .clusters import TINY, Clusters, Floats

MOST_STATES = 40_000
"""Distinct subsets are enumerated up to this many, drawn beyond it."""
FEWEST_DRAWS = 9_999
MOST_COINS = 50_000_000
"""Draws x columns at most: what half a second of one core does."""
DRAWS_PER_LEVEL = 40
"""Drawn subsets that should lie beyond the finest level asked for."""
LARGE = 300
"""Distinct clusters beyond which the flipped total is taken as normal, unless a few clusters carry it."""
CARRIED = 0.01
"""Sum of fourth powers over squared sum of squares. A flipped total has excess kurtosis -2 times this, so its tail is
lighter than the normal one (by 6% at 0.001 where this is 0.01) and the approximation errs towards not rejecting."""
SEED = 20_160_915
ROUNDING = 1e-12
"""Of sums of probabilities; no chance is told as less."""


class SignFlip:
    """The sign-flip distribution of one set of clusters: p-values at no change, and bounds at any level.

    `finest` is the smallest level that will be asked for: it sets the number of draws. `scale` is the width of the
    range, against which rounding is told from evidence. The same data give the same answers: draws are seeded,
    and the order of clusters does not matter.
    """

    def __init__(self, clusters: Clusters, finest: float = 0.01, scale: float = 1.0) -> None:
        self._tiny = TINY * max(scale, 1.0)
        pairs = np.round(np.stack([clusters.sums, clusters.sizes], axis=1), 10)
        self._pairs, self._times = np.unique(pairs, axis=0, return_counts=True)
        self._count = clusters.count
        self._mean = clusters.mean
        self._same = clusters.spread <= self._tiny
        self._means, self._above, self._below, self._always = np.zeros(0), np.zeros(0), np.zeros(0), 1.0
        self._normal = len(self._times) > LARGE and _carried(clusters.sums) <= CARRIED
        if self._same or self._normal:
            return
        if float(np.prod(self._times + 1.0)) <= MOST_STATES:
            totals, sizes, weights = self._enumerated()
            self._keep(totals, sizes, weights, 0.0)
        else:
            few = len(self._times) * 8 <= self._count
            columns = len(self._times) if few else self._count
            wanted = max(FEWEST_DRAWS, math.ceil(DRAWS_PER_LEVEL / finest))
            draws = min(wanted, max(FEWEST_DRAWS, MOST_COINS // columns))
            parts = list(self._drawn(draws, few))
            totals, sizes = np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
            # The identity counts as one draw of its own, which keeps a test on drawn flips exact.
            self._keep(totals, sizes, np.full(draws, 1.0 / (draws + 1)), 1.0 / (draws + 1))

    @property
    def p_lower(self) -> float:
        """Chance under no change of a mean as low as the one seen: evidence that the candidate is worse."""
        if self._same:
            return 0.5**self._count if self._mean < -self._tiny else 1.0
        if self._normal:
            return float(special.ndtr(self._score()))
        first = int(np.searchsorted(self._means, 0.0, side="left"))
        return max(float(self._above[first]), ROUNDING) if first < len(self._means) else self._always

    @property
    def p_upper(self) -> float:
        """Chance under no change of a mean as high as the one seen: evidence that the candidate is better."""
        if self._same:
            return 0.5**self._count if self._mean > self._tiny else 1.0
        if self._normal:
            return float(special.ndtr(-self._score()))
        last = int(np.searchsorted(self._means, 0.0, side="right")) - 1
        return max(float(self._below[last]), ROUNDING) if last >= 0 else self._always

    def upper(self, alpha: float) -> float:
        """The largest shift that the lower test at `alpha` does not reject: below 0 exactly where it rejects 0.

        Infinite where the clusters are too few to reject anything at `alpha`.
        """
        if self._same:
            return self._same_upper(self._mean, alpha)
        if self._normal:
            return self._root(alpha, above=True)
        kept = np.flatnonzero(self._above > alpha)
        return float(self._means[kept[-1]]) if len(kept) and self._always <= alpha else math.inf

    def lower(self, alpha: float) -> float:
        """The smallest shift that the upper test at `alpha` does not reject: above 0 exactly where it rejects 0."""
        if self._same:
            return -self._same_upper(-self._mean, alpha)
        if self._normal:
            return self._root(alpha, above=False)
        kept = np.flatnonzero(self._below > alpha)
        return float(self._means[kept[0]]) if len(kept) and self._always <= alpha else -math.inf

    def _enumerated(self) -> tuple[Floats, Floats, Floats]:
        """Total, size and probability of every distinct subset; equal clusters are counted, not listed."""
        totals, sizes, weights = np.zeros(1), np.zeros(1), np.ones(1)
        for (total, size), times in zip(self._pairs, self._times, strict=True):
            k = np.arange(times + 1)
            totals = np.add.outer(totals, k * total).ravel()
            sizes = np.add.outer(sizes, k * size).ravel()
            # In logs, because 2 ** -1,100 is no double.
            ways = special.gammaln(times + 1) - special.gammaln(k + 1) - special.gammaln(times - k + 1)
            weights = np.multiply.outer(weights, np.exp(ways - times * math.log(2))).ravel()
        return totals, sizes, weights

    def _drawn(self, draws: int, few: bool) -> Iterator[tuple[Floats, Floats]]:
        """Totals and sizes of random subsets, in pieces of bounded memory; equal clusters as one where they are few."""
        rng = np.random.default_rng(SEED)
        columns = self._pairs if few else np.repeat(self._pairs, self._times, axis=0)
        step = max(1, 2_000_000 // len(columns))
        for start in range(0, draws, step):
            rows = min(step, draws - start)
            chosen: Floats
            if few:
                chosen = rng.binomial(self._times, 0.5, size=(rows, len(columns))).astype(float)
            else:
                coins = rng.integers(0, 256, size=(rows, (len(columns) + 7) // 8), dtype=np.uint8)
                chosen = np.unpackbits(coins, axis=1, count=len(columns)).astype(float)
            both = chosen @ columns
            yield both[:, 0], both[:, 1]

    def _keep(self, totals: Floats, sizes: Floats, weights: Floats, always: float) -> None:
        """Sort the subset means; the empty subset lies beyond every shift, on both sides."""
        empty = sizes < 0.5
        self._always = always + float(weights[empty].sum())
        means = totals[~empty] / sizes[~empty]
        means[np.abs(means) <= self._tiny] = 0.0
        order = np.argsort(means, kind="stable")
        self._means, kept = means[order], weights[~empty][order]
        # Sums of probabilities miss their true value by rounding: a level that is met exactly counts as met.
        self._above = self._always + np.cumsum(kept[::-1])[::-1] - ROUNDING
        self._below = self._always + np.cumsum(kept) - ROUNDING

    def _same_upper(self, value: float, alpha: float) -> float:
        """Where all clusters gave `value`, its mirror image is the outcome the test weighs against: with q the share of
        clusters that would give it, q is at most 1 - alpha ** (1 / G), and the bound keeps a width."""
        if not self._count:
            return math.inf
        reach = -math.expm1(math.log(alpha) / self._count)
        bound = value + reach * 2 * abs(value)
        rejects = value < -self._tiny and 0.5**self._count <= alpha
        return min(bound, -self._tiny) if rejects else bound

    def _score(self) -> float:
        sums = np.repeat(self._pairs[:, 0], self._times)
        return float(sums.sum()) / math.sqrt(float(sums @ sums))

    def _root(self, alpha: float, *, above: bool) -> float:
        """The shift d at which |sum(S - d n)| = z * sqrt(sum((S - d n) ** 2)), above or below the mean."""
        z = -float(special.ndtri(alpha))
        sums, sizes = self._pairs.T
        times = self._times
        a = float(times @ sizes) ** 2 - z * z * float(times @ sizes**2)
        b = float(times @ sums) * float(times @ sizes) - z * z * float(times @ (sums * sizes))
        c = float(times @ sums) ** 2 - z * z * float(times @ sums**2)
        if a <= 0:
            return math.inf if above else -math.inf
        inner = math.sqrt(max(b * b - a * c, 0.0))
        return (b + inner if above else b - inner) / a


def _carried(sums: Floats) -> float:
    squares = float((sums**2).sum())
    return float((sums**4).sum()) / squares**2 if squares > 0 else 1.0
