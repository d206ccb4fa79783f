"""How the command line speaks to people: a console, hostile text made safe, and the progress of long work."""

import time
from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from evalctl.types import Trial
from reports.words import seconds, visible

PLAIN_EVERY = 5.0
"""Seconds between two progress lines where the output is no terminal."""


def console(stderr: bool = False) -> Console:
    """Standard output (or error); plain where it is no terminal, and never cut at 80 columns there."""
    made = Console(stderr=stderr, highlight=False)
    return made if made.is_terminal else Console(stderr=stderr, highlight=False, no_color=True, width=160)


def watch_on_terminal() -> "Display":
    """Progress on standard error."""
    return Display()


def safe(text: object, style: str = "") -> Text:
    """`text` as itself: never markup, control characters written out."""
    return Text(visible(str(text)), style=style)


class Display:
    """Tells how runs go (the runner's `Watch`): a bar on a terminal, a line every few seconds elsewhere.

    Everything goes to standard error, so that standard output holds results alone.

    >>> with Display(Console(quiet=True)) as display:
    ...     display.begin("tooluse on base", total=2, done=0)
    ...     display.advance(Trial("tooluse", None, "a", "k", output_tokens=12))
    ...     display.end()
    """

    def __init__(self, to: Console | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = to or console(stderr=True)
        self._clock = clock
        self._bar: Progress | None = None
        self._task = TaskID(0)
        self._label = ""
        self._total = self._done = self._fresh = self._tokens = 0
        self._began = self._told = 0.0

    def __enter__(self) -> "Display":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def step(self, number: int, of: int, text: str) -> None:
        """A new step of a longer piece of work begins."""
        self.say(f"[{number}/{of}] {text}", style="bold")

    def begin(self, label: str, total: int, done: int) -> None:
        """A run starts, or goes on with `done` of `total` trials there."""
        self.end()
        self._label, self._total, self._done = visible(label), total, done
        self._fresh = self._tokens = 0
        self._began = self._told = self._clock()
        if self._console.is_terminal:
            self._bar = self._columns()
            self._bar.start()
            self._task = self._bar.add_task(self._label, total=total, completed=done, speed="")
        else:
            self._line("starts" if not done else "goes on")

    def advance(self, trial: Trial) -> None:
        """One more trial has finished."""
        self._tokens += trial.output_tokens or 0
        self._at(self._done + 1)

    def tick(self, done: int) -> None:
        """`done` of the total have finished: a training stage, which counts steps."""
        self._at(done)

    def _at(self, done: int) -> None:
        self._fresh += done - self._done
        self._done = done
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, speed=self._speed())
        elif self._clock() - self._told >= PLAIN_EVERY:
            self._told = self._clock()
            self._line(", ".join(part for part in (self._speed(), self._left()) if part))

    def say(self, text: str, style: str = "") -> None:
        """One line a person should read."""
        self._console.print(safe(text, style), soft_wrap=True)

    def end(self) -> None:
        """The run is over, well or not; harmless when none is on."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        elif self._label and self._fresh:
            spent = seconds(self._clock() - self._began)
            self._line(", ".join(part for part in (spent, self._speed()) if part))
        self._label, self._fresh = "", 0

    def _columns(self) -> Progress:
        return Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("{task.fields[speed]}", markup=False),
            TimeRemainingColumn(compact=True),
            console=self._console,
            expand=True,
        )

    def _speed(self) -> str:
        spent = self._clock() - self._began
        return f"{self._tokens / spent:,.0f} tokens/s" if self._tokens and spent > 0 else ""

    def _left(self) -> str:
        spent = self._clock() - self._began
        return f"about {seconds(spent / self._fresh * (self._total - self._done))} left" if self._fresh else ""

    def _line(self, text: str) -> None:
        self.say(f"{self._label}: {self._done:,}/{self._total:,}{f', {text}' if text else ''}")
