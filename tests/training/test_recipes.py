"""Recipes: every row is right, is nobody's measured sample, keeps its lineage, and no parent is starved."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from evalctl.errors import UsageError
from evalctl.lookup import find, table
from evalctl.types import Completion, Engine, Request, Sample, Score
from scorers.numeric import Numeric
from suites.load import generator_of, load_suite
from tests.training.sums import PREFIX, Sums, answering, parents, work
from training import RECIPES
from training.recipes import MOST_A_SIBLING, Parent, Workshop, allot, demonstration, rejection
from training.rows import KEPT, Row, read_rows, write_rows
from training.settings import Curation


def right(row: Row) -> bool:
    return Numeric()(row.sample, Completion(row.completion)).value == 1


def by_parent(rows: tuple[Row, ...]) -> Counter[str]:
    return Counter(name for row in rows for name in row.parents)


@dataclass
class Says:
    """A model that says what it is told, whatever it is asked; it keeps the batches."""

    texts: tuple[str, ...]
    stop_reason: str = "stop"
    batch_size: int = 4
    batches: list[list[Request]] = field(default_factory=list)

    @property
    def engine(self) -> Engine:
        return Engine("says", "1")

    def generate(self, batch: Sequence[Request]) -> list[Completion]:
        self.batches.append(list(batch))
        return [Completion(self._text(request), self.stop_reason) for request in batch]

    def _text(self, request: Request) -> str:
        total = sum(int(part) for part in request.messages[-1].content.rstrip("=").split("+"))
        return self.texts[request.seed % len(self.texts)].format(total=total)


@dataclass(frozen=True)
class Broken:
    """A scorer that cannot judge."""

    def __call__(self, sample: Sample, completion: Completion) -> Score:
        raise RuntimeError("no judge today")


def test_a_demonstration_is_right_on_a_sibling_and_keeps_its_lineage() -> None:
    made = demonstration(work(), parents(4))
    assert len(made.rows) == 12
    assert all(right(row) for row in made.rows)
    assert by_parent(made.rows) == Counter({f"s{i}": 3 for i in range(4)})
    measured = {sample.input for sample in work().suite.samples}
    for row in made.rows:
        assert row.prompt == (*PREFIX, *row.sample.messages)
        assert row.sample.input not in measured
        assert row.clusters == (row.parents[0].replace("s", "c"),)
        assert (row.suite, row.recipe, row.kind) == ("sums", "demonstration", "wrong")


def test_rows_come_back_from_their_file_as_they_were(tmp_path: Path) -> None:
    made = demonstration(work(), parents(4))
    write_rows(tmp_path / "rows.jsonl", made.rows)
    assert tuple(read_rows(tmp_path / "rows.jsonl")) == made.rows


@pytest.mark.parametrize("recipe", ["demonstration", "rejection"])
def test_the_same_seed_and_parents_give_the_same_rows(recipe: str) -> None:
    make = RECIPES[recipe]
    first, again, other = (
        make(replace(work(model=answering("double:noisy?accuracy=0.5", seed)), seed=seed), parents(6, 3))
        for seed in (0, 0, 1)
    )
    assert first == again
    assert {row.id for row in first.rows}.isdisjoint(row.id for row in other.rows)


@pytest.mark.parametrize("recipe", ["demonstration", "rejection"])
def test_kept_rows_are_their_share_of_all_rows(recipe: str) -> None:
    made = RECIPES[recipe](work(model=answering("double:reference"), kept=0.25), parents(8, 6))
    kinds = Counter(row.kind for row in made.rows)
    assert kinds["wrong"] == 24
    assert kinds[KEPT] == 8
    assert max(by_parent(tuple(row for row in made.rows if row.kind == KEPT)).values()) == 2


def test_a_single_pass_does_not_fill_the_file() -> None:
    made = demonstration(work(kept=0.5, siblings=2), parents(14, 1))
    assert Counter(row.kind for row in made.rows) == {"wrong": 28, KEPT: 8}


def test_without_a_failure_nothing_is_asked_for() -> None:
    made = demonstration(work(), parents(0, 8))
    assert (made.rows, dict(made.dropped)) == ((), {})


def test_the_most_rows_are_shared_in_turn_so_that_no_parent_and_no_family_starves() -> None:
    made = demonstration(work(most_rows=15, kept=0.2), parents(9, 3))
    kinds = Counter(row.kind for row in made.rows)
    assert kinds == {"wrong": 12, KEPT: 3}
    failed = by_parent(tuple(row for row in made.rows if row.kind != KEPT))
    assert set(failed.values()) == {1, 2}
    assert len(failed) == 9


def test_fewer_rows_than_parents_are_shared_among_families_first() -> None:
    shares = allot(parents(16), 3, 6, seed=0)
    assert Counter(parent.sample.family for parent, _ in shares) == {"even": 2, "odd": 2, "rare": 2}
    assert allot(parents(16)[::-1], 3, 6, seed=0) == shares


def test_a_reference_that_does_not_verify_is_dropped_and_counted() -> None:
    made = demonstration(work(Sums(lies=True)), parents(4))
    assert (made.rows, dict(made.dropped)) == ((), {"unverified": 12})


def test_a_generator_that_raises_is_counted_by_what_it_raised_and_ends_nothing() -> None:
    assert dict(demonstration(work(Sums(barren=True)), parents(4)).dropped) == {"no sibling (ValueError)": 12}
    assert dict(demonstration(work(Sums(mute=True)), parents(4)).dropped) == {"no reference (KeyError)": 12}


def test_siblings_that_are_not_there_are_counted() -> None:
    made = demonstration(work(Sums(most=1)), parents(4))
    assert (len(made.rows), dict(made.dropped)) == (4, {"no sibling": 8})


def test_a_sibling_in_a_measured_cluster_is_never_trained_on() -> None:
    drawn = Sums().siblings(work().suite.samples[0], 0, 1)[0]
    bench = work()
    measured = replace(bench, suite=replace(bench.suite, samples=(*bench.suite.samples, drawn)))
    made = demonstration(measured, parents(1))
    assert (len(made.rows), dict(made.dropped)) == (2, {"measured": 1})


@pytest.mark.parametrize("recipe", ["demonstration", "rejection"])
def test_a_verifier_error_is_dropped_and_counted_never_a_wrong_answer(recipe: str) -> None:
    made = RECIPES[recipe](replace(work(model=answering("double:reference")), scorer=Broken()), parents(2))
    assert made.rows == ()
    assert made.dropped["verifier_error"] == (6 if recipe == "demonstration" else 24)
    assert "unverified" not in made.dropped


def test_a_repeated_row_stands_once_with_the_lineage_of_all_who_asked_for_it() -> None:
    made = demonstration(work(Sums(everyones=True)), parents(2))
    assert dict(made.dropped) == {"duplicate": 3}
    assert [set(row.parents) for row in made.rows] == [{"s0", "s1"}] * 3
    assert [set(row.clusters) for row in made.rows] == [{"c0", "c1"}] * 3


def test_rejection_keeps_only_right_answers_of_the_model() -> None:
    made = rejection(work(model=answering("double:noisy?accuracy=0.4")), parents(8))
    assert made.rows
    assert all(right(row) for row in made.rows)
    assert made.dropped["no right answer"] == 24 - len({row.sample.id for row in made.rows})


def test_rejection_keeps_two_distinct_answers_of_a_sibling_and_firsts_before_seconds() -> None:
    model = Says(("{total}", "It is {total}.", " {total} ", "= {total}"))
    made = rejection(work(model=model, attempts=16, siblings=3), parents(2))
    assert by_parent(made.rows) == Counter({"s0": 3, "s1": 3})
    assert len({row.sample.id for row in made.rows}) == 6
    barren = rejection(replace(work(Sums(most=1), model, attempts=16)), parents(1))
    assert len(barren.rows) == MOST_A_SIBLING
    assert len({" ".join(row.completion.split()) for row in barren.rows}) == MOST_A_SIBLING


def test_rejection_asks_in_batches_with_the_suites_prompt_and_cap_and_a_seed_for_each_attempt() -> None:
    model = Says(("{total}",))
    rejection(work(model=model), parents(2))
    asked = [request for batch in model.batches for request in batch]
    assert [len(batch) for batch in model.batches] == [4] * 6
    assert len({request.seed for request in asked}) == 24
    assert {request.sampling.temperature for request in asked} == {Curation().temperature}
    assert {(request.sampling.max_tokens, request.sampling.top_p) for request in asked} == {(8, 1.0)}
    assert all(request.messages[:-1] == PREFIX for request in asked)


def test_a_base_that_is_never_right_gives_no_row_and_says_why() -> None:
    made = rejection(work(model=answering("double:wrong")), parents(4))
    assert (made.rows, dict(made.dropped)) == ((), {"no right answer": 12})


def test_an_answer_that_the_cap_cut_off_is_not_learned() -> None:
    made = rejection(work(model=Says(("{total}",), "length")), parents(1))
    assert (made.rows, dict(made.dropped)) == ((), {"no right answer": 3})


def test_rejection_without_a_model_here_is_refused_with_the_way_out() -> None:
    with pytest.raises(UsageError, match="--recipe demonstration"):
        rejection(work(), parents(1))


@pytest.mark.parametrize(("change", "named"), [({"sandbox": "bwrap"}, "bwrap"), ({"agent": "shell"}, "shell")])
def test_a_suite_of_more_than_one_prompt_and_answer_is_refused_by_name(change: dict[str, str], named: str) -> None:
    bench = work()
    with pytest.raises(UsageError, match=f"suite sums cannot be trained for: .*{named}"):
        demonstration(replace(bench, suite=replace(bench.suite, **change)), parents(1))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["tooluse", "arithmetic"])
def test_the_shipped_suites_give_verified_rows_for_every_pool_sample(name: str) -> None:
    suite = load_suite(name, samples=110)
    scorer = find("scorers", suite.scorer.name)(**suite.scorer.options)
    bench = Workshop(suite, generator_of(name), scorer, None, 0, Curation(siblings=2))
    pool = [Parent(sample, "wrong") for sample in suite.samples if sample.role == "pool"]
    made = demonstration(bench, pool)
    assert len(made.rows) + made.dropped.get("duplicate", 0) == 2 * len(pool)
    assert set(by_parent(made.rows)) == {parent.sample.id for parent in pool}
    assert set(made.dropped) <= {"duplicate"}


def test_the_recipes_are_found_by_name_where_the_package_is_installed() -> None:
    assert set(RECIPES) == {"demonstration", "rejection"}
    assert set(table("recipes")) >= set(RECIPES)
