"""Finding control groups that can be written: v1, v2, both, none."""

import subprocess
from pathlib import Path

import pytest

from sandboxes import cgroup


def v1(tmp_path: Path) -> str:
    for name in ("memory", "pids"):
        (tmp_path / name / "me").mkdir(parents=True)
    return "\n".join(
        f"{n} 1 0:{n} / {tmp_path / name} rw - cgroup cgroup rw,{name}" for n, name in enumerate(("memory", "pids"))
    )


def v2(tmp_path: Path, enabled: str) -> str:
    (tmp_path / "v2" / "slice" / "me").mkdir(parents=True)
    (tmp_path / "v2" / "slice" / "cgroup.subtree_control").write_text(enabled)
    return f"9 1 0:9 / {tmp_path / 'v2'} rw - cgroup2 cgroup2 rw"


def test_version_1_is_found_under_our_own_groups(tmp_path: Path) -> None:
    found = cgroup.detect(v1(tmp_path), "4:memory:/me\n5:pids:/\n0::/")
    assert found.version == 1
    assert found.parents == {"memory": tmp_path / "memory/me", "pids": tmp_path / "pids"}


def test_version_2_is_found_in_the_group_above_ours_where_controllers_are_shared_out(tmp_path: Path) -> None:
    found = cgroup.detect(v2(tmp_path, "cpu memory pids"), "0::/slice/me")
    assert (found.version, set(found.parents)) == (2, {"memory", "pids"})
    assert set(found.parents.values()) == {tmp_path / "v2/slice"}


def test_version_1_is_taken_where_it_has_the_controllers_of_both(tmp_path: Path) -> None:
    found = cgroup.detect(v1(tmp_path) + "\n" + v2(tmp_path, ""), "4:memory:/\n5:pids:/\n0::/slice/me")
    assert found.version == 1


def test_a_container_that_sees_a_part_of_the_hierarchy_counts_from_that_part(tmp_path: Path) -> None:
    text = v1(tmp_path).replace(" / ", " /docker/abc ")
    found = cgroup.detect(text, "4:memory:/docker/abc/me\n5:pids:/docker/abc")
    assert found.parents == {"memory": tmp_path / "memory/me", "pids": tmp_path / "pids"}


@pytest.mark.parametrize(
    ("mountinfo", "own"), [("", ""), ("garbage", "0::/"), ("1 2 0:1 / /x rw - tmpfs tmpfs rw", "0::/")]
)
def test_nothing_is_found_where_there_is_nothing(mountinfo: str, own: str) -> None:
    assert cgroup.detect(mountinfo, own) == cgroup.NONE


def test_a_hierarchy_that_cannot_be_written_is_not_taken(tmp_path: Path) -> None:
    text = v1(tmp_path).replace(str(tmp_path), "/proc/1")
    assert cgroup.detect(text, "4:memory:/\n5:pids:/") == cgroup.NONE


@pytest.mark.sandbox
@pytest.mark.skipif(not cgroup.detect().parents, reason="no cgroup can be written here")
def test_what_a_dead_owner_left_is_found_and_removed_and_a_living_ones_is_not() -> None:
    found = cgroup.detect()
    name = f"{cgroup.PREFIX}{Path('/proc/self/ns/pid').stat().st_ino}-4194000-1-0"
    left = [parent / name for parent in dict.fromkeys(found.parents.values())]
    for folder in left:
        folder.mkdir()
    alive = cgroup.Cgroup(found, 2**24, 10)
    with subprocess.Popen(["sleep", "60"]) as orphan:
        (left[0] / "cgroup.procs").write_text(str(orphan.pid))
        assert set(left) <= set(cgroup.stale(found))
        assert not {Path(place).parent for place in alive.entrances} & set(cgroup.stale(found))
        for folder in left:
            assert cgroup.remove(folder)
        assert orphan.wait(5) == -9
    alive.close()
    assert not any(Path(place).parent.exists() for place in alive.entrances)
