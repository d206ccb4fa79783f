"""A suite that cannot be passed, can be passed by doing nothing, or leaks between roles is found without a model."""

import random
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from evalctl import lookup
from evalctl.types import Completion, ExecResult, Limits, Message, Role, Sample, Sandbox, Score, ScorerSpec, Suite
from sandboxes import SANDBOXES
from scorers import SCORERS
from suites import load_suite, validate
from suites.checks import Problem, check_data, summarise
from suites.near import THRESHOLD, near_pairs, shingles, tokens
from tests.suites import folders


def right(sample: Sample) -> str:
    return str(sample.target)


def faults(_: Sample) -> list[str]:
    return ["no", "never", "not at all"]


def suite(*samples: Sample, **more: object) -> Suite:
    """A sound advisory suite of exact answers."""
    made = Suite("made", "1", samples, ScorerSpec("exact"), advisory=True, reference=right, wrong=faults)
    return replace(made, **more)  # type: ignore[arg-type]


def sample(number: int, **more: object) -> Sample:
    row = folders.row(number)
    one = Sample(str(row["id"]), str(row["input"]), str(row["target"]), "f", str(row["cluster"]))
    return replace(one, **more)  # type: ignore[arg-type]


def rules(made: Suite) -> list[str]:
    return [problem.rule for problem in validate.validate(made)]


def test_a_sound_suite_has_no_problem() -> None:
    assert validate.validate(suite(sample(1), sample(2))) == []


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"reference": lambda s: "something else"}, "reference"),
        ({"reference": lambda s: 1 / 0}, "reference"),
        ({"wrong": lambda s: ["no", "never", s.target]}, "wrong"),
        ({"wrong": lambda s: ["no", "never", "no"]}, "wrong"),
        ({"wrong": None}, "wrong"),
        ({"reference": None}, "unproved"),
    ],
)
def test_answers_that_do_not_score_what_they_must_are_found(change: Mapping[str, object], rule: str) -> None:
    assert rules(suite(sample(1), **change)) == [rule]


def test_a_suite_that_nothing_at_all_can_pass_is_broken() -> None:
    refusing = suite(sample(1, target=validate.NOTHING))
    assert rules(refusing) == ["nothing"]


@dataclass(frozen=True)
class Generous:
    """A scorer to which an empty answer is right, too."""

    def __call__(self, one: Sample, completion: Completion) -> Score:
        return Score(1.0 if completion.text in ("", one.target) else 0.0)


@pytest.fixture
def publish(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Put an object in a table for one test, as another package's entry point would."""

    def put(table: dict[str, Any], name: str, factory: object) -> None:
        monkeypatch.setitem(table, name, factory)
        lookup.table.cache_clear()

    yield put
    monkeypatch.undo()
    lookup.table.cache_clear()


def test_an_empty_answer_that_scores_is_found(publish: Callable[..., None]) -> None:
    publish(SCORERS, "generous", Generous)
    assert rules(suite(sample(1), scorer=ScorerSpec("generous"))) == ["empty"]


@pytest.mark.parametrize(
    ("samples", "rule", "text"),
    [
        ([sample(1), sample(2, id="s1")], "ids", "also sample 1"),
        ([sample(1), sample(1, id="s2")], "content", "same input, tools, files and target as 's1'"),
        ([sample(1, cluster="")], "clusters", "no cluster is set"),
        ([sample(1, family="")], "families", "no family is set"),
        ([sample(1), sample(2, cluster="c1", role=Role.POOL)], "leak", "cluster 'c1' is bench in 's1' and pool here"),
        ([sample(1, files={"../x": ""})], "files", "not a relative path"),
        (
            [
                sample(1, input="Pay 30 euros to the bank now."),
                sample(2, input="pay 7 euros, to the bank now", role=Role.POOL),
            ],
            "leak",
            "near-identical (100%) to 's1' in bench, and this is pool",
        ),
    ],
)
def test_faults_of_the_data_are_found(samples: list[Sample], rule: str, text: str) -> None:
    [problem] = check_data(suite(*samples))
    assert problem.rule == rule
    assert text in problem.text


def test_a_role_of_fewer_than_20_clusters_is_refused_unless_the_suite_is_advisory() -> None:
    few = suite(*(sample(i) for i in range(19)))
    assert list(check_data(few)) == []
    [problem] = check_data(replace(few, advisory=False))
    assert (problem.rule, problem.sample_id) == ("roles", None)
    assert "bench has 19 cluster(s), under 20" in problem.text
    assert list(check_data(replace(few, advisory=False, samples=(*few.samples, sample(20))))) == []


def test_many_samples_of_few_clusters_do_not_make_a_role() -> None:
    crowded = suite(*(sample(i, cluster=f"c{i % 5}") for i in range(100)), advisory=False)
    assert [problem.rule for problem in check_data(crowded)] == ["roles"]


def test_a_sample_that_stands_in_the_prompt_is_a_leak() -> None:
    shown = suite(sample(1), prefix=(Message("user", str(sample(1).input)), Message("assistant", "word 1")))
    assert [problem.rule for problem in check_data(shown)] == ["leak"]


def test_undeclared_clusters_are_a_problem_that_is_told_once(tmp_path: Path) -> None:
    rows = [{k: v for k, v in folders.row(i).items() if k != "cluster"} for i in range(25)]
    [problem] = validate.validate(load_suite(folders.from_rows(tmp_path / "s", rows)))
    assert problem.rule == "clusters"
    assert "25 sample(s) declare no `cluster`" in problem.text


def test_a_file_is_proved_by_its_targets_or_by_what_its_rows_say(tmp_path: Path) -> None:
    rows = [folders.row(i) for i in range(25)]
    rows[3] |= {"metadata": {"reference": "word 3", "wrong": ["a", "b", "c"]}}
    assert validate.validate(load_suite(folders.from_rows(tmp_path / "s", rows))) == []
    lonely = load_suite(folders.from_rows(tmp_path / "one", rows[:1], "advisory: true\n"))
    assert [p.rule for p in validate.validate(lonely)] == ["wrong"]


def test_a_target_that_is_not_text_is_answered_as_json(tmp_path: Path) -> None:
    tool = {"name": "go", "parameters": {"type": "object", "properties": {"to": {"type": "string"}}}}
    rows = [
        folders.row(i, target=[{"name": "go", "arguments": {"to": f"t{i}"}}], tools=[tool], role="replay")
        for i in range(20)
    ]
    assert validate.validate(load_suite(folders.from_rows(tmp_path / "s", rows, scorer="tool_calls"))) == []


def test_without_the_oracle_only_the_data_is_looked_at() -> None:
    assert validate.validate(suite(sample(1), reference=lambda s: "x"), oracle=False) == []


def test_all_problems_are_told_at_once_and_long_lists_are_cut_with_a_count() -> None:
    broken = suite(*(sample(i, cluster="", family="") for i in range(9)), reference=lambda s: "x")
    found = validate.validate(broken)
    assert {problem.rule for problem in found} == {"clusters", "families", "reference"}
    lines = summarise(found, most=2)
    assert len(lines) == 9
    assert "made: reference: and 7 more" in lines
    assert str(Problem("a", "ids", "b", "c")) == "a b: ids: c"


class Nowhere:
    """A backend that is not to be had."""

    name = "nowhere"

    def unavailable(self) -> str | None:
        return "nowhere is nowhere; install somewhere"


class Recorded:
    """A backend whose sandboxes remember what was run, and hold a file that a command may change."""

    name = "recorded"
    opened = 0

    def unavailable(self) -> str | None:
        return None

    @asynccontextmanager
    async def open(self, limits: Limits, files: Mapping[str, bytes]) -> AsyncIterator[Sandbox]:
        Recorded.opened += 1
        yield Box(dict(files))


@dataclass
class Box:
    files: dict[str, bytes]

    async def exec(self, argv: list[str], **_: object) -> ExecResult:
        self.files["done"] = argv[-1].encode()
        return ExecResult(0)

    async def read_file(self, path: str) -> bytes:
        return self.files.get(path, b"")

    async def write_file(self, path: str, data: bytes) -> None:
        self.files[path] = data


@dataclass(frozen=True)
class Done:
    """A sandbox scorer: right when the last command was the target."""

    async def in_sandbox(self, one: Sample, completion: Completion, sandbox: Sandbox) -> Score:
        return Score(float((await sandbox.read_file("done")).decode().strip() == one.target))


@pytest.fixture
def in_boxes(publish: Callable[..., None]) -> Callable[..., Suite]:
    publish(SANDBOXES, "nowhere", Nowhere)
    publish(SANDBOXES, "recorded", Recorded)
    publish(SCORERS, "done", Done)

    def make(**more: object) -> Suite:
        def said(command: str) -> str:
            return f"```sh\n{command}\n```"

        made = suite(
            sample(1, target="make it"), scorer=ScorerSpec("done"), sandbox="recorded", agent="shell", max_turns=2
        )
        answers: dict[str, object] = {
            "reference": lambda s: said(s.target),
            "wrong": lambda s: [said("true"), said("make that"), "make it"],
        }
        return replace(made, **(answers | more))  # type: ignore[arg-type]

    return make


def test_a_sandbox_suite_is_proved_in_its_sandbox_by_its_own_agent(in_boxes: Callable[..., Suite]) -> None:
    Recorded.opened = 0
    assert validate.validate(in_boxes()) == []
    assert Recorded.opened == 6, "each answer has a fresh sandbox"
    assert rules(in_boxes(reference=lambda s: "make it")) == ["reference"], "talking is not doing"


def test_without_the_sandbox_the_suite_is_unproved_with_the_reason(in_boxes: Callable[..., Suite]) -> None:
    [problem] = validate.validate(in_boxes(sandbox="nowhere"))
    assert problem.rule == "unproved"
    assert "install somewhere" in problem.text
    assert rules(in_boxes(sandbox=None)) == ["unproved"]


def test_near_texts_are_those_that_differ_in_numbers_case_or_few_words() -> None:
    long = "the quick brown fox jumps over the lazy dog and runs far away into the deep dark wood near the old mill"
    texts = [long, long.replace("mill", "house"), "2+3=", "3 + 2 =", "2+4=", "another sentence with other words"]
    groups = ["pool", "bench"] * 3
    assert [(a, b) for a, b, _ in near_pairs(texts, groups)] == [(0, 1), (2, 3)]
    assert list(near_pairs(texts, ["pool"] * 6)) == []
    assert tokens("€ !") == ("€ !",)


def test_near_pairs_finds_what_comparing_all_pairs_finds() -> None:
    draw = random.Random(1)
    texts = [" ".join(draw.choices("abc", k=draw.randint(4, 9))) for _ in range(300)]
    groups = [draw.choice(["pool", "bench"]) for _ in texts]
    sets = [shingles(tokens(text)) for text in texts]
    slow = {
        (i, j)
        for j in range(len(texts))
        for i in range(j)
        if groups[i] != groups[j] and len(sets[i] & sets[j]) / len(sets[i] | sets[j]) >= THRESHOLD
    }
    assert {(i, j) for i, j, _ in near_pairs(texts, groups)} == slow
    assert slow
