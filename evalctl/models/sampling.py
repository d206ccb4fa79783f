"""Which token comes next: the likeliest, or one drawn with the row's own seed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import torch


class Draw(Protocol):
    """How one row is drawn."""

    @property
    def max_new(self) -> int: ...
    @property
    def temperature(self) -> float: ...
    @property
    def top_p(self) -> float: ...
    @property
    def seed(self) -> int: ...


class Chooser:
    """Draws a batch's next tokens. Each row has its own generator, so no neighbour moves its draws."""

    def __init__(self, rows: Sequence[Draw]) -> None:
        import torch

        self._step = 0
        self._greedy = all(row.temperature <= 0 for row in rows)
        self._temperature = torch.tensor([max(row.temperature, 0.0) for row in rows])
        self._top_p = torch.tensor([row.top_p for row in rows])
        steps = max(row.max_new for row in rows)
        self._uniform = torch.zeros((len(rows), steps), dtype=torch.float64)
        for i, row in enumerate(rows):
            if row.temperature > 0:
                generator = torch.Generator().manual_seed(row.seed % 2**63)
                self._uniform[i, : row.max_new] = torch.rand(row.max_new, generator=generator, dtype=torch.float64)

    def choose(self, logits: "torch.Tensor") -> "torch.Tensor":
        """The next token of each row, `[rows]`, from logits `[rows, vocabulary]`."""
        import torch

        likeliest = logits.argmax(-1)
        if self._greedy:
            return likeliest
        uniform = self._uniform[:, self._step]
        self._step += 1
        sampled = self._temperature > 0
        heat = torch.where(sampled, self._temperature, 1.0)
        drawn = draw(logits.float() / heat[:, None], self._top_p, uniform)
        return torch.where(sampled, drawn, likeliest)

    def keep(self, places: list[int]) -> None:
        """Go on with the rows at `places` alone."""
        self._temperature = self._temperature[places]
        self._top_p = self._top_p[places]
        self._uniform = self._uniform[places]


def draw(logits: "torch.Tensor", top_p: "torch.Tensor", uniform: "torch.Tensor") -> "torch.Tensor":
    """Inverse-CDF draw from softmax(logits), each row within its nucleus (Holtzman et al. 2020, section 3.1).

    `logits` `[rows, vocabulary]`, `top_p` and `uniform` `[rows]`, the latter in [0, 1). One number a draw, so a
    row's whole future of draws is fixed by its seed before the first token.
    """
    import torch

    chance = torch.softmax(logits, -1)
    place = _place(chance, uniform)
    nucleus = top_p < 1
    if not bool(nucleus.any()):
        return place
    chance, order = chance.sort(dim=-1, descending=True, stable=True)
    before = chance.cumsum(-1) - chance
    before[:, 0] = -1.0
    cut = order.gather(-1, _place(torch.where(before < top_p[:, None], chance, 0.0), uniform)[:, None])[:, 0]
    # Row by row, so that whether a row is sorted does not depend on what its neighbours asked for.
    return torch.where(nucleus, cut, place)


def _place(chance: "torch.Tensor", uniform: "torch.Tensor") -> "torch.Tensor":
    import torch

    mass = chance.cumsum(-1, dtype=torch.float64)
    found = torch.searchsorted(mass, (uniform * mass[:, -1])[:, None], right=True)[:, 0]
    return found.clamp(max=chance.shape[-1] - 1)
