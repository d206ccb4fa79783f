"""What RLVR adds over SFT alone: three seeds that were fixed first, on samples that no SFT or RLVR row comes from.

    python benchmarks/rlvr.py                                    the tiny model, on arithmetic
    python benchmarks/rlvr.py --model FOLDER --suite tooluse     any model folder

Each seed trains SFT with the shipped settings on the failures of the pool, then RLVR on from there, and answers the
held-out samples after each. Printed are both scores and their paired difference with its 95% interval by cluster.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evalctl.judging import judge
from evalctl.lookup import find
from evalctl.models.local import LocalModel
from evalctl.stats import Clusters, interval
from evalctl.types import Estimate, Request, Sample, Sampling, Suite
from suites import load_suite
from suites.contamination.exact import Index
from suites.load import generator_of
from training.curate import curate
from training.failures import Screened
from training.local_stages import LocalStages
from training.recipes import Workshop
from training.settings import Settings, settings_for
from training.stages import StageWork
from training.tiny import tiny_model

SEEDS = (11, 12, 13)
HELD_OUT = {"arithmetic": ("sealed", 2400), "tooluse": ("bench", 480)}
"""Suite to the role that is measured and the size of the suite that gives enough of it."""
POOL = {"arithmetic": 480, "tooluse": 240}
"""Sizes that the demo trains on."""


@dataclass(frozen=True)
class World:
    """What a seed starts from."""

    start: Path
    pool: Suite
    held_out: Sequence[Sample]
    settings: Settings


def answered(folder: Path, suite: Suite, samples: Sequence[Sample]) -> list[float]:
    """The score of each sample, greedy."""
    model, scorer = LocalModel(folder), find("scorers", suite.scorer.name)(**suite.scorer.options)
    sampling, found = Sampling(max_tokens=suite.max_tokens), []
    for start in range(0, len(samples), model.batch_size):
        batch = samples[start : start + model.batch_size]
        answers = model.generate([Request((*suite.prefix, *one.messages), sampling) for one in batch])
        for sample, answer in zip(batch, answers, strict=True):
            _, score, error = asyncio.run(judge(scorer, sample, answer, None))
            if score.value is None:
                raise SystemExit(f"{sample.id}: not scored ({error}), and that is no 0")
            found.append(score.value)
    return found


def difference(samples: Sequence[Sample], before: Sequence[float], after: Sequence[float]) -> Estimate:
    """After minus before, by cluster."""
    numbers = {name: place for place, name in enumerate(dict.fromkeys(sample.cluster for sample in samples))}
    labels = np.array([numbers[sample.cluster] for sample in samples])
    return interval(Clusters.of(np.array(after) - np.array(before), labels), (-1.0, 1.0))


def one_seed(world: World, seed: int, folder: Path) -> tuple[list[float], list[float]]:
    """Scores on the held-out samples after SFT, and after RLVR on from there."""
    suite, stages = world.pool, LocalStages()
    pool = [sample for sample in suite.samples if sample.role == "pool"]
    scores = dict(zip((sample.id for sample in pool), answered(world.start, suite, pool), strict=True))
    failed = {name: "wrong" for name, score in scores.items() if score < 1}
    screened = Screened(suite.name, failed, tuple(name for name, score in scores.items() if score == 1), {})
    scorer = find("scorers", suite.scorer.name)(**suite.scorer.options)
    work = Workshop(suite, generator_of(suite.name), scorer, None, seed, world.settings.curation)
    rows = curate(work, find("recipes", "demonstration"), screened, Index.of([suite])).rows
    began = time.monotonic()
    stages.sft(StageWork(world.start, rows, folder / "sft", seed, lambda done, of: None), world.settings.sft)
    between = time.monotonic()
    stages.rlvr(
        StageWork(folder / "sft", rows, folder / "rlvr", seed, lambda done, of: None),
        world.settings.rlvr,
        {suite.name: suite},
    )
    print(f"  seed {seed}: {len(rows)} rows, SFT {between - began:.0f} s, RLVR {time.monotonic() - between:.0f} s")
    return tuple(answered(folder / name, suite, world.held_out) for name in ("sft", "rlvr"))  # type: ignore[return-value]


def main() -> None:
    """Every seed, then all of them together."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", type=Path)
    parser.add_argument("--suite", default="arithmetic", choices=sorted(HELD_OUT))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        start = asked.model or tiny_model(Path(scratch) / "tiny")
        role, size = HELD_OUT[asked.suite]
        held_out = [sample for sample in load_suite(asked.suite, samples=size).samples if sample.role == role]
        settings = settings_for(LocalStages().parameters(start))
        world = World(start, load_suite(asked.suite, samples=POOL[asked.suite]), held_out, settings)
        base = answered(start, world.pool, held_out)
        print(f"{start.name} on {len(held_out)} {role} samples of {asked.suite}: {np.mean(base):.3f} untrained")
        before, after = [], []
        for seed in SEEDS:
            sft, rlvr = one_seed(world, seed, Path(scratch) / str(seed))
            found = difference(held_out, sft, rlvr)
            print(
                f"  seed {seed}: SFT {np.mean(sft):.3f}, then RLVR {np.mean(rlvr):.3f}: "
                f"{found.value:+.3f} ({found.low:+.3f} to {found.high:+.3f})"
            )
            before.append(sft)
            after.append(rlvr)
        found = difference(held_out, list(np.mean(before, axis=0)), list(np.mean(after, axis=0)))
        print(f"RLVR over SFT, {len(SEEDS)} seeds: {found.value:+.3f} ({found.low:+.3f} to {found.high:+.3f})")


if __name__ == "__main__":
    main()
