"""Every command and option has help, and the docs say what the commands say."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from app.cli.reference import pages
from app.cli.root import COMMANDS, root

ROOT = Path(__file__).parent.parent


def commands(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from commands(f"{path} {name}".strip(), child)


ALL = dict(commands("", root))


@pytest.mark.parametrize("path", [path for path in ALL if path])
def test_every_command_and_option_has_help(path: str) -> None:
    command = ALL[path]
    assert command.help
    without = [option.name for option in command.params if isinstance(option, click.Option) and not option.help]
    assert without == []


def test_the_table_and_the_command_agree_on_the_one_line_of_help() -> None:
    for name, (_, line) in COMMANDS.items():
        assert line.endswith("."), name
        assert len(line) <= 90, name


def test_the_pages_under_docs_are_what_the_commands_say() -> None:
    made = pages()
    there = {path.name: path.read_text() for path in (ROOT / "docs/commands").glob("*.md")}
    assert there == made, "run `make docs`"


def test_every_evalctl_line_in_the_readme_names_a_command_and_its_options() -> None:
    lines = re.findall(r"^(?:\$ )?(?:\.venv/bin/)?evalctl (.+)$", (ROOT / "README.md").read_text(), re.M)
    assert lines
    for line in lines:
        words = line.split("#")[0].split()
        path = next(" ".join(words[:n]) for n in (2, 1) if " ".join(words[:n]) in ALL)
        known = {name for option in ALL[path].params for name in (*option.opts, *option.secondary_opts)} | {"--help"}
        used = {word.split("=")[0] for word in words if word.startswith("--") and word != "--"}
        assert used <= known, line


def test_every_link_in_the_docs_leads_somewhere() -> None:
    dead = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "sandboxes").glob("*.md")]
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
        if not target.startswith(("http:", "https:", "mailto:")) and not (page.parent / target).exists()
    ]
    assert dead == []
