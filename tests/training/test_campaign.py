"""The campaign: what it decides, what it refuses, and that a kill anywhere changes nothing."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from evalctl.errors import EvidenceError, ResourceError, UsageError
from evalctl.ledger import Ledger
from evalctl.models import checkpoint_for
from evalctl.policy import parse_policy
from evalctl.store import Store
from evalctl.types import Json, Role
from suites import load_suite
from tests.training.records import records
from tests.training.simulated import Killed, Quiet, Simulated
from training.campaign import Wanted, train_on_failures
from training.crossfit import learns
from training.evidence import pairs, pool_pairs
from training.gains import gain
from training.preflight import prove
from training.promote import Released, release_conditions
from training.replay import recompute, replay
from training.rows import read_rows, write_rows

pytestmark = pytest.mark.slow

POLICY = """
version: 1
defaults: {max_drop: 0.10, roles: [bench, replay]}
suites: {arithmetic: {}}
groups: {sums: [arithmetic]}
require_groups: 1
sealed: {looks: 5}
drift: {max_kl: 1.0}
"""


SAMPLES = 220


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a campaign that promoted."""
    home = tmp_path_factory.mktemp("finished")
    run(home, Simulated())
    return home


def record_of(home: Path) -> dict[str, Json]:
    [told] = records(home)
    return told


def wanted(reference: str = "double:noisy?accuracy=0.5&seed=1", **changes: object) -> Wanted:
    made = Wanted(
        checkpoint=checkpoint_for(reference, "base"),
        suites=("arithmetic",),
        policy=parse_policy(POLICY),
        sizes={"arithmetic": SAMPLES},
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def run(home: Path, stages: Simulated, want: Wanted | None = None, **how: object) -> dict[str, Json]:
    watch = how.pop("watch", None) or Quiet()
    return train_on_failures(want or wanted(), Store(home), watch, stages=stages, **how)  # type: ignore[arg-type]


def lasting(record: dict[str, Json]) -> dict[str, Json]:
    """What must not depend on when and where it ran."""
    return {key: value for key, value in record.items() if key not in ("created", "seconds")}


def failing(record: dict[str, Json]) -> list[str]:
    return [one["name"] for one in record["conditions"] if not one["held"]]


def test_a_real_gain_is_promoted_with_every_condition_held(finished: Path) -> None:
    record = record_of(finished)
    assert (record["status"], record["exit"], failing(record)) == ("promoted", 0, [])
    assert [one["name"] for one in record["conditions"]] == [
        "cross-fit gain", "no fold worse", "sealed gain", "groups agree", "suites non-inferior",
        "replay non-inferior", "drift within limit", "audit clean", "invalid trials",
    ]  # fmt: skip
    assert (finished / "checkpoints" / record["candidate"]["name"] / "promotion.json").is_file()
    assert record["crossfit"]["low"] > 0
    assert len(record["crossfit"]["folds"]) == 3


def test_training_that_changes_nothing_is_refused_by_its_measured_gain_and_spends_no_look(tmp_path: Path) -> None:
    record = run(tmp_path, Simulated(sft_accuracy=0.5, rlvr_accuracy=0.5))
    assert (record["status"], record["exit"]) == ("refused", 1)
    assert failing(record)[0] == "cross-fit gain"
    assert record["reason"].startswith("cross-fit gain: ")
    assert Ledger(tmp_path).entries() == []
    path = tmp_path / "campaigns" / record["id"] / "record.json"
    path.write_text(path.read_text().replace('"refused"', '"promoted"'))
    with pytest.raises(EvidenceError, match="its chain does not match"):
        replay(Store(tmp_path), record["id"])


def test_a_released_checkpoint_that_is_worse_than_its_folds_promised_is_refused(tmp_path: Path) -> None:
    stages = Simulated(fold_accuracy=0.9, sft_accuracy=0.5, rlvr_accuracy=0.5)
    record = run(tmp_path, stages)
    assert record["status"] == "refused"
    assert failing(record)[0] == "sealed gain"
    assert "rlvr" in record["skipped"]
    assert "final-rlvr" not in stages.trained


def test_drift_past_the_limit_refuses_a_gain(tmp_path: Path) -> None:
    record = run(tmp_path, Simulated(kl=0.6))
    assert (record["exit"], failing(record)) == (1, ["drift within limit"])


def test_a_policy_that_does_not_name_what_is_trained_judges_it_by_its_defaults(finished: Path) -> None:
    told = record_of(finished)
    pair = pool_pairs(
        Store(finished / "campaigns" / told["id"]), told["runs"]["baseline"]["pool"], told["runs"]["folds"]
    )
    other = parse_policy("version: 1\nsuites: {elsewhere: {}}\n")
    assert gain(other, pair, Role.POOL).resolved


def test_replay_of_an_advisory_suite_guards_nothing(finished: Path) -> None:
    told = record_of(finished)
    runs = told["runs"]
    policy = parse_policy("version: 1\nsuites: {other: {}, arithmetic: {tier: advisory}}\n")
    held = Released({}, {}, pairs(Store(finished), runs["baseline"]["open"], runs["candidate"]["open"]), None, 0)
    found = {one.name: one for one in release_conditions(policy, held)[0]}
    assert found["replay non-inferior"].held is False
    assert "nothing guards" in found["replay non-inferior"].text


def test_samples_beyond_the_audit_are_not_called_clean(finished: Path) -> None:
    told = record_of(finished)
    runs = told["runs"]
    open_pairs = pairs(Store(finished), runs["baseline"]["open"], runs["candidate"]["open"])
    held = Released({}, {}, open_pairs, None, 0, unauditable=0.5)
    [audit] = [one for one in release_conditions(parse_policy(POLICY), held)[0] if one.name == "audit clean"]
    assert audit.held is False
    assert "50.0% of the measured samples are beyond this audit" in audit.text


def test_a_record_changed_by_hand_is_not_believed_by_the_command_that_made_it(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "home")
    [path] = (tmp_path / "home").glob("campaigns/*/record.json")
    path.write_text(path.read_text().replace('"exit": 0', '"exit": 1', 1))
    with pytest.raises(EvidenceError, match="changed after it was written"):
        run(tmp_path / "home", Simulated())


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("anchor: {baseline: 'baseline:x', max_total_drop: 0.2}", "names an anchor"),
        ("defaults: {roles: [bench, sealed]}", "a campaign reads them itself"),
        ("defaults: {epochs: 4}", "demands epochs"),
    ],
)
def test_a_policy_that_no_campaign_could_meet_is_refused_before_anything_is_run(
    tmp_path: Path, more: str, said: str
) -> None:
    text = f"version: 1\nsuites: {{arithmetic: {{}}}}\nsealed: {{looks: 5}}\n{more}\n"
    with pytest.raises(UsageError, match=said):
        run(tmp_path, Simulated(), wanted(policy=parse_policy(text)))


def test_folds_too_small_to_say_anything_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="leave fewer than 5 in one"):
        run(tmp_path, Simulated(), wanted(folds=20))


def test_no_failures_end_with_nothing_to_learn_and_no_look(tmp_path: Path) -> None:
    record = run(tmp_path, Simulated(), wanted("double:reference"))
    assert record["exit"] == 1
    assert "no failures in" in record["reason"]
    assert Ledger(tmp_path).entries() == []


def test_a_base_at_zero_is_trained_and_judged_like_any_other(tmp_path: Path) -> None:
    record = run(tmp_path, Simulated(), wanted("double:empty"))
    assert record["base"]["arithmetic"]["value"] == 0
    assert record["status"] == "promoted"


def test_fewer_clusters_than_folds_are_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot fill"):
        run(tmp_path, Simulated(), wanted(folds=500))


def test_a_leak_or_a_change_in_the_file_about_to_be_trained_on_stops_with_the_evidence(tmp_path: Path) -> None:
    with pytest.raises(Killed):
        run(tmp_path, Simulated(), watch=Quiet(die_before=5))
    [path] = (tmp_path / "campaigns").glob("*/rows.jsonl")
    rows = read_rows(path)
    measured = next(s for s in load_suite("arithmetic", samples=SAMPLES).samples if s.role == "sealed")
    write_rows(path, [replace(rows[0], sample=measured, completion=str(measured.target)), *rows[1:]])
    with pytest.raises(EvidenceError, match=r"holds the input of arithmetic sample") as caught:
        run(tmp_path, Simulated(), resume=True)
    assert measured.id in str(caught.value)
    assert caught.value.exit_status == 4
    write_rows(path, rows[1:])
    with pytest.raises(EvidenceError, match="changed after it was curated"):
        run(tmp_path, Simulated(), resume=True)


def test_an_artifact_changed_by_hand_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Killed):
        run(tmp_path, Simulated(), watch=Quiet(die_before=4))
    [path] = (tmp_path / "campaigns").glob("*/2-screen.json")
    path.write_text(path.read_text().replace('"passed": [', '"passed": ["0+0",', 1))
    with pytest.raises(EvidenceError, match="made from other data"):
        run(tmp_path, Simulated(), resume=True)


@pytest.mark.kill
def test_a_kill_at_every_step_boundary_and_inside_two_stages_changes_nothing(tmp_path: Path, finished: Path) -> None:
    stages = Simulated(die_at="fold-1-sft")
    for number in range(2, 8):
        for watch in (Quiet(die_before=number), Quiet(die_before=number)):
            with pytest.raises(Killed):
                run(tmp_path, stages, watch=watch, resume=True)
        if number == 6:
            stages.die_at = "final-rlvr"
    assert lasting(run(tmp_path, stages, resume=True)) == lasting(record_of(finished))
    assert len(stages.trained) == len(set(stages.trained)), "a finished stage is not trained again"


def test_an_interrupted_campaign_asks_for_resume(tmp_path: Path) -> None:
    with pytest.raises(Killed):
        run(tmp_path, Simulated(), watch=Quiet(die_before=3))
    assert records(tmp_path) == []
    with pytest.raises(UsageError, match="--resume goes on with it"):
        run(tmp_path, Simulated())


def test_a_finished_campaign_is_not_run_again(finished: Path) -> None:
    stages = Simulated()
    assert run(finished, stages) == record_of(finished)
    assert stages.trained == []


def test_every_figure_of_the_decision_is_recomputed_from_trials(finished: Path) -> None:
    record = record_of(finished)
    store = Store(finished)
    again = recompute(store, finished / "campaigns" / record["id"], record)
    assert [(one.name, one.held, one.text) for one in again] == [
        (one["name"], one["held"], one["text"]) for one in record["conditions"]
    ]


def test_trained_pool_clusters_are_known_wherever_the_candidate_is_gated(finished: Path) -> None:
    record = record_of(finished)
    found = Store(finished).checkpoints.trained_clusters(record["candidate"]["weights_digest"], "arithmetic")
    rows = read_rows(finished / "campaigns" / record["id"] / "rows.jsonl")
    assert found == {cluster for row in rows for cluster in row.clusters}


def test_the_baseline_is_fresh_and_never_the_run_that_was_screened(finished: Path) -> None:
    told = record_of(finished)
    own = Store(finished / "campaigns" / told["id"])
    pools = [row for row in own.find(suite="arithmetic") if own.load(row.key).record.suite["roles"] == ["pool"]]
    whole = [own.load(row.key).record for row in pools if row.checkpoint == "base"]
    assert len(whole) == 2
    assert len({record.replicate for record in whole}) == 2
    screened = next(record.key for record in whole if record.key != told["runs"]["baseline"]["pool"]["arithmetic"])
    assert screened not in str(told["runs"])


def test_no_fold_model_learns_from_the_clusters_it_is_measured_on(finished: Path) -> None:
    folder = finished / "campaigns" / record_of(finished)["id"]
    folds = json.loads((folder / "campaign.json").read_text())["folds"]["arithmetic"]
    rows = read_rows(folder / "rows.jsonl")
    for fold in range(3):
        learned = {cluster for row in rows if learns({"arithmetic": folds}, row, fold) for cluster in row.clusters}
        assert learned
        assert learned.isdisjoint(cluster for cluster, place in folds.items() if place == fold)


def test_the_recipe_and_the_released_checkpoint_are_both_reported_and_a_final_stage_is_named(finished: Path) -> None:
    told = record_of(finished)
    assert [(one["stage"], one["fold"]) for one in told["stage_results"]] == [
        ("sft", 0), ("sft", 1), ("sft", 2), ("sft", None), ("rlvr", None),
    ]  # fmt: skip
    drawn = {role: sum(s.role == role for s in load_suite("arithmetic", samples=SAMPLES).samples) for role in Role}
    assert told["crossfit"]["difference"]["clusters"] == drawn[Role.POOL]
    assert told["sealed"]["arithmetic"]["difference"]["clusters"] == drawn[Role.SEALED]


def test_a_pool_too_hard_for_rlvr_is_recorded_and_the_campaign_still_decides(tmp_path: Path) -> None:
    told = run(tmp_path, Simulated(too_hard=True))
    assert told["skipped"]["rlvr"].startswith("none of 8 groups")
    assert told["status"] == "promoted"


def test_the_best_of_many_candidates_is_stopped_by_the_budget_of_looks(tmp_path: Path) -> None:
    for number in range(5):
        Ledger(tmp_path).take("arithmetic", f"candidate-{number}", "base", 5)
    told = run(tmp_path, Simulated())
    assert (told["status"], told["exit"]) == ("stopped", 4)
    assert "ledger: look 6 of 5" in told["reason"]
    assert "value" not in (told["sealed"]["arithmetic"].get("difference") or {})


def test_failures_of_the_infrastructure_alone_are_no_failures_of_the_model(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="infrastructure errors"):
        run(tmp_path, Simulated(), wanted("double:flaky?share=1&failures=99"))


def test_too_little_disk_is_said_before_anything_is_run(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match="make room"):
        run(tmp_path, Simulated(disk=2**60))
    assert Store(tmp_path).find() == []


def test_a_suite_whose_verifier_says_zero_to_everything_stops_at_preflight() -> None:
    suite = load_suite("arithmetic", samples=SAMPLES)
    blind = replace(suite, reference=lambda sample: "0")
    with pytest.raises(EvidenceError, match="gives the known-good answer 0, not 1"):
        prove(blind, suite.samples[:3])
    lenient = replace(suite, wrong=lambda sample: [str(sample.target)])
    with pytest.raises(EvidenceError, match="gives the known-bad answer"):
        prove(lenient, suite.samples[:3])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"suites": ("terminal",)}, "no pool samples"),
        ({"stages": ("rlvr",)}, "give sft, or sft,rlvr"),
        ({"stages": ("sft", "dpo")}, "give sft, or sft,rlvr"),
        ({"recipe": "demonstrations"}, "did you mean 'demonstration'"),
        ({"settings": "tinny"}, "did you mean 'tiny'"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_one_line(tmp_path: Path, changes: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        run(tmp_path, Simulated(), wanted(**changes))
