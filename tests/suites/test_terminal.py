"""`terminal`: each task is solved by its solution, and by nothing less."""

from dataclasses import replace

import pytest

from evalctl.types import Role, Suite
from sandboxes import SANDBOXES
from suites import load_suite
from suites.checks import check_data
from suites.terminal.generate import FAMILIES, siblings
from suites.validate import validate

here = pytest.mark.skipif(SANDBOXES["bwrap"]().unavailable() is not None, reason="no bwrap sandbox here")


def part(*ids: str) -> Suite:
    suite = load_suite("terminal")
    chosen = tuple(sample for sample in suite.samples if sample.id in ids)
    assert len(chosen) == len(ids)
    return replace(suite, samples=chosen, advisory=True)


def test_three_families_of_eight_tasks_all_bench_and_not_to_be_trained_on() -> None:
    suite = load_suite("terminal")
    assert {family: len(tasks) for family, tasks in FAMILIES.items()} == {"report": 8, "filter": 8, "repair": 8}
    assert len({sample.cluster for sample in suite.samples}) == 24
    assert {sample.role for sample in suite.samples} == {Role.BENCH}
    with pytest.raises(ValueError, match="is bench"):
        siblings(suite.samples[0], 0, 1)


@pytest.mark.parametrize("seed", range(4))
def test_more_samples_are_other_data_for_the_same_tasks(seed: int) -> None:
    suite = load_suite("terminal", samples=120, seed=seed)
    assert list(check_data(suite)) == []
    assert len({sample.cluster for sample in suite.samples}) == 24


def test_nothing_the_model_sees_tells_the_hidden_tests() -> None:
    for sample in load_suite("terminal").samples:
        seen = "\n".join([str(sample.input), *sample.files, *sample.files.values()])
        assert "test_" not in seen
        assert sample.metadata["solution"] not in seen


def test_the_solution_fits_the_answer_cap() -> None:
    """About three characters a token, and the fence around it."""
    suite = load_suite("terminal")
    assert max(len(sample.metadata["solution"]) for sample in suite.samples) < 3 * suite.max_tokens


@here
@pytest.mark.sandbox
def test_one_task_of_each_family_is_proved_in_the_sandbox() -> None:
    assert validate(part("report/errors#0", "filter/ranking#0", "repair/clamp#0")) == []


@here
@pytest.mark.sandbox
@pytest.mark.parametrize("sample_id", ["report/port#0", "filter/backwards#0", "repair/mean#0"])
def test_the_proof_sees_a_solution_that_is_none(sample_id: str) -> None:
    suite = part(sample_id)
    [sample] = suite.samples
    idle = replace(sample, metadata={**sample.metadata, "solution": "true"})
    assert [p.rule for p in validate(replace(suite, samples=(idle,)))] == ["reference"]
    lax = replace(sample, metadata={**sample.metadata, "faults": [sample.metadata["solution"], "true", "false"]})
    assert [p.rule for p in validate(replace(suite, samples=(lax,)))] == ["wrong"]


@here
@pytest.mark.sandbox
@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_every_task_is_solved_by_its_solution_and_by_no_fault_or_constant(seed: int) -> None:
    assert validate(load_suite("terminal", seed=seed)) == []
