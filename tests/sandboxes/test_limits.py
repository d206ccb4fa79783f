"""Sizes in words, and uids lent."""

import pytest

from evalctl.errors import SandboxError, UsageError
from sandboxes.limits import parse_size
from sandboxes.uids import lend, uids


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("256M", 2**28), ("256MiB", 2**28), ("1.5g", 3 * 2**29), (" 64 K ", 2**16), ("2TB", 2**41), ("10B", 10)],
)
def test_sizes_are_read(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "M", "-1", "0", "1X", "1e9", "nan", "1 2", "0x10"])
def test_what_is_no_size_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="such as 256M"):
        parse_size(text)


def test_two_processes_lend_different_uids() -> None:
    whole = "0 0 4294967295"
    assert set(uids(whole, 100)).isdisjoint(uids(whole, 101))
    assert len(uids(whole, (1 << 22) - 1)) == 256
    assert uids(whole, (1 << 22) - 1)[-1] < 2**31


def test_a_rootless_container_lends_what_it_has() -> None:
    assert uids("0 100000 65536", 7)[-1] < 65536
    assert len(uids("0 1000 1", 7)) == 0


def test_a_uid_is_lent_once_and_comes_back() -> None:
    with lend(range(5, 7)) as one, lend(range(5, 7)) as two:
        assert {one, two} == {5, 6}
        with pytest.raises(SandboxError, match="all 2 uids"), lend(range(5, 7)):
            pass
    with lend(range(5, 6)) as again:
        assert again == 5
