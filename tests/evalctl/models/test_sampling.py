"""Draws follow the probabilities they are drawn from, within the nucleus, each row for itself."""

import pytest

pytestmark = pytest.mark.model
torch = pytest.importorskip("torch", reason="needs the extra `local`")

from evalctl.models.sampling import draw  # noqa: E402 - torch first, or skip

CHANCES = torch.tensor([0.1, 0.4, 0.3, 0.2])


def places(top_p: float, n: int = 2000) -> list[float]:
    """How often each token is drawn, the uniforms spread evenly over [0, 1)."""
    logits = CHANCES.log().expand(n, 4)
    uniform = (torch.arange(n, dtype=torch.float64) + 0.5) / n
    drawn = draw(logits, torch.full((n,), top_p), uniform)
    return [round(float((drawn == token).double().mean()), 3) for token in range(4)]


def test_tokens_come_as_often_as_they_are_likely() -> None:
    assert places(1.0) == pytest.approx([0.1, 0.4, 0.3, 0.2], abs=0.002)


def test_a_nucleus_holds_the_fewest_tokens_that_reach_its_mass() -> None:
    assert places(0.6) == pytest.approx([0.0, 4 / 7, 3 / 7, 0.0], abs=0.002)
    assert places(0.0) == [0.0, 1.0, 0.0, 0.0]


def test_a_neighbour_with_a_nucleus_moves_no_draw() -> None:
    logits = torch.randn(2, 50, generator=torch.Generator().manual_seed(0))
    for u in torch.linspace(0, 0.99, 20, dtype=torch.float64):
        alone = draw(logits[:1], torch.tensor([1.0]), u[None])
        beside = draw(logits, torch.tensor([1.0, 0.5]), u.expand(2))
        assert alone[0] == beside[0]


def test_an_impossible_token_is_never_drawn() -> None:
    logits = torch.tensor([[float("-inf"), 0.0, float("-inf")]])
    for u in (0.0, 0.5, 1 - 2**-53):
        assert draw(logits, torch.tensor([1.0]), torch.tensor([u], dtype=torch.float64)).item() == 1
