"""Tokens a second of the local provider beside plain batched `generate` of Transformers, in one process, in turns.

    python benchmarks/provider.py [MODEL_FOLDER] [--batch 32] [--new 64] [--repeats 3] [--threads N] [--dtype float32]

Greedy, every row to its full length (no end token), so that both do the same work. Two prompt sets: questions
apart, and the same questions behind a prefix that all share. Wall time and processor time are both shown: on a
machine that others use, the second is the one to read. A ratio above 1 means that the provider is faster.
Without a folder the demo model is measured, where its package is installed.

Target, by processor time: at least 0.8 of `generate` on questions apart, and more behind a shared prefix.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from evalctl.errors import CheckpointError
from evalctl.models.convert import demo_model
from evalctl.models.decode import Decoder, Row, shared_prefix
from evalctl.models.folder import layout
from evalctl.models.loading import DTYPES, default_dtype, load_tokenizer, load_weights
from evalctl.models.local import BATCH_SIZE, default_threads

Prompts = list[tuple[int, ...]]
TARGET = 0.8
"""Least ratio by processor time on questions apart."""


def prompts(tokenizer: Any, batch: int, shared: int) -> Prompts:
    """`batch` questions of 12 to 40 tokens, each behind `shared` tokens that all have."""
    text = "Read the notes, then answer the question in one short sentence and give nothing else. "
    head = tokenizer(text * 20, add_special_tokens=False, verbose=False)["input_ids"][:shared]
    asked = [
        f"Question {i * 37 % 101}: which of these is {'the larger of ' * (i % 6)}the two, {i} or {i * i}?"
        for i in range(batch)
    ]
    # The questions differ from their first token on, so that apart really means apart.
    tails = tokenizer([f"{i} {question}" for i, question in enumerate(asked)], add_special_tokens=False)["input_ids"]
    return [tuple(head + tail) for tail in tails]


def ours(weights: Any, rows: Prompts, new: int) -> None:
    """One batch through a fresh decoder: no prefix is kept from the repeat before."""
    Decoder(weights, frozenset()).run([Row(row, new) for row in rows])


def plain(weights: Any, rows: Prompts, new: int) -> None:
    """The same batch through `generate`, left-padded."""
    width = max(map(len, rows))
    ids = torch.tensor([[0] * (width - len(row)) + list(row) for row in rows])
    mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])
    with torch.inference_mode():
        weights.generate(
            input_ids=ids, attention_mask=mask, max_new_tokens=new, do_sample=False, eos_token_id=None, pad_token_id=0
        )


def timed(call: Callable[[], None]) -> tuple[float, float]:
    """(wall, processor) seconds of one call."""
    wall, processor = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - processor


def compare(weights: Any, rows: Prompts, new: int, repeats: int) -> dict[str, list[tuple[float, float]]]:
    """Both engines in turns, so that whatever else the machine does meets both alike."""
    times: dict[str, list[tuple[float, float]]] = {"ours": [], "plain": []}
    for turn in range(repeats):
        engines = [("ours", ours), ("plain", plain)]
        for name, engine in engines[:: 1 if turn % 2 == 0 else -1]:
            times[name].append(timed(lambda engine=engine: engine(weights, rows, new)))
    return times


def show(label: str, times: dict[str, list[tuple[float, float]]], tokens: int) -> float:
    """Print tokens a second by wall and processor time, and the median of the turns' ratios; the last of these."""
    print(label)
    for clock, place in (("wall", 0), ("processor", 1)):
        ratios = sorted(b[place] / a[place] for a, b in zip(times["ours"], times["plain"], strict=True))
        speeds = {name: tokens / statistics.median(t[place] for t in each) for name, each in times.items()}
        print(
            f"  {clock:<9} ours {speeds['ours']:7.1f} tok/s   plain {speeds['plain']:7.1f} tok/s   "
            f"ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        )
    return statistics.median(ratios)


def default_folder() -> Path | None:
    """The demo model under EVALCTL_HOME, made there once; None where its package is not installed."""
    home = Path(os.environ.get("EVALCTL_HOME") or ".evalctl")
    try:
        return demo_model(home / "models" / "smollm2-135m")
    except CheckpointError as error:
        print(f"nothing measured: {error}")
        return None


def main() -> None:
    """Parse, run, print."""
    parser = argparse.ArgumentParser(description="The local provider beside plain batched generate.")
    parser.add_argument("folder", type=Path, nargs="?", help="model folder (default: the demo model)")
    parser.add_argument("--batch", type=int, default=BATCH_SIZE, help="rows of a batch")
    parser.add_argument("--new", type=int, default=64, help="new tokens of each row")
    parser.add_argument("--repeats", type=int, default=3, help="turns of each engine")
    parser.add_argument("--prefix", type=int, default=96, help="tokens of the shared prefix")
    parser.add_argument("--threads", type=int, default=default_threads(), help="threads of torch")
    parser.add_argument("--dtype", choices=DTYPES, default=default_dtype(), help="numbers to compute in")
    options = parser.parse_args()
    folder = options.folder or default_folder()
    if folder is None:
        return
    torch.set_num_threads(options.threads)
    parts = layout(folder)
    tokenizer, weights = load_tokenizer(parts), load_weights(parts, options.dtype)
    told = f"{options.dtype}, batch {options.batch}, {options.new} new tokens, threads {options.threads}"
    print(f"{folder.name}, {told}")
    ratios = []
    for shared in (0, options.prefix):
        rows = prompts(tokenizer, options.batch, shared)
        ours(weights, rows[:2], 2)
        plain(weights, rows[:2], 2)
        label = f"prompts of {min(map(len, rows))} to {max(map(len, rows))} tokens, {shared_prefix(rows)} shared"
        times = compare(weights, rows, options.new, options.repeats)
        ratios.append(show(label, times, options.batch * options.new))
    apart, behind = ratios
    held = "holds" if behind > apart >= TARGET else "does not hold"
    print(f"processor time beside generate: {apart:.2f} apart, {behind:.2f} behind a shared prefix; the target {held}")


if __name__ == "__main__":
    main()
