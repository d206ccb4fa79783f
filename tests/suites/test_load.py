"""A suite by name or folder: the same every time, and clear where it does not load."""

from pathlib import Path

import pytest

from evalctl.errors import DataError, LookupFailed, SuiteError, UsageError
from evalctl.types import Role, Sample
from suites import SUITES, load_suite
from suites.export import export_lines
from suites.load import generator_of
from tests.suites import folders


@pytest.mark.parametrize("name", SUITES)
def test_the_same_arguments_always_give_the_same_suite(name: str) -> None:
    first, again, other = load_suite(name), load_suite(SUITES[name]), load_suite(name, seed=1)
    assert first.digest == again.digest
    assert first.digest != other.digest


@pytest.mark.parametrize("name", ["arithmetic", "tooluse", "terminal"])
def test_a_larger_suite_begins_with_the_smaller_and_keeps_its_clusters_and_roles(name: str) -> None:
    small = load_suite(name)
    large = load_suite(name, samples=2 * len(small.samples) + 1)
    assert large.samples[: len(small.samples)] == small.samples
    assert large.digest != small.digest


@pytest.mark.parametrize("name", ["arithmetic", "tooluse"])
def test_a_seed_changes_what_is_asked_but_never_a_clusters_role(name: str) -> None:
    roles = [{s.cluster: s.role for s in load_suite(name, seed=seed).samples} for seed in (0, 5)]
    assert roles[0] == roles[1]


def test_unknown_names_are_answered_with_a_guess(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LookupFailed, match=r"unknown suite 'tool_use'; did you mean 'tooluse'\?"):
        load_suite("tool_use")
    with pytest.raises(SuiteError, match="no such suite folder"):
        load_suite("./not-there")
    monkeypatch.chdir(tmp_path)
    folders.from_rows(tmp_path / "mine", [folders.row(1)])
    with pytest.raises(UsageError, match=r"for the folder mine write \./mine"):
        load_suite("mine")
    assert load_suite("./mine").name == "mine"


@pytest.mark.parametrize(
    ("head", "scorer", "message"),
    [
        ("", "exakt", r"suite\.yaml: unknown scorer 'exakt'; did you mean 'exact'\?"),
        ("", "{name: exact, options: {cases: fold}}", "cases"),
        ("sandbox: bwarp\n", "exact", r"unknown sandbox 'bwarp'; did you mean 'bwrap'\?"),
        ("agent: shel\n", "exact", r"unknown agent 'shel'; did you mean 'shell'\?"),
    ],
)
def test_a_wrong_name_in_a_suite_is_found_before_anything_runs(
    tmp_path: Path, head: str, scorer: str, message: str
) -> None:
    with pytest.raises((LookupFailed, SuiteError, UsageError), match=message):
        load_suite(folders.from_rows(tmp_path / "s", [folders.row(1)], head, scorer))


def test_a_generator_is_loaded_from_a_foreign_folder_with_the_modules_beside_it(tmp_path: Path) -> None:
    suite = load_suite(folders.generated(tmp_path / "foreign"))
    assert len(suite.samples) == 40
    assert {s.role for s in suite.samples} == {Role.POOL, Role.DEV, Role.SEALED}
    assert suite.samples[0].pair_id == "s0"
    assert suite.reference is not None
    assert suite.reference(suite.samples[3]) == "answer 3"
    other = load_suite(folders.generated(tmp_path / "other", generator=folders.GENERATOR.replace("Say", "Tell")))
    assert str(other.samples[0].input).startswith("Tell"), "two folders with a make.py are two generators"


def test_no_code_of_a_folder_runs_unless_its_suite_file_names_it(tmp_path: Path) -> None:
    folder = folders.from_rows(tmp_path / "quiet", [folders.row(1)])
    (folder / "generate.py").write_text("raise SystemExit('this file ran')\n")
    (folder / "__init__.py").write_text("raise SystemExit('this file ran')\n")
    assert len(load_suite(folder).samples) == 1


@pytest.mark.parametrize(
    ("generator", "message"),
    [
        ("import nothing_like_this", "does not import: ModuleNotFoundError"),
        ("def generate(seed, n):\n    return []\n", "missing: siblings, reference, wrong"),
        (folders.GENERATOR.replace("range(min(n, 60))", "range(3)"), "gave only 3 samples"),
        (folders.GENERATOR.replace('f"s{i}"', '"same"'), "id.* given twice, first 'same'"),
        (folders.GENERATOR.replace("role=Role.POOL", "role=0"), "is not a Sample with a Role"),
        (folders.GENERATOR.replace("WORDS[i % 2]", "WORDS[9]"), "IndexError"),
    ],
)
def test_a_generator_that_fails_is_named_with_the_reason(tmp_path: Path, generator: str, message: str) -> None:
    with pytest.raises(SuiteError, match=message):
        load_suite(folders.generated(tmp_path / "bad", generator=generator))


def test_a_file_has_its_size_and_says_which_clusters_were_not_declared(tmp_path: Path) -> None:
    rows = [folders.row(1), {key: value for key, value in folders.row(2).items() if key != "cluster"}]
    folder = folders.from_rows(tmp_path / "file", rows)
    suite = load_suite(folder)
    assert [s.cluster for s in suite.samples] == ["c1", "s2"]
    assert suite.card["undeclared_clusters"] == 1
    with pytest.raises(UsageError, match="--limit takes a part"):
        load_suite(folder, samples=5)
    with pytest.raises(SuiteError, match="no generator"):
        generator_of(folder)


def test_rows_without_a_role_are_drawn_and_declared_ones_stand(tmp_path: Path) -> None:
    rows = [folders.row(i) for i in range(30)] + [folders.row(90, role="bench"), folders.row(91, role="dev")]
    suite = load_suite(folders.from_rows(tmp_path / "mix", rows, "roles: {pool: 0.5, sealed: 0.5}\n"))
    assert {s.role for s in suite.samples[:30]} == {Role.POOL, Role.SEALED}
    assert [s.role for s in suite.samples[30:]] == [Role.BENCH, Role.DEV]


@pytest.mark.parametrize("name", SUITES)
def test_an_exported_suite_reads_back_as_the_same_samples(tmp_path: Path, name: str) -> None:
    suite = load_suite(name, samples=30)
    folder = folders.write(tmp_path / name, scorer="exact")
    (folder / "samples.jsonl").write_text("".join(f"{line}\n" for line in export_lines(suite.samples)))
    back = load_suite(folder).samples

    def told(samples: tuple[Sample, ...]) -> list[object]:
        return [(s.id, s.content_key, s.family, s.cluster, s.band, s.role, s.pair_id, s.metadata) for s in samples]

    assert told(back) == told(suite.samples)


def test_an_empty_or_missing_data_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="names no generator"):
        load_suite(folders.write(tmp_path / "none"))
    with pytest.raises(SuiteError, match="holds no sample"):
        load_suite(folders.write(tmp_path / "empty", files={"samples.jsonl": "\n"}))
    with pytest.raises(DataError, match=r"samples\.jsonl:1"):
        load_suite(folders.write(tmp_path / "torn", files={"samples.jsonl": '{"id": "a"'}))
    with pytest.raises(SuiteError, match=r"no suite\.yaml here"):
        load_suite(tmp_path)
