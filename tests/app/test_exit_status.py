"""How a command ended is what the shell sees, and Python's own exit 1 never is."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def ended(body: str) -> subprocess.CompletedProcess[str]:
    """Run `main` with `body` in place of the work of `evalctl doctor`."""
    code = (
        "import sys, types, click\n"
        "module = types.ModuleType('app.cli.doctor')\n"
        f"def work():\n    'Help.'\n    {body}\n"
        "module.command = click.command()(work)\n"
        "sys.modules['app.cli.doctor'] = module\n"
        "sys.argv = ['evalctl', 'doctor']\n"
        "from app.cli import main\n"
        "sys.exit(main())\n"
    )
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        ("pass", 0, ""),
        ("from app.cli.root import leave; leave(3)", 3, ""),
        ("from evalctl.errors import UsageError; raise UsageError('no such thing')", 2, "evalctl: no such thing\n"),
        ("from evalctl.errors import EvidenceError; raise EvidenceError('gone')", 4, "evalctl: gone\n"),
        ("raise ValueError('a bug')", 5, "internal error: ValueError: a bug (exit 5"),
        ("import no_such_module", 5, "ModuleNotFoundError"),
        ("sys.exit('text')", 5, "internal error"),
        ("raise KeyboardInterrupt", 130, "interrupted"),
        ("import errno; raise OSError(errno.ENOSPC, 'full', '/data')", 5, "no free disk (/data); free some"),
        ("import errno; raise OSError(errno.EACCES, 'denied', '/data')", 2, "evalctl: /data: cannot be used (denied)"),
        ("import errno; raise OSError(errno.EROFS, 'read-only', '/data')", 2, "evalctl: /data: cannot be used"),
        ("import errno; raise OSError(errno.EIO, 'broken', '/data')", 5, "internal error: OSError"),
        ("raise MemoryError", 5, "MemoryError"),
    ],
)
def test_every_way_to_end_has_its_exit_status(body: str, status: int, told: str) -> None:
    result = ended(body)
    assert result.returncode == status
    assert told in result.stderr


@pytest.mark.parametrize("words", [["gaet"], ["gate"], ["--nosuch"], ["gate", "--polcy", "x"]])
def test_a_wrong_word_is_usage(words: list[str]) -> None:
    code = "import sys; from app.cli import main; sys.exit(main())"
    result = subprocess.run([sys.executable, "-c", code, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("body", ["raise ValueError('\\x1b[31m\\nx')", "raise OSError(13, 'no', '\\x1b[31m\\nx')"])
def test_no_error_moves_the_terminal(body: str) -> None:
    result = ended(body)
    assert "\x1b" not in result.stderr
    assert "\\x1b[31m x" in result.stderr.splitlines()[-1]


def test_only_what_can_be_resumed_says_so() -> None:
    assert "--resume" not in ended("raise KeyboardInterrupt").stderr
    assert "--resume" not in ended("raise OSError(28, 'full', '/data')").stderr
    for error, status in (("KeyboardInterrupt", 130), ("OSError(28, 'full', '/data')", 5)):
        body = f"from app.cli.root import goes_on\n    with goes_on('with --resume it goes on'): raise {error}"
        result = ended(body)
        assert (result.returncode, "with --resume it goes on" in result.stderr) == (status, True)


def test_a_reader_that_goes_away_is_no_error() -> None:
    code = "import sys; from app.cli import main; sys.exit(main())"
    # The reader is gone before the first byte: `true` does not read, and the sleep lets it end.
    line = f'(sleep 1; "{sys.executable}" -c "{code}" --help; echo "status $?" >&2) | true'
    result = subprocess.run(["bash", "-c", line], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.stderr == "status 0\n"
