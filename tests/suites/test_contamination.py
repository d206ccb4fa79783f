"""The audit: what a text holds of a measured sample is found however it is dressed, and nothing else is."""

import random
import time
import unicodedata
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalctl.types import Message, Role, Sample, ScorerSpec, Suite, ToolCall
from suites import load_suite
from suites.contamination import Hit, Index
from suites.contamination.folding import tokens
from suites.load import generator_of

LONG = "Which of the two accounts in the ledger of the harbour office was closed before the storm of last November?"
SHORT = "Where was the café on Rue 12 built?"


def suite(*samples: Sample, name: str = "made") -> Suite:
    return Suite(name, "1", samples, ScorerSpec("exact"), advisory=True)


def sample(text: str | tuple[Message, ...] = LONG, number: int = 1, **more: object) -> Sample:
    fields: dict[str, object] = {"target": "yes", "family": "f", "cluster": f"c{number}"}
    return Sample(f"s{number}", text, **(fields | more))  # type: ignore[arg-type]


def hits(text: str, *samples: Sample, n: int = 13) -> list[Hit]:
    return Index.of([suite(*samples)], n).hits("row", text)


def row_text(one: Sample, answer: str) -> str:
    """As `training.rows.Row.own_text` has it."""
    return "\n".join([*(message.content for message in one.messages), answer])


DRESSES: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "upper case": str.upper,
    "wrapped lines": lambda text: text.replace(" ", "\n   "),
    "no punctuation": lambda text: text.replace("?", ""),
    "other punctuation": lambda text: "«" + text.replace(" of ", ", of: ") + "»!!",
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "full width": lambda text: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text),
    "zero-width characters": lambda text: "\u200b".join(text),
    "inside other text": lambda text: f"Naïve notes: first this. {text} And then, on page 12, that.",
    "inside JSON": lambda text: f'{{"role": "user", "content": "{text}"}}',
}


@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize("text", [LONG, SHORT])
def test_a_planted_sample_is_found_in_every_dress_and_shown_as_it_stands(text: str, dress: str) -> None:
    planted = DRESSES[dress](text)
    [hit] = hits(planted, sample(text))
    assert (hit.text_id, hit.suite, hit.sample_id, hit.role, hit.part) == ("row", "made", "s1", "bench", "input")
    assert hit.kind == "whole"
    assert hit.evidence == planted[slice(*hit.span)][:200]
    assert tokens(planted[slice(*hit.span)]).words == tokens(text).words
    assert text[slice(*hit.sample_span)] == text.rstrip("?")


def test_a_part_of_thirteen_tokens_is_evidence_and_one_of_twelve_is_not() -> None:
    words = LONG.rstrip("?").split()
    [hit] = hits("So: " + " ".join(words[3:16]), sample())
    assert (hit.kind, hit.evidence) == ("ngram", " ".join(words[3:16]))
    assert LONG[slice(*hit.sample_span)] == hit.evidence
    assert hits("So: " + " ".join(words[3:15]), sample()) == []
    assert hits("So: " + " ".join(words[3:15]), sample(), n=8) != []


def test_overlapping_ngrams_are_one_stretch_and_two_copies_are_two() -> None:
    found = hits(f"{LONG} Once more: {LONG}", sample())
    assert [hit.kind for hit in found] == ["whole", "whole"]
    assert found[0].span[1] < found[1].span[0]


def test_evidence_is_cut_and_the_span_is_not() -> None:
    text = " ".join(f"word{number}" for number in range(100))
    [hit] = hits(text, sample(text))
    assert len(hit.evidence) == 200
    assert hit.span == (0, len(text))


@pytest.mark.parametrize(
    "text",
    [
        "0123 4567",
        "0123 + 4567 =",
        "123 4567",
        "123+456.5",
        "1,123+456=",
        "7.123+456=",
        "456+123=",
        "123-456=",
        "123=456",
        "[123, 456]",
        "123 apples and 456 pears",
    ],
)
def test_a_sum_is_not_found_in_other_numbers(text: str) -> None:
    assert hits(text, sample("123+456=", target="579")) == []


@pytest.mark.parametrize("text", ["123+456=", "123 + 456 = 579", "what is 123+456?", "1. 123＋456", "- 123+456=\n580"])
def test_a_sum_is_found_in_its_own_numbers(text: str) -> None:
    [hit] = hits(text, sample("123+456=", target="579"))
    assert (hit.kind, hit.part) == ("whole", "input")


def test_signs_of_other_alphabets_of_arithmetic_are_the_same() -> None:
    assert hits("7 × 8 − 2", sample("7*8-2"))


@pytest.mark.parametrize("target", ["8", 579, "A.", "Yes", "four short words here", None, "", []])
def test_a_short_answer_alone_is_never_evidence(target: object) -> None:
    assert hits(f"Some row. {target}", sample(target=target)) == []


def test_an_input_of_one_word_is_unauditable_and_not_clean() -> None:
    index = Index.of([suite(sample("Hello!"), sample("Hello you!", 2))])
    assert index.unauditable == (("made", "s1"),)
    assert [hit.sample_id for hit in index.hits("row", "Hello! Hello you!")] == ["s2"]


CALL = {"name": "book_table", "arguments": {"guests": 4, "place": "Harbour Inn"}}


@pytest.mark.parametrize(
    ("one", "text", "part"),
    [
        (sample(), f"{LONG} 12", "input"),
        (sample(target=[CALL]), '{"name":"book_table","arguments":{"guests":4,"place":"harbour inn"}}', "arguments"),
        (sample(target="under the third stone by the well"), "It is under the third stone, by the well.", "target"),
        (sample(target=["the red one", "the blue one"]), "the red one, the blue one", "target"),
        (sample(files={"a.txt": "the key to the cellar is 4711"}), "(The key to the cellar is 4711.)", "file"),
    ],
)
def test_evidence_says_which_of_the_samples_own_texts_it_is(one: Sample, text: str, part: str) -> None:
    [hit] = hits(text, one)
    assert (hit.part, hit.kind) == (part, "whole")


def test_one_message_of_a_conversation_and_its_tool_calls_are_found() -> None:
    said = (
        Message("user", "Is the third pier open today?"),
        Message("assistant", "", (ToolCall("look_up", {"pier": "third pier", "day": "today"}),)),
        Message("tool", "No."),
    )
    one = sample(said)
    assert [hit.part for hit in hits("is the third pier open today", one)] == ["message"]
    assert [hit.part for hit in hits('"name": "look_up", "arguments": pier: third pier, day: today', one)] == [
        "message"
    ]
    assert hits("No.", one) == []
    assert [hit.kind for hit in hits(row_text(one, "look up"), one) if hit.part == "message"] == ["whole"]


def test_text_in_many_clusters_of_the_suite_is_template_and_the_rest_is_still_found() -> None:
    intro = "Read the statement of the bank below with care and answer with one number and nothing else at all."
    many = [sample(f"{intro} Account {number} of client {number}{number}?", number) for number in range(1, 41)]
    index = Index.of([suite(*many)])
    assert index.unauditable == ()
    assert index.hits("row", f"{intro} What is it?") == []
    [hit] = index.hits("row", many[6].messages[0].content)
    assert (hit.sample_id, hit.kind) == ("s7", "whole")


def test_one_clusters_passage_is_no_template_however_many_samples_share_it() -> None:
    many = [sample(f"{LONG} Question {number}.", number, cluster="one passage") for number in range(1, 31)]
    assert {hit.sample_id for hit in hits(LONG, *many)} == {one.id for one in many}


def test_an_input_that_all_samples_share_is_template_and_their_files_are_not() -> None:
    many = [
        sample("Fix the file.", number, files={"a": f"the lost number of this file is {number}"})
        for number in range(1, 31)
    ]
    assert hits("Fix the file.", *many) == []
    assert [hit.sample_id for hit in hits("the lost number of this file is 7", *many)] == ["s7"]
    bare = Index.of([suite(*(sample("Fix the file.", number) for number in range(1, 31)))])
    assert len(bare.unauditable) == 30


def test_what_is_template_in_one_suite_is_found_in_another() -> None:
    many = suite(*(sample(f"{LONG} Number {number}?", number) for number in range(1, 31)))
    assert Index.of([many]).hits("row", LONG) == []
    found = Index.of([many, suite(sample(role=Role.SEALED), name="other")]).hits("row", LONG)
    assert [(hit.suite, hit.role) for hit in found] == [("other", "sealed")]


def test_scripts_without_spaces_match_inside_a_sentence() -> None:
    assert hits("昨日、港の事務所はいつ閉まりましたか？と聞いた。", sample("港の事務所はいつ閉まりましたか"))


def test_a_single_gram_is_refused() -> None:
    with pytest.raises(ValueError, match="single words"):
        Index.of([], 1)


def test_text_that_repeats_itself_takes_no_square_of_the_time() -> None:
    start = time.process_time()
    assert hits("no " * 20_000, sample("no " * 20_000))
    assert hits("a b c d e f g " * 3_000, sample("a b c d e f g " * 500))
    assert time.process_time() - start < 5


@given(st.text(max_size=40), st.text(max_size=40))
def test_every_text_can_be_read_and_spans_stand_in_it(before: str, after: str) -> None:
    text = f"{before} {SHORT} {after}"
    assert any(hit.kind == "whole" for hit in hits(text, sample(SHORT)))
    for hit in hits(text, sample(SHORT)):
        assert 0 <= hit.span[0] < hit.span[1] <= len(text)
        assert hit.evidence == text[slice(*hit.span)]
    read = tokens(text)
    assert list(read.spans) == sorted(read.spans)


@pytest.fixture(scope="module")
def measured() -> dict[str, Suite]:
    return {name: load_suite(name, samples=400) for name in ("tooluse", "arithmetic")}


@pytest.fixture(scope="module")
def index(measured: dict[str, Suite]) -> Index:
    return Index.of(measured.values())


def sibling_rows(made: Suite, each: int) -> Sequence[tuple[str, str]]:
    generator = generator_of(made.name)
    return [
        (sibling.id, row_text(sibling, generator.reference(sibling)))
        for one in made.samples
        if one.role is Role.POOL
        for sibling in generator.siblings(one, 0, each)
    ]


@pytest.mark.parametrize(("name", "least"), [("tooluse", 400), ("arithmetic", 250)])
def test_rows_made_from_siblings_hold_nothing_that_is_measured(
    name: str, least: int, measured: dict[str, Suite], index: Index
) -> None:
    rows = sibling_rows(measured[name], 4)
    assert len(rows) >= least
    assert [hit for row in rows for hit in index.hits(*row)] == []


@pytest.mark.parametrize("name", ["tooluse", "arithmetic"])
def test_every_measured_sample_is_found_in_a_row_that_holds_it(
    name: str, measured: dict[str, Suite], index: Index
) -> None:
    draw = random.Random(0)
    filler = [text for _, text in sibling_rows(measured[name], 1)]
    for one in measured[name].samples:
        text = f"{draw.choice(filler)}\n{one.messages[0].content.upper()}\n{draw.choice(filler)}"
        assert one.id in {hit.sample_id for hit in index.hits("row", text) if hit.suite == name}, one.id
    assert [pair for pair in index.unauditable if pair[0] == name] == []


def test_five_thousand_rows_against_two_thousand_samples_take_seconds() -> None:
    made = load_suite("tooluse", samples=2_000)
    rows = sibling_rows(made, 8)[:5_000]
    start = time.process_time()
    index = Index.of([made])
    assert sum(bool(index.hits(*row)) for row in rows) <= 0.01 * len(rows)
    assert time.process_time() - start < 20
