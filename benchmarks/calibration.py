"""How often the gate's rules are wrong, cell by cell, beside the naive rule "the mean dropped more than the margin".

python benchmarks/calibration.py [--runs 1000] [--margin 0.05] [--alpha 0.05] [--every 7]

At a true drop of exactly the margin: how often PASS is said (at most alpha; the t+1 bound may reach 0.065). At no
change: how often the upper bound lies below 0, which REGRESSED needs, and how often the lower one lies above it,
which IMPROVED needs (at most alpha, three Monte Carlo standard errors allowed). Exit status 1 where a cell breaks that.
"""

import argparse
import math
import sys
import time

import numpy as np

from evalctl.gate.decide import Evidence
from evalctl.gate.verdict import Decision
from evalctl.stats.simulate import Cell, grid


def rates(cell: Cell, margin: float, alpha: float, runs: int, seed: int) -> dict[str, float]:
    """Shares of `runs`: false PASS by the gate and the naive rule; false U < 0 and L > 0; power to PASS no change."""
    rng = np.random.default_rng(seed)
    found = dict.fromkeys(("pass", "naive", "worse", "better", "power"), 0.0)
    movable = cell.chances(margin) is not None
    for _ in range(runs):
        if movable:
            drop = Evidence(cell.draw(margin, rng), 1.0, margin, alpha, alpha)
            found["pass"] += drop.decide(alpha) is Decision.PASS
            found["naive"] += drop.value > -margin
        same = Evidence(cell.draw(0.0, rng), 1.0, margin, alpha, alpha)
        found["worse"] += same.flips.upper(alpha) < 0
        found["better"] += same.flips.lower(alpha) > 0
        found["power"] += same.decide(alpha) is Decision.PASS
    found = {name: count / runs for name, count in found.items()}
    return found if movable else found | {"pass": math.nan, "naive": math.nan}


def main() -> int:
    """Print the table; the status says whether every cell held."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000, help="comparisons a cell")
    parser.add_argument("--margin", type=float, default=0.05)
    parser.add_argument("--alpha", type=float, default=0.05)
    parser.add_argument("--every", type=int, default=1, help="take every n-th cell of the grid")
    asked = parser.parse_args()
    error = 3 * math.sqrt(asked.alpha * (1 - asked.alpha) / asked.runs)
    started, broken = time.perf_counter(), []
    print(f"{'cell':<58} {'false PASS':>10} {'naive':>6} {'false U<0':>9} {'false L>0':>9} {'PASS no change':>14}")
    for index, cell in enumerate(grid()[:: asked.every]):
        got = rates(cell, asked.margin, asked.alpha, asked.runs, index)
        line = f"{got['pass']:>10.3f} {got['naive']:>6.2f} {got['worse']:>9.3f} {got['better']:>9.3f}"
        line += f" {got['power']:>14.2f}"
        too_many = got["pass"] > max(0.065, asked.alpha) + error
        too_many = too_many or max(got["worse"], got["better"]) > asked.alpha + error
        broken += [cell.name] if too_many else []
        print(f"{cell.name:<58} {line}{'  BROKEN' if too_many else ''}", flush=True)
    print(f"{len(broken)} cells broken; {time.perf_counter() - started:.0f} s")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
