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
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars

from shoal.base import interrupt
from shoal.base.progress import Progress
from shoal.kernels import on_compiling

INTERVAL = 5.0  # seconds between two lines where no bar can be drawn
COMPILING = "Compiling kernels (first run only, about 30 s) …"
# What a stage does with the user's data. A stage that is not here is printed as it is.
STAGES = {
    "read": "reading",
    "encode": "encoding",
    "recode": "finding groups",
    "trying": "trying algorithms on a sample",
    "merging": "finding groups",
    "peeling": "finding groups",
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
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as bars:
        tasks: dict[str, Any] = {}

        def report(stage: str, share: float) -> None:
            for known, task in tasks.items():
                bars.update(task, visible=known == stage)
            if stage not in tasks:
                total = 1.0 if stage not in ("read", "recode") else None
                tasks[stage] = bars.add_task(STAGES.get(stage, stage), total=total)
            bars.update(tasks[stage], completed=share)

        yield report


def _lines(console: Console) -> Progress:
    """A callback that prints a line every few seconds."""
    last = monotonic()
    began: dict[str, float] = {}

    def report(stage: str, share: float) -> None:
        nonlocal last
        now = monotonic()
        began.setdefault(stage, now)
        if now - last > INTERVAL:
            last = now
            left = time_left(now - began[stage], share)
            console.print(f"{STAGES.get(stage, stage)}: {100 * share:.0f} %{left}", markup=False)

    return report


def time_left(spent: float, share: float) -> str:
    """The time that a stage still needs, as a line of a log says it; nothing if not known yet.

    >>> time_left(30, 0.25), time_left(600, 0.1), time_left(5, 0.0)
    (', about 90 s left', ', about 90 min left', '')
    """
    if not 0 < share < 1 or spent <= 0:
        return ""
    seconds = spent * (1 - share) / share
    return (
        f", about {seconds:.0f} s left" if seconds < 120 else f", about {seconds / 60:.0f} min left"
    )
