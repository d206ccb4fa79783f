"""Training rows of real suites, for tests of the stages."""

from suites import load_suite
from suites.load import generator_of
from training.rows import Row


def sums(n: int, kind: str = "wrong") -> list[Row]:
    """`n` demonstrations of sums, as the recipe makes them."""
    suite, generator = load_suite("arithmetic", samples=110), generator_of("arithmetic")
    pool = [sample for sample in suite.samples if sample.role == "pool"]
    made = [sibling for sample in pool for sibling in generator.siblings(sample, 0, 1 + n // len(pool))][:n]
    return [
        Row(
            suite.name,
            (*suite.prefix, *one.messages),
            generator.reference(one),
            one,
            (one.id,),
            (one.cluster,),
            "demonstration",
            kind,
        )
        for one in made
    ]
