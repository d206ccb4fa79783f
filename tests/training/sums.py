"""A small suite of sums with a generator that can be told to misbehave, and what recipes need around it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from evalctl.digests import unit_interval
from evalctl.models import checkpoint_for, load_model
from evalctl.types import Message, Model, Role, Sample, ScorerSpec, Suite
from scorers.numeric import Numeric
from training.recipes import Parent, Workshop
from training.rows import KEPT
from training.settings import Curation

PREFIX = (Message("system", "Work out the sum."), Message("user", "2+3="), Message("assistant", "5"))


@dataclass(frozen=True)
class Sums:
    """Samples `i+i=`; siblings have four-digit numbers. Three families, the first with half of the samples."""

    lies: bool = False
    """References do not solve their samples."""
    mute: bool = False
    """No references."""
    barren: bool = False
    """Siblings cannot be drawn."""
    most: int = 1000
    """Siblings that a sample has."""
    everyones: bool = False
    """Every sample has the same siblings."""

    def generate(self, seed: int, n: int) -> Iterator[Sample]:
        for i in range(n):
            family = ("even", "odd", "even", "rare")[i % 4]
            yield Sample(f"s{i}", f"{i}+{i}=", str(2 * i), family, f"c{i}", role=Role.POOL, pair_id=f"s{i}")

    def siblings(self, sample: Sample, seed: int, n: int) -> Sequence[Sample]:
        if self.barren:
            raise ValueError(f"{sample.id} has no siblings")
        found = []
        for place in range(min(n, self.most)):
            key = [str(seed), "" if self.everyones else sample.id, str(place)]
            a, b = (1000 + int(9000 * unit_interval(*key, part)) for part in "ab")
            found.append(Sample(f"{a}+{b}", f"{a}+{b}=", str(a + b), sample.family, f"{a}+{b}", role=Role.POOL))
        return found

    def reference(self, sample: Sample) -> str:
        if self.mute:
            raise KeyError(sample.id)
        return f"{sample.target}0" if self.lies else str(sample.target)

    def wrong(self, sample: Sample) -> Sequence[str]:
        return (f"{sample.target}1", "0.5", "none")


def suite(n: int = 16) -> Suite:
    samples = tuple(Sums().generate(0, n))
    more = {"reference": Sums().reference, "wrong": Sums().wrong}
    return Suite("sums", "1", samples, ScorerSpec("numeric"), max_tokens=8, prefix=PREFIX, **more)  # type: ignore[arg-type]


def work(generator: Sums | None = None, model: Model | None = None, **curation: float) -> Workshop:
    """A workshop of the suite; `curation` overrides three siblings, a fifth kept."""
    settings = Curation(**({"siblings": 3, "kept": 0.2, "attempts": 4} | curation))  # type: ignore[arg-type]
    return Workshop(suite(), generator or Sums(), Numeric(), model, 0, settings)


def parents(failed: int, kept: int = 0, kind: str = "wrong") -> list[Parent]:
    """The first samples failed, those after them passed."""
    return [Parent(s, kind if at < failed else KEPT) for at, s in enumerate(suite().samples[: failed + kept])]


def answering(reference: str, seed: int = 0) -> Model:
    """A double that knows the siblings of every sample, as a real model would read their text."""
    own = suite()
    known = {s.id: s for sample in own.samples for s in Sums().siblings(sample, seed, 50)}
    model = load_model(checkpoint_for(reference), replace(own, samples=tuple(known.values())), 5)
    assert model is not None
    return model
