"""Looks are counted once each, for ever, whoever counts."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from evalctl.errors import StoreError
from evalctl.ledger import Ledger


def test_a_look_is_one_suite_candidate_and_baseline_however_often(tmp_path) -> None:  # type: ignore[no-untyped-def]
    ledger = Ledger(tmp_path)
    assert ledger.entries() == []
    assert not (tmp_path / "ledger").exists()
    first, again = ledger.take("s", "new", "base", 2), Ledger(tmp_path).take("s", "new", "base", 2)
    assert (first.number, first.first, again.number, again.first) == (1, True, 1, False)
    assert ledger.take("s", "new", "other", 2).number == 2
    assert ledger.take("t", "new", "base", 2).number == 1
    assert len(ledger.entries()) == 3


def test_past_the_budget_a_look_is_refused_and_spent(tmp_path) -> None:  # type: ignore[no-untyped-def]
    ledger = Ledger(tmp_path)
    looks = [ledger.take("s", f"c{i}", "base", 2) for i in range(4)]
    assert [look.refused for look in looks] == [False, False, True, True]
    assert ledger.take("s", "c3", "base", 2).refused
    assert not ledger.take("s", "c0", "base", 2).refused
    assert [entry["refused"] for entry in ledger.entries()] == [False, False, True, True]


def test_a_look_without_a_budget_is_counted_and_never_refused(tmp_path) -> None:  # type: ignore[no-untyped-def]
    ledger = Ledger(tmp_path)
    assert not ledger.take("s", "c0", "base").refused
    assert ledger.take("s", "c1", "base", 1).refused


def test_many_at_once_get_a_number_each(tmp_path) -> None:  # type: ignore[no-untyped-def]
    with ThreadPoolExecutor(8) as pool:
        looks = list(pool.map(lambda i: Ledger(tmp_path).take("s", f"c{i}", "base", 99), range(24)))
    assert sorted(look.number for look in looks) == list(range(1, 25))


def test_a_damaged_line_stops_everything_sealed(tmp_path) -> None:  # type: ignore[no-untyped-def]
    ledger = Ledger(tmp_path)
    ledger.take("s", "c0", "base", 2)
    with ledger.path.open("a") as file:
        file.write('{"suite": "s", "cand')
    with pytest.raises(StoreError, match=r"looks\.jsonl:2: not a look"):
        ledger.take("s", "c1", "base", 2)
    ledger.path.write_text(json.dumps({"suite": "s"}) + "\n")
    with pytest.raises(StoreError):
        ledger.entries()
