"""Another judge is another digest, and what cannot change a score is not in it."""

from evalctl.identity import _closure, sandbox_digest, scorer_digest
from evalctl.types import ScorerSpec


def test_scorers_and_their_options_have_digests_of_their_own() -> None:
    specs = [ScorerSpec("numeric"), ScorerSpec("numeric", {"tolerance": 0.1}), ScorerSpec("exact")]
    assert len({scorer_digest(spec) for spec in specs}) == 3
    assert scorer_digest(ScorerSpec("numeric")) == scorer_digest(ScorerSpec("numeric"))


def test_the_source_of_a_scorer_is_its_module_and_what_that_reads_of_its_package_and_the_parsers() -> None:
    hidden = set(_closure("scorers.unit_tests"))
    assert {"scorers.unit_tests", "scorers.harness"} <= hidden
    numeric = set(_closure("scorers.numeric"))
    assert "evalctl.parse.stated" in numeric
    assert "evalctl.parse.numbers" in numeric  # at a distance
    assert not {"scorers.harness", "scorers.toolcalls", "evalctl.types", "evalctl.errors"} & numeric


def test_where_nothing_runs_in_a_sandbox_there_is_no_digest() -> None:
    assert sandbox_digest(None) is None
