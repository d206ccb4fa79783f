"""The decode loop gives what Transformers' own generate gives, and the same for the same batch, always."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalctl.models.decode import KV_TOKENS, Decoder, Row, fitting_parts, shared_prefix
from evalctl.models.folder import layout
from evalctl.models.loading import load_weights

pytestmark = pytest.mark.model

SHARED = tuple(3 + (i * 7) % 90 for i in range(40))
ROWS = tuple(SHARED + tuple(3 + (i * j) % 90 for j in range(1, 2 + i)) for i in range(1, 7))
"""Prompts of 42 to 48 tokens that share 40 and more."""
APART = tuple(tuple(3 + (i * j) % 90 for j in range(1, 3 + 4 * i)) for i in range(1, 6))
"""Prompts of other lengths that share nothing worth keeping."""


@pytest.fixture(scope="module")
def weights(tiny: Path) -> Any:
    import torch

    torch.set_num_threads(1)
    return load_weights(layout(tiny), "float32")


@pytest.fixture
def decoder(weights: Any) -> Callable[..., Decoder]:
    def make(*eos: int) -> Decoder:
        return Decoder(weights, frozenset(eos))

    return make


def greedy(weights: Any, prompts: tuple[tuple[int, ...], ...], new: int) -> list[list[int]]:
    """What Transformers generates for the left-padded batch."""
    import torch

    width = max(map(len, prompts))
    ids = torch.tensor([[0] * (width - len(p)) + list(p) for p in prompts])
    mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts])
    out = weights.generate(
        input_ids=ids, attention_mask=mask, max_new_tokens=new, do_sample=False, eos_token_id=None, pad_token_id=0
    )
    return [row[width:].tolist() for row in out]


@pytest.mark.parametrize("prompts", [ROWS, APART], ids=["shared prefix", "left padding alone"])
def test_greedy_is_transformers_own_greedy(weights: Any, decoder: Any, prompts: tuple[tuple[int, ...], ...]) -> None:
    assert (shared_prefix(prompts) > 0) == (prompts is ROWS)
    assert decoder().run([Row(p, 24) for p in prompts]) == greedy(weights, prompts, 24)


def test_long_prompts_are_read_in_pieces_and_nothing_changes(weights: Any, decoder: Any) -> None:
    long = tuple(tuple(3 + (i * j * j + j) % 90 for j in range(300 + i % 3)) for i in range(30))
    drawn = decoder().run([Row(p, 3) for p in long])
    assert drawn[:2] == greedy(weights, long[:2], 3)
    assert drawn[29:] == greedy(weights, long[29:], 3)


def test_the_same_batch_gives_the_same_tokens_whatever_ran_before(decoder: Any) -> None:
    rows = [Row(p, 16, temperature=0.9, seed=i) for i, p in enumerate(ROWS)]
    used = decoder()
    first = used.run(rows)
    used.run([Row(p[:-1], 4) for p in ROWS])
    used.run([Row(p, 4) for p in APART])
    assert used.run(rows) == first == decoder().run(rows)


def test_a_rows_draws_do_not_depend_on_its_neighbours(decoder: Any) -> None:
    rows = [Row(p, 12, temperature=1.0, top_p=0.95 if i % 2 else 1.0, seed=100 + i) for i, p in enumerate(ROWS)]
    together = decoder().run(rows)
    assert [decoder().run([row])[0] for row in rows] == together
    assert decoder().run(rows[::-1]) == together[::-1]


def test_another_seed_draws_otherwise_and_greedy_reads_no_seed(decoder: Any) -> None:
    hot = [decoder().run([Row(ROWS[0], 12, temperature=1.5, seed=s)])[0] for s in (1, 2)]
    cold = [decoder().run([Row(ROWS[0], 12, seed=s)])[0] for s in (1, 2)]
    assert hot[0] != hot[1]
    assert cold[0] == cold[1]


def test_a_finished_row_leaves_and_the_others_go_on_as_before(decoder: Any) -> None:
    whole = decoder().run([Row(p, 24) for p in APART])
    end = whole[0][2]
    until = [tokens[: tokens.index(end) + 1] if end in tokens else tokens for tokens in whole]
    assert decoder(end).run([Row(p, 24) for p in APART]) == until
    assert len(until[0]) <= 3


def test_each_row_has_its_own_length(decoder: Any) -> None:
    whole = decoder().run([Row(p, 20) for p in ROWS])
    lengths = [0, 1, 20, 3, 7, 2]
    drawn = decoder().run([Row(p, n) for p, n in zip(ROWS, lengths, strict=True)])
    assert drawn == [tokens[:n] for tokens, n in zip(whole, lengths, strict=True)]


def test_a_batch_too_large_for_memory_is_decoded_in_parts_in_order() -> None:
    rows = [Row((i,) * (KV_TOKENS // 3), 1) for i in range(1, 6)]
    parts = fitting_parts(rows)
    assert [len(part) for part in parts] == [2, 2, 1]
    assert [row for part in parts for row in part] == rows


def test_a_shared_prefix_leaves_a_token_to_every_row() -> None:
    assert shared_prefix([(1,) * 32, (1,) * 32]) == 16
    assert shared_prefix([(1,) * 33, (1,) * 40]) == 32
    assert shared_prefix([(1, 2), (1, 3)]) == 0
