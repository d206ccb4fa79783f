"""What comes from outside is read right, or refused with file, line and the mend."""

import json
from pathlib import Path

import pytest

from evalctl.errors import DataError, SuiteError
from evalctl.types import Role
from suites.rows import read_rows
from suites.schema import read_suite_form

GOOD = {"id": "a", "input": "1+1", "target": "2", "cluster": "a"}
YAML = """
name: small
version: 1
scorer: exact
card: {source: us, licence: CC0-1.0, does_not_measure: anything}
"""


def rows(tmp_path: Path, data: bytes, name: str = "samples.jsonl") -> list[str]:
    path = tmp_path / name
    path.write_bytes(data)
    return [row.id for _, row in read_rows(path)]


def line(**more: object) -> bytes:
    return json.dumps(GOOD | more).encode()


@pytest.mark.parametrize(
    ("data", "ids"),
    [
        (b"\xef\xbb\xbf" + line() + b"\n", ["a"]),
        (line() + b"\r\n" + line(id="b") + b"\r\n", ["a", "b"]),
        (line() + b"\n\n   \n" + line(id="b"), ["a", "b"]),
        ('{"id": "a", "input": "one\u2028two", "cluster": "a"}'.encode(), ["a"]),
    ],
    ids=["byte order mark", "CRLF", "blank lines", "a line separator inside a string"],
)
def test_odd_but_well_formed_files_are_read_right(tmp_path: Path, data: bytes, ids: list[str]) -> None:
    assert rows(tmp_path, data) == ids
    assert rows(tmp_path, data, "lines.json") == ids


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (line() + b'\n{"id": "b", "inp', r":2: not JSON"),
        (line() + b"\n" + line(), r":2: id 'a' is also on line 1"),
        (line(id=7), r":1: id: Input should be a valid string \(given: int\)"),
        (line(cluster=7), r":1: cluster: .*given: int"),
        (line(rolle="dev"), r":1: rolle: unknown key; did you mean 'role'\?"),
        (line(role="test"), r":1: role: "),
        (line(input=[]), r":1: input"),
        (line(files={"../x": "y"}), r":1: files.*not a relative path"),
        (line(files={"/etc/x": "y"}), r":1: files.*not a relative path"),
        (b'{"id": "a", "id": "b", "input": "x"}', r":1: not JSON: key 'id' is given twice"),
        (b'{"id": "a", "input": "x", "target": NaN}', r":1: not JSON: NaN"),
        (b'{"id": "a", "input": "x", "target": 1e999}', r":1: target: "),
        (b'{"id": "a", "input": "\\ud800"}', r":1: input"),
        (b'{"id": "a", "input": "x"}\n["b"]', r":2: must be one JSON object a line, not list"),
        (b'{"id": "a", "input": "\xff"}', r":1: not UTF-8"),
        (b"[" * 100_000, r":1: (nested too deeply|not JSON)"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", r":1: a Git LFS pointer.*git lfs pull"),
        (b'{"id": "a"}', r":1: input: Field required"),
    ],
)
def test_what_cannot_be_read_names_file_line_and_reason(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(DataError, match=r"samples\.jsonl" + message):
        rows(tmp_path, data)


def test_a_suite_file_in_its_shortest_form(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(YAML + "roles: {pool: 0.5, sealed: 0.5}\nlimits: {memory_mib: 64}\n")
    form = read_suite_form(path)
    assert (form.version, form.scorer.name, form.roles) == ("1", "exact", {Role.POOL: 0.5, Role.SEALED: 0.5})
    assert form.limits.limits().memory_bytes == 64 * 2**20


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (YAML + "sandboxx: bwrap\n", r"sandboxx: unknown key; did you mean 'sandbox'\?"),
        (YAML + "limits: {memory: 5}\n", r"limits\.memory: unknown key; did you mean 'memory_mib'\?"),
        (YAML + "roles: {pool: 0.5, dev: 0.2}\n", r"add up to 0\.7"),
        (YAML + "roles: {poool: 1.0}\n", r"roles"),
        (YAML + "generator: ../other.py\nsamples: 3\n", r"generator"),
        (YAML + "generator: make.py\n", r"`generator` and `samples`"),
        (YAML + "name: twice\n", r"'name' is given twice"),
        (YAML.replace("licence: CC0-1.0, ", ""), r"card\.licence: Field required"),
        (YAML + "max_tokens: many\n", r"max_tokens: .*given: str"),
        ("name: [unclosed", r"not YAML"),
        ("version: 2001-99-99", r"not YAML"),
        ("samples: " + "9" * 5000, r"not YAML"),
        ("samples: 0x" + "f" * 5000, r"not YAML"),
        ("samples: !!int ''", r"not YAML"),
        ("- a list", r"must be a mapping"),
        ("!!python/object/apply:os.system ['true']", r"not YAML"),
    ],
)
def test_a_suite_file_that_is_wrong_is_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(text)
    with pytest.raises(SuiteError, match=message) as caught:
        read_suite_form(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))
