"""Progress and tables in the terminal: plain where nobody watches, and safe from what they show."""

import io

import pytest
from rich.console import Console

from app.present import PLAIN_EVERY, Display
from app.tables import run_summary, show
from evalctl.gate.verdict import Decision
from evalctl.types import Trial
from tests.doubles import Synthetic
from tests.reports.pages import page, verdict


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def trial(tokens: int = 30) -> Trial:
    return Trial("tooluse", None, "a", "k", output_tokens=tokens)


def plain() -> Console:
    return Console(file=io.StringIO(), width=160, highlight=False)


def text(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_elsewhere_than_on_a_terminal_a_line_comes_at_most_every_few_seconds() -> None:
    out, clock = plain(), Clock()
    with Display(out, clock) as display:
        display.begin("tooluse on base", total=100, done=40)
        for _ in range(60):
            clock.now += 0.5
            display.advance(trial())
    lines = text(out).splitlines()
    assert lines[0] == "tooluse on base: 40/100, goes on"
    assert lines[1] == "tooluse on base: 50/100, 60 tokens/s, about 25 s left"
    assert lines[-1] == "tooluse on base: 100/100, 30 s, 60 tokens/s"
    assert len(lines) == 2 + 30 / PLAIN_EVERY


def test_on_a_terminal_there_is_a_bar_that_goes_away_with_an_error() -> None:
    out = Console(file=io.StringIO(), force_terminal=True, width=100)

    def fails_midway() -> None:
        with Display(out) as display:
            display.begin("tooluse on base", total=2, done=0)
            display.advance(trial())
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails_midway()
    assert "1/2" in text(out)
    assert text(out).rstrip().endswith("\x1b[?25h"), "the cursor is shown again"


def test_hostile_text_is_neither_markup_nor_control() -> None:
    out = plain()
    with Display(out) as display:
        display.say("[red]x[/red] \x1b[2J")
        display.begin("[bold]s[/bold]\x1b]0;t\x07", total=1, done=0)
        display.advance(trial())
    assert "[red]x[/red] \\x1b[2J" in text(out)
    assert "[bold]s[/bold]\\x1b]0;t\\x07: 0/1, starts" in text(out)


def test_a_run_is_summed_up_with_interval_sizes_and_what_was_not_scored() -> None:
    out = plain()
    run_summary(Synthetic(errors=4).run(), out)
    first, *others = text(out).splitlines()
    assert first.startswith("tooluse on base ")
    assert "76 samples, 38 clusters, 4 unscored (" in first
    assert others[0].startswith("  format: ")
    assert "run " in others[-1]


def test_sealed_scores_are_not_summed_up() -> None:
    out = plain()
    run_summary(Synthetic(role="sealed").run(), out)
    assert "80 trials of sealed or dev roles: run, not shown" in text(out)
    assert "%" not in text(out)


def test_the_tables_show_every_outcome_by_word_and_shape() -> None:
    out = plain()
    show(page(verdict(Decision.REGRESSED)), out)
    said = text(out)
    assert "▼ REGRESSED\ntuned is worse than base" in said
    assert "−28.0 to −14.0" in said
    assert "not gated" in said
