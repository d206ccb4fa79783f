"""One loop: what is run, what is recorded, what is retried, what a run key holds apart."""

import errno
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from evalctl.errors import EvidenceError, UsageError
from evalctl.inspect_adapter.evaluate import Bench, Pass, evaluate
from evalctl.models import checkpoint_for, load_model
from evalctl.runner import RunPlan, plan_run, run_suite
from evalctl.selection import select
from evalctl.store import Store
from evalctl.trials import Member
from evalctl.types import Role, Run, Sample, Sampling, SandboxBackend, ScorerSpec, Suite, Trial
from sandboxes.bwrap import Bwrap
from scorers.numeric import Numeric
from suites.agents import SingleTurn


@dataclass
class Silent:
    """A Watch that only remembers."""

    said: list[str] = field(default_factory=list)
    seen: list[Trial] = field(default_factory=list)

    def begin(self, label: str, total: int, done: int) -> None:
        self.said.append(f"{label} {done}/{total}")

    def advance(self, trial: Trial) -> None:
        self.seen.append(trial)

    def say(self, text: str) -> None:
        self.said.append(text)

    def end(self) -> None:
        self.said.append("end")


def sums(n: int = 40, role: Role = Role.BENCH) -> Suite:
    samples = tuple(
        Sample(f"s{i}", f"{i}+{i}=", str(2 * i), family="sum", cluster=f"c{i}", role=role) for i in range(n)
    )

    def wrong(sample: Sample) -> Sequence[str]:
        return (f"{sample.target}1", "0.5", "none")

    return Suite(
        "sums", "1", samples, ScorerSpec("numeric"), max_tokens=8, reference=lambda s: str(s.target), wrong=wrong
    )


def run(home: Path, suite: Suite, reference: str, watch: Silent | None = None, **options: object) -> Run:
    resume, back = bool(options.pop("resume", False)), bool(options.pop("back", False))
    plan = plan_of(suite, reference, **options)
    if back:  # the same service, which now answers
        plan = replace(plan, model=load_model(checkpoint_for("double:reference"), suite))
    return run_suite(plan, Store.open(home), watch or Silent(), resume=resume)


def plan_of(suite: Suite, reference: str, **options: object) -> RunPlan:
    checkpoint = checkpoint_for(reference)
    return plan_run(suite, checkpoint, load_model(checkpoint, suite), **options)  # type: ignore[arg-type]


def bench_of(suite: Suite, backend: SandboxBackend | None = None) -> Bench:
    checkpoint = checkpoint_for("double:reference")
    return Bench(
        suite=suite,
        checkpoint=checkpoint,
        model=load_model(checkpoint, suite),
        agent=SingleTurn(),
        scorer=Numeric(),
        backend=backend,
        sampling=Sampling(),
        seed=0,
    )


def test_every_expected_trial_is_recorded_once_with_its_own_place(tmp_path: Path) -> None:
    finished = run(tmp_path, sums(), "double:reference", epochs=2)
    assert finished.record.complete
    assert len(finished.trials) == 80
    assert set(finished.trials["score"]) == {1.0}
    assert not finished.trials.duplicated(["content_key", "variant", "epoch"]).any()
    assert list(finished.trials["sample_id"][:3]) == ["s0", "s1", "s2"]
    assert set(finished.trials["cluster"]) == {f"c{i}" for i in range(40)}


def test_every_transcript_reference_leads_to_its_sample_in_a_readable_log(tmp_path: Path) -> None:
    from inspect_ai.log import read_eval_log_sample

    finished = run(tmp_path, sums(), "double:reference", epochs=2)
    folder = tmp_path / "runs" / finished.record.key
    for row in finished.trials.itertuples():
        file, where = str(row.transcript).split("#", 1)
        name, epoch = where.rsplit("/", 1)
        if row.sample_id in ("s0", "s39"):
            logged = read_eval_log_sample(str(folder / file), id=name, epoch=int(epoch))
            assert logged.metadata["epoch"] == row.epoch
            assert logged.output.completion == row.answer
    assert {str(path.relative_to(folder)) for path in folder.glob("logs/*")} == set(
        finished.trials["transcript"].str.split("#").str[0]
    )


def test_a_run_that_is_there_is_not_repeated(tmp_path: Path) -> None:
    first = run(tmp_path, sums(), "double:reference")
    watch = Silent()
    again = run(tmp_path, sums(), "double:reference", watch)
    assert again.record.key == first.record.key
    assert watch.seen == []
    assert "already there" in watch.said[0]


def test_whatever_could_change_a_score_gives_another_run_key() -> None:
    suite = sums(4)
    checkpoint = checkpoint_for("double:reference")
    model = load_model(checkpoint, suite)

    def key(suite: Suite = suite, **options: object) -> str:
        return plan_run(suite, checkpoint, model, **options).record.key  # type: ignore[arg-type]

    other = checkpoint_for("double:empty")
    variants = {
        "same": key(),
        "seed": key(seed=1),
        "replicate": key(replicate=1),
        "epochs": key(epochs=2),
        "temperature": key(sampling=Sampling(1.0, 1.0, 8)),
        "max_tokens": key(sampling=Sampling(0.0, 1.0, 9)),
        "scorer options": key(replace(suite, scorer=ScorerSpec("numeric", {"tolerance": 0.1}))),
        "prompt": key(replace(suite, prefix=suite.samples[0].messages)),
        "limits": key(replace(suite, limits=replace(suite.limits, seconds=1.0))),
        "version": key(replace(suite, version="2")),
        "limit": key(select(suite, [Role.BENCH], limit=2)),
        "batch": plan_run(suite, checkpoint, load_model(checkpoint, suite, 2)).record.key,
        "weights": plan_run(suite, other, load_model(other, suite)).record.key,
    }
    assert len(set(variants.values())) == len(variants)
    assert key() == variants["same"]


def test_a_service_that_fails_once_is_asked_again_and_nothing_is_scored_zero_for_it(tmp_path: Path) -> None:
    finished = run(tmp_path, sums(), "double:flaky?share=0.2&failures=1")
    assert set(finished.trials["status"]) == {"ok"}
    assert set(finished.trials["score"]) == {1.0}


def test_a_service_that_stays_down_leaves_the_run_open_and_scores_nothing_zero(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match=r"40 of 40 trials ended in infrastructure errors .* --resume") as caught:
        run(tmp_path, sums(), "double:flaky?share=1&failures=99")
    assert caught.value.exit_status == 4
    store = Store.open(tmp_path)
    assert store.find() == []
    [key] = store.partials()
    with store.begin(plan_of(sums(), "double:flaky?share=1&failures=99").record) as writer:
        assert writer.record.key == key
        assert {(trial.status, trial.score) for trial in writer.trials} == {("infra_error", None)}
        assert all(trial.error and "told to" in trial.error for trial in writer.trials)


def test_a_service_that_comes_back_is_asked_on_resume_for_what_it_owes(tmp_path: Path) -> None:
    reference = "double:flaky?share=0.5&failures=4"  # one life asks three times; a double forgets between lives
    with pytest.raises(EvidenceError):
        run(tmp_path, sums(), reference)
    finished = run(tmp_path, sums(), "double:flaky?share=0.5&failures=4", resume=True, back=True)
    assert set(finished.trials["score"]) == {1.0}


def test_a_full_disk_stops_the_pass_at_once_and_is_what_the_caller_sees(tmp_path: Path) -> None:
    calls = []

    def full(member: Member, trial: Trial) -> None:
        calls.append(member)
        raise OSError(errno.ENOSPC, "No space left on device", "trials.jsonl")

    suite = sums(12)
    groups = [[Member(sample, 1)] for sample in suite.samples]
    with pytest.raises(OSError, match="No space left") as caught:
        evaluate(bench_of(suite), Pass("epoch-1-pass-1", groups, 2), tmp_path, full)
    assert caught.value.errno == errno.ENOSPC
    assert len(calls) <= 2


def test_a_limited_run_is_never_complete_and_keeps_the_whole_suites_digest(tmp_path: Path) -> None:
    suite = sums()
    finished = run(tmp_path, select(suite, [Role.BENCH], limit=5), "double:reference")
    assert not finished.record.complete
    assert finished.record.suite["digest"] == suite.digest
    assert len(finished.trials) == 5


def test_roles_that_a_plain_run_leaves_out_are_not_run() -> None:
    mixed = replace(sums(4), samples=(*sums(2).samples, replace(sums(3, Role.SEALED).samples[2], id="sealed")))
    assert [sample.id for sample in select(mixed).samples] == ["s0", "s1"]
    with pytest.raises(UsageError, match="no sample has a role of dev"):
        select(mixed, [Role.DEV])


def test_two_samples_with_one_content_key_are_refused_before_anything_runs() -> None:
    twice = replace(sums(2), samples=(sums(1).samples[0], replace(sums(1).samples[0], id="other")))
    checkpoint = checkpoint_for("double:empty")
    with pytest.raises(UsageError, match="content key"):
        plan_run(twice, checkpoint, load_model(checkpoint, twice))


def test_without_its_sandbox_a_sample_ends_as_an_infra_error_and_nothing_runs_unprotected(tmp_path: Path) -> None:
    suite = sums(4)
    groups = [[Member(sample, 1) for sample in suite.samples]]
    bench = bench_of(suite, Bwrap(binary=tmp_path / "no-such-bwrap"))
    kept: list[Trial] = []
    evaluate(bench, Pass("epoch-1-pass-1", groups, 4), tmp_path, lambda member, trial: kept.append(trial))
    assert [trial.status for trial in kept] == ["infra_error"] * 4
    assert all(trial.score is None and trial.error and "SandboxUnavailable" in trial.error for trial in kept)
