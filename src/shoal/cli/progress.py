"""Progress of a command: a bar with the time left, or lines in a log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import Progress as Bars

from shoal.base import interrupt
from shoal.base.progress import Progress
from shoal.kernels import on_compiling

# Seconds until the first line, and between two lines, where no bar can be drawn.
FIRST, INTERVAL = 2.0, 5.0
# Before that, the time left is not shown: it was 806 minutes in the first second of a short run.
EVIDENCE_SECONDS, EVIDENCE_SHARE = 3.0, 0.05
COMPILING = "Compiling kernels (first run only, about 30 s) …"
# What a stage does with the user's data. A stage that is not here is printed as it is.
STAGES = {
    "read": "reading",
    "encode": "encoding",
    "compile": "compiling kernels (first run only)",
    "recode": "finding groups",
    "trying": "trying algorithms on a sample",
    "merging": "finding groups",
    "peeling": "finding groups",
    "choosing cuts": "choosing where to cut the table",
    "recoding parts": "finding groups, part by part",
    "exchanging between parts": "improving groups",
    "cutting": "finding groups",
    "clustering": "finding groups",
    "growing trees": "finding groups",
    "filling clusters": "finding groups",
    "joining clusters": "finding groups",
    "joining the rest": "assigning the remaining records",
    "settling": "assigning the remaining people",
    "moving records": "improving groups",
    "repairing classes": "improving groups",
    "merging classes": "improving groups",
    "exchanging": "improving groups",
    "making diverse": "mixing sensitive values",
    "diversifying": "mixing sensitive values",
    "lifting": "generalizing columns",
    "descending the lattice": "generalizing columns",
    "searching the lattice": "searching for the best levels",
    "expanding": "generalizing each record",
    "tossing": "randomizing each record",
    "covering": "generalizing each record",
    "concealing": "concealing each record",
    "decode": "building the release",
    "group": "counting equal records",
    "known": "counting values of other columns",
    "write": "writing",
    "verify": "checking the result",
    "attack": "attacking the result",
    "sampling": "attacking the result: sampling matchings",
    "explain": "finding what forced each generalization",
    "bounding": "proving a lower bound on the loss",
    "placing": "matching new records with the recoding",
    "requirements": "suppressing records that violate a requirement",
}


class Timing:
    """How long each stage has taken, and how much of it is done.

    The time between two reports belongs to the stage of the first: compiling in the middle of a
    stage does not count as its work.
    """

    def __init__(self) -> None:
        self.stage = ""
        self._since = monotonic()
        self._spent: dict[str, float] = {}
        self._share: dict[str, float] = {}

    def report(self, stage: str, share: float) -> bool:
        """Note a report; False if there is nothing to show.

        A step may be reported as complete after the stages inside it: the screen does not go back
        to it. A falling share begins a new round of the same stage, if it begins at 0.
        """
        now = monotonic()
        if self.stage:
            self._spent[self.stage] = self._spent.get(self.stage, 0.0) + now - self._since
        self._since = now
        if share >= 1 and self.stage and stage != self.stage:
            return False
        if share <= 0:
            self._spent[stage] = self._share[stage] = 0.0
        self.stage = stage
        self._share[stage] = max(share, self._share.get(stage, 0.0))
        return True

    @property
    def share(self) -> float:
        """The share of the current stage that is done."""
        return self._share.get(self.stage, 0.0)

    @property
    def left(self) -> str:
        """The time that the current stage still needs, in words; empty if it is not known."""
        return time_left(self._spent.get(self.stage, 0.0), self.share)


@contextmanager
def progress_on(console: Console) -> Iterator[Progress]:
    """Report progress on standard error, with a message when kernels are compiled."""
    screen = console if console.stderr else Console(stderr=True)
    with _drawn(screen) as draw, on_compiling(lambda: screen.print(COMPILING)):

        def report(stage: str, share: float) -> None:
            interrupt.check()
            draw(stage, share)

        yield report


@contextmanager
def _drawn(console: Console) -> Iterator[Progress]:
    """A callback that draws a bar, which disappears at the end; in a log it prints lines."""
    if not console.is_terminal:
        yield _lines(console)
        return
    with Bars(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
        console=console,
        transient=True,
    ) as bars:
        timing = Timing()
        tasks: dict[str, Any] = {}

        def report(stage: str, share: float) -> None:
            if not timing.report(stage, share):
                return
            for known, task in tasks.items():
                bars.update(task, visible=known == stage)
            if stage not in tasks:
                total = 1.0 if stage not in ("read", "recode") else None
                name = STAGES.get(stage, stage)
                tasks[stage] = bars.add_task(name, total=total, left="")
            left = timing.left.removeprefix(", ")
            bars.update(tasks[stage], completed=timing.share, left=left)

        yield report


def _lines(console: Console) -> Progress:
    """A callback that prints a line every few seconds."""
    timing = Timing()
    last = monotonic() - INTERVAL + FIRST

    def report(stage: str, share: float) -> None:
        nonlocal last
        if not timing.report(stage, share):
            return
        now = monotonic()
        if now - last > INTERVAL:
            last = now
            done = f"{100 * timing.share:.0f} %{timing.left}"
            console.print(f"{STAGES.get(stage, stage)}: {done}", markup=False)

    return report


def time_left(spent: float, share: float) -> str:
    """The time that a stage still needs, as a line of a log says it; nothing if not known yet.

    The first moments of a stage say little about the rest.

    >>> time_left(30, 0.25), time_left(600, 0.1), time_left(5, 0.0), time_left(1, 0.001)
    (', about 90 s left', ', about 90 min left', '', '')
    """
    if not EVIDENCE_SHARE <= share < 1 or spent < EVIDENCE_SECONDS:
        return ""
    seconds = spent * (1 - share) / share
    return (
        f", about {seconds:.0f} s left" if seconds < 120 else f", about {seconds / 60:.0f} min left"
    )
