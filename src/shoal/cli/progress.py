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
from shoal.base.progress import Progress, Timing, described, found_by
from shoal.kernels import on_compiling

# Seconds until the first line, and between two lines, where no bar can be drawn.
FIRST, INTERVAL = 2.0, 5.0
WRITTEN = (
    "The release is written. Ctrl-C now ends only the proof of a lower bound, and the bound so far "
    "is kept."
)
KEEPS = (
    "Ctrl-C: the best that was found so far is verified and published. Ctrl-C again ends the "
    "command without a release."
)
COMPILING = "Compiling kernels (first run only, about 30 s) …"


@contextmanager
def progress_on(console: Console) -> Iterator[Progress]:
    """Report progress on standard error, with a message when kernels are compiled."""
    screen = console if console.stderr else Console(stderr=True)
    with _drawn(screen) as draw, on_compiling(lambda: screen.print(COMPILING)):
        acknowledged = False

        def report(stage: str, share: float) -> None:
            nonlocal acknowledged
            interrupt.check()
            if interrupt.settled() and not acknowledged:
                acknowledged = True
                if stage != "bounding":  # otherwise the release is written already
                    screen.print(KEEPS, markup=False)
            draw(stage, share)

        yield report


def telling_it_is_written(progress: Progress) -> Progress:
    """The same progress after a release was written: says so once it may take minutes more.

    That is as soon as the linear program of high effort reports a bound. Before that there is none
    that could be kept.
    """
    told = False

    def report(stage: str, share: float) -> None:
        nonlocal told
        if stage == "bounding" and found_by(stage) and not told:
            told = True
            Console(stderr=True).print(WRITTEN, markup=False)
        progress(stage, share)

    return report


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
                tasks[stage] = bars.add_task(described(stage), total=total, left="")
            left, name = timing.left.removeprefix(", "), described(stage)
            bars.update(tasks[stage], completed=timing.share, left=left, description=name)

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
            console.print(f"{described(stage)}: {done}", markup=False)

    return report
