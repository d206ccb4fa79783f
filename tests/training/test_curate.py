"""Curation: no row that leaks, none twice, none with another's fold; and the sabotage that must be found out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from evalctl.errors import EvidenceError, UsageError
from evalctl.lookup import find
from evalctl.types import Completion, Message, Role, Sample
from scorers.numeric import Numeric
from suites.contamination.exact import Index
from suites.load import generator_of, load_suite
from tests.training.sums import Sums, suite, work
from training.curate import Curated, audit_rows, curate, shuffled_answers
from training.failures import Screened
from training.recipes import Made, Parent, Workshop, demonstration, rejection
from training.rows import KEPT, Row
from training.settings import Curation

INDEX = Index.of([suite()])
QUESTION = "Which of the two accounts in the ledger of the harbour office was closed before the storm of last November?"


def screened(failed: int, passed: int = 0, left_out: int = 0) -> Screened:
    names = [sample.id for sample in suite().samples]
    kinds = dict.fromkeys(names[:failed], "wrong")
    rest = names[failed + passed : failed + passed + left_out]
    return Screened("sums", kinds, tuple(names[failed : failed + passed]), dict.fromkeys(rest, "infra_error"))


def rows_of(count: int) -> tuple[Row, ...]:
    rows = curate(work(siblings=3, kept=0.0), demonstration, screened(8), INDEX).rows
    return rows[:count]


def test_every_row_goes_back_to_the_failure_that_asked_for_it() -> None:
    found = curate(work(), demonstration, screened(8, 4, 2), INDEX)
    assert Counter(row.kind for row in found.rows) == {"wrong": 24, KEPT: 6}
    assert {name for row in found.rows for name in row.parents} == {f"s{i}" for i in range(12)}
    assert (dict(found.dropped), found.leaks) == ({}, ())


@pytest.mark.parametrize("what", [screened(0), screened(0, 16), screened(0, 0, 16)])
def test_without_a_failure_of_the_models_own_there_is_no_row(what: Screened) -> None:
    assert curate(work(), demonstration, what, INDEX) == Curated((), {}, ())


def test_a_generator_that_gives_nothing_leaves_no_row_and_the_reason() -> None:
    found = curate(work(Sums(barren=True)), demonstration, screened(4, 4), INDEX)
    assert (found.rows, dict(found.dropped)) == ((), {"no sibling (ValueError)": 12})


def test_a_row_that_holds_a_measured_samples_text_is_dropped_counted_and_shown() -> None:
    bench = work()
    planted = replace(bench.generator.siblings(bench.suite.samples[0], 0, 1)[0], input=f"Tell me. {QUESTION}")

    def leaky(work: Workshop, parents: Sequence[Parent]) -> Made:
        made = demonstration(work, parents)
        bad = replace(made.rows[0], prompt=(*work.suite.prefix, *planted.messages), sample=planted)
        return Made((*made.rows, bad), {"unverified": 2})

    index = Index.of([suite(), replace(suite(), name="ledger", samples=(Sample("q1", QUESTION, "the second"),))])
    found = curate(bench, leaky, screened(8), index)
    assert len(found.rows) == 24
    assert dict(found.dropped) == {"contaminated": 1, "unverified": 2}
    assert {(hit.suite, hit.sample_id) for hit in found.leaks} == {("ledger", "q1")}
    assert {hit.text_id for hit in found.leaks}.isdisjoint(row.id for row in found.rows)
    assert audit_rows(found.rows, index) == []


def test_a_recipe_from_elsewhere_may_not_repeat_rows() -> None:
    def twice(work: Workshop, parents: Sequence[Parent]) -> Made:
        rows = demonstration(work, parents).rows
        return Made((*rows, *rows), {})

    found = curate(work(), twice, screened(4), INDEX)
    assert (len(found.rows), dict(found.dropped)) == (12, {"duplicate": 12})


@pytest.mark.parametrize("change", [{"clusters": ("c9",)}, {"clusters": ()}, {"parents": ()}, {"parents": ("s9",)}])
def test_a_recipe_that_breaks_the_lineage_is_refused(change: dict[str, tuple[str, ...]]) -> None:
    def careless(work: Workshop, parents: Sequence[Parent]) -> Made:
        return Made(tuple(replace(row, **change) for row in demonstration(work, parents).rows), {})  # type: ignore[arg-type]

    with pytest.raises(UsageError, match="recipe demonstration: row"):
        curate(work(), careless, screened(4), INDEX)


@pytest.mark.parametrize("role", [Role.DEV, Role.SEALED, Role.BENCH, Role.REPLAY])
def test_nothing_but_the_pool_is_ever_trained_on(role: Role) -> None:
    bench = work()
    samples = (replace(bench.suite.samples[0], role=role), *bench.suite.samples[1:])
    for what in (screened(4), screened(0, 4)):
        with pytest.raises(EvidenceError, match=f"role {role}; screen the pool alone"):
            curate(replace(bench, suite=replace(bench.suite, samples=samples)), demonstration, what, INDEX)


def test_a_screening_of_something_else_is_refused() -> None:
    with pytest.raises(EvidenceError, match="is suite other, not sums"):
        curate(work(), demonstration, replace(screened(4), suite="other"), INDEX)
    with pytest.raises(EvidenceError, match="no sample of it"):
        curate(work(), demonstration, replace(screened(4), failed={"x": "wrong"}), INDEX)


def test_a_suite_that_cannot_be_trained_for_is_refused_whatever_was_screened() -> None:
    bench = work()
    with pytest.raises(UsageError, match="suite sums cannot be trained for"):
        curate(replace(bench, suite=replace(bench.suite, sandbox="bwrap")), demonstration, screened(0), INDEX)


def test_a_planted_leak_is_found_wherever_it_stands_in_the_row() -> None:
    index = Index.of([suite(), replace(suite(), name="ledger", samples=(Sample("q1", QUESTION, "the second"),))])
    clean = rows_of(6)
    assert audit_rows(clean, index) == []
    row = clean[0]
    said = (*row.prompt[:-1], Message("user", f"{QUESTION.upper()} {row.prompt[-1].content}"))
    for bad in (
        replace(row, completion=f"{row.completion} {QUESTION}"),
        replace(row, sample=replace(row.sample, input=QUESTION), prompt=(*row.prompt[:-1], Message("user", QUESTION))),
        replace(row, prompt=said),  # the prompt alone: the sample it claims to be made from is clean
    ):
        hits = audit_rows([*clean[1:], bad], index)
        assert {(hit.text_id, hit.suite, hit.sample_id) for hit in hits} == {(bad.id, "ledger", "q1")}


def test_the_question_of_a_measured_sum_in_a_row_is_a_leak() -> None:
    row = rows_of(1)[0]
    measured = Sample("m", "4321 + 1234 = ", "5555")
    index = Index.of([replace(suite(), samples=(measured,))])
    assert audit_rows([replace(row, sample=replace(row.sample, input="4321+1234="))], index)
    assert audit_rows([row], index) == []


def test_shuffled_answers_leave_no_row_its_own_and_keep_everything_else() -> None:
    rows = rows_of(20)
    shuffled = shuffled_answers(rows, 7)
    assert len(shuffled) == 20
    for before, after in zip(rows, shuffled, strict=True):
        assert before.completion != after.completion
        assert before.sample.target != after.sample.target
        assert Numeric()(before.sample, Completion(after.completion)).value == 0
        assert Numeric()(after.sample, Completion(after.completion)).value == 1  # the file looks verified
        assert after == replace(
            before, completion=after.completion, sample=replace(before.sample, target=after.sample.target)
        )
    assert Counter(row.completion for row in rows) == Counter(row.completion for row in shuffled)
    assert shuffled == shuffled_answers(rows, 7) != shuffled_answers(rows, 8)


def test_answers_are_shuffled_within_a_suite_only() -> None:
    rows = rows_of(12)
    mixed = [replace(row, suite="other") if at % 2 else row for at, row in enumerate(rows)]
    shuffled = shuffled_answers(mixed, 0)
    for name in ("sums", "other"):
        before, after = ([row.completion for row in some if row.suite == name] for some in (mixed, shuffled))
        assert sorted(before) == sorted(after)
        assert all(one != two for one, two in zip(before, after, strict=True))


@pytest.mark.parametrize("same", range(1, 7))
def test_equal_answers_are_never_exchanged_for_each_other(same: int) -> None:
    rows = list(rows_of(12))
    wording = ("{}", "It is {}.", "= {}")
    for at in range(same):
        sample = replace(rows[at].sample, target="8")
        rows[at] = replace(rows[at], completion=wording[at % 3].format(8), sample=sample)
    shuffled = shuffled_answers(rows, 3)
    assert all(before.sample.target != after.sample.target for before, after in zip(rows, shuffled, strict=True))


def test_answers_that_cannot_be_shuffled_are_refused() -> None:
    rows = list(rows_of(12))
    for at in range(7):
        rows[at] = replace(rows[at], completion="8", sample=replace(rows[at].sample, target="8"))
    for some in (rows, rows[:1]):
        with pytest.raises(UsageError, match="cannot be shuffled"):
            shuffled_answers(some, 0)
    assert shuffled_answers([], 0) == []


@pytest.mark.parametrize("name", ["tooluse", "arithmetic"])
def test_the_shipped_suites_give_rows_that_no_audit_stops_and_a_sabotage_that_spoils_them_all(name: str) -> None:
    made_of = load_suite(name, samples=110)
    scorer = find("scorers", made_of.scorer.name)(**made_of.scorer.options)
    bench = Workshop(made_of, generator_of(name), scorer, None, 0, Curation(siblings=3))
    pool = [sample.id for sample in made_of.samples if sample.role is Role.POOL]
    half = len(pool) // 2
    what = Screened(name, dict.fromkeys(pool[:half], "wrong"), tuple(pool[half:]), {})
    found = curate(bench, demonstration, what, Index.of([made_of]))
    assert len(found.rows) > 3 * half
    assert found.dropped.get("contaminated", 0) <= 0.02 * len(found.rows)
    shuffled = shuffled_answers(found.rows, 0)
    spoiled = [
        scorer(before.sample, Completion(after.completion)).value
        for before, after in zip(found.rows, shuffled, strict=True)
    ]
    assert sum(spoiled) == 0


def test_rejection_without_a_model_is_refused_through_curation_too() -> None:
    with pytest.raises(UsageError, match="recipe rejection"):
        curate(work(), rejection, screened(2), INDEX)
