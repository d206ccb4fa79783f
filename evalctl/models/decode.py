"""Our decode loop: a batch of token rows in, their continuations out, and nothing else decides.

What a row gets depends on the batch alone, never on what ran before it: the shared prefix is a function of the
batch, and its KV cache is computed in one way whether it is kept from an earlier batch or made anew.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .kv import argument, expanded, fresh, is_plain
from .sampling import Chooser

if TYPE_CHECKING:
    import torch

PREFIX_STEP = 16
"""A shared prefix is cut to a multiple of this, so that batches whose samples happen to share a word more still
meet the same kept cache."""
KEPT_PREFIXES = 4
KEPT_TOKENS = 8192
"""How many prefixes, and tokens of them together, stay in memory between batches."""
PREFILL_TOKENS = 8192
"""Tokens of one forward pass over prompts (rows x columns): bounds activations and masks, not what is answered."""
KV_TOKENS = 32768
"""Tokens whose keys and values are held at once (rows x length); a batch that needs more is decoded in parts."""
DROP_SHARE = 0.25
"""Finished rows leave the batch once they are this share of it: dropping copies the whole KV cache."""


@dataclass(frozen=True)
class Row:
    """One prompt as tokens, how to draw after it, and how far."""

    tokens: tuple[int, ...]
    max_new: int
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0


class Decoder:
    """Greedy or sampled continuation of batches of rows, with the prefix they share computed once."""

    def __init__(self, model: Any, eos: frozenset[int], pad: int = 0) -> None:
        self._model = model
        self._eos = eos
        self._pad = pad
        self._cache_argument = argument(model)
        self._kept: OrderedDict[tuple[int, ...], Any] = OrderedDict()

    def run(self, rows: Sequence[Row]) -> list[list[int]]:
        """New tokens of each row, the ending one included; a row without one was cut at its `max_new`."""
        import torch

        out: list[list[int]] = []
        with torch.inference_mode():
            for part in fitting_parts(rows):
                out += self._part(part)
        return out

    def _part(self, rows: Sequence[Row]) -> list[list[int]]:
        out: list[list[int]] = [[] for _ in rows]
        lanes = [i for i, row in enumerate(rows) if row.max_new > 0]
        if not lanes:
            return out
        state = self._prefill([rows[i] for i in lanes])
        chooser = Chooser([rows[i] for i in lanes])
        open_rows = set(lanes)
        while True:
            tokens = chooser.choose(state.logits)
            for lane, token in zip(lanes, tokens.tolist(), strict=True):
                if lane in open_rows:
                    out[lane].append(token)
                    if token in self._eos or len(out[lane]) == rows[lane].max_new:
                        open_rows.discard(lane)
            if not open_rows:
                return out
            if len(open_rows) <= len(lanes) * (1 - DROP_SHARE):
                keep = [place for place, lane in enumerate(lanes) if lane in open_rows]
                lanes = [lanes[place] for place in keep]
                tokens = tokens[keep]
                state.keep(keep)
                chooser.keep(keep)
            self._forward(state, tokens[:, None])

    def _prefill(self, rows: Sequence[Row]) -> "_State":
        """Run the prompts: shared prefix once, then the rest of each, left-padded, a bounded piece at a time."""
        import torch

        shared = shared_prefix([row.tokens for row in rows])
        cache = self._prefix(rows[0].tokens[:shared], len(rows))
        if cache is None:
            shared, cache = 0, fresh(self._model)
        rest = [row.tokens[shared:] for row in rows]
        width = max(map(len, rest))
        ids = torch.full((len(rows), width), self._pad)
        mask = torch.ones((len(rows), shared + width + max(row.max_new for row in rows)), dtype=torch.long)
        for i, tokens in enumerate(rest):
            ids[i, width - len(tokens) :] = torch.tensor(tokens)
            mask[i, shared : shared + width - len(tokens)] = 0
        state = _State(cache, mask, shared)
        piece = max(1, PREFILL_TOKENS // len(rows))
        for start in range(0, width, piece):
            self._forward(state, ids[:, start : start + piece])
        return state

    def _prefix(self, tokens: tuple[int, ...], rows: int) -> Any | None:
        """The cache of `tokens` seen by `rows` rows; None where there is nothing to share."""
        import torch

        if not tokens:
            return None
        if tokens not in self._kept:
            state = _State(fresh(self._model), torch.ones((1, len(tokens)), dtype=torch.long), 0)
            for start in range(0, len(tokens), PREFILL_TOKENS):
                self._forward(state, torch.tensor([tokens[start : start + PREFILL_TOKENS]]))
            if not is_plain(state.cache):
                return None
            self._kept[tokens] = state.cache
        self._kept.move_to_end(tokens)
        many = expanded(self._kept[tokens], rows)
        while len(self._kept) > KEPT_PREFIXES or sum(map(len, self._kept)) > KEPT_TOKENS:
            self._kept.popitem(last=False)
        return many

    def _forward(self, state: "_State", ids: "torch.Tensor") -> None:
        end = state.length + ids.shape[1]
        mask = state.mask[:, :end]
        positions = (mask.cumsum(-1) - 1).clamp(min=0)[:, state.length :]
        result = self._model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=positions,
            use_cache=True,
            logits_to_keep=1,
            **{self._cache_argument: state.cache},
        )
        state.logits = result.logits[:, -1]
        state.length = end


class _State:
    """One batch under way: KV cache, which columns are real, and what the model said last."""

    def __init__(self, cache: Any, mask: "torch.Tensor", length: int) -> None:
        self.cache = cache
        self.mask = mask
        self.length = length
        self.logits: torch.Tensor

    def keep(self, places: list[int]) -> None:
        import torch

        self.cache.batch_select_indices(torch.tensor(places))
        self.mask = self.mask[places]


def shared_prefix(rows: Sequence[tuple[int, ...]]) -> int:
    """How many leading tokens all rows share, at least one left to each, cut to a multiple of PREFIX_STEP.

    >>> shared_prefix([(1,) * 40, (1,) * 36 + (2,)])
    32
    >>> shared_prefix([(1,) * 40])
    0
    """
    if len(rows) < 2:
        return 0
    # What the least and the greatest of sorted rows share, all between them share too.
    low, high = min(rows), max(rows)
    most = min(map(len, rows)) - 1
    same = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), most)
    return min(same, most) // PREFIX_STEP * PREFIX_STEP


def fitting_parts(rows: Sequence[Row]) -> list[Sequence[Row]]:
    """The batch in order, in parts that each fit KV_TOKENS; one part for all but very long prompts."""
    parts: list[Sequence[Row]] = []
    start = 0
    for end in range(1, len(rows) + 1):
        longest = max(len(row.tokens) + row.max_new for row in rows[start:end])
        if end - start > 1 and longest * (end - start) > KV_TOKENS:
            parts.append(rows[start : end - 1])
            start = end - 1
    return [*parts, rows[start:]]
