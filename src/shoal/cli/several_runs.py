"""Commands that run several settings on one table and publish nothing: compare and frontier."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from rich.console import Console

from shoal.base import interrupt
from shoal.cli import outputs, tables
from shoal.cli.app import NOT_SATISFIED, fail
from shoal.cli.console import show
from shoal.comparing.comparison import check_plot
from shoal.databases.database import Database
from shoal.io.frames import atomic
from shoal.plan import Plan


class Results(Protocol):
    """What several runs have found."""

    @property
    def holds(self) -> bool:
        """Whether any run has a release."""

    @property
    def finished(self) -> bool:
        """Whether no run was interrupted."""

    def as_dict(self) -> dict[str, Any]:
        """All numbers, by the names of the JSON file."""

    def csv(self) -> str:
        """The runs as the text of a CSV file."""

    def plot(self, path: str | Path) -> None:
        """Plot them to an SVG or PNG file."""


class Targets(NamedTuple):
    """The files that are asked for."""

    json_file: str | None
    csv: Path | None
    plot: Path | None


def prepared(
    plan: Path,
    source: Path | Database,
    targets: Targets,
    sheet: str | None,
    seed: int | None,
    threads: int | None,
) -> Plan:
    """The plan of the runs, after all files were checked."""
    if targets.plot is not None:
        check_plot(targets.plot)
    asked = Plan.load(plan).with_reading(tables.sheet_of(sheet))
    inputs = [*tables.files_of([source]), plan, *asked.files()]
    outputs.check_targets([targets.csv, targets.plot], targets.json_file, inputs)
    if seed is not None:
        asked = asked.with_seed(seed)
    return asked if threads is None else asked.with_threads(threads)


def write_results(results: Results, targets: Targets) -> None:
    """Write the files, unless no run has a release."""
    if not results.holds:
        return
    with ExitStack() as files:  # all of them get their names when all are complete
        outputs.write_json(files, targets.json_file, results.as_dict())
        if targets.csv is not None:
            target = files.enter_context(atomic(targets.csv, private=True))
            target.write_text(results.csv(), encoding="utf-8")
        if targets.plot is not None:
            results.plot(files.enter_context(atomic(targets.plot, private=True)))


def show_results(
    console: Console, results: Results, targets: Targets, draw: Callable[[], None], run: str
) -> None:
    """Show what was found, and end the command if it is not complete; `run` is what a run is."""
    if results.holds:
        outputs.print_json(targets.json_file, results.as_dict())
    show(draw)
    if not results.holds:
        fail(f"no {run} produced a release; nothing was written", NOT_SATISFIED)
    outputs.show_written(console, [targets.csv, targets.plot], targets.json_file)
    if not results.finished:
        fail("interrupted; the results of the finished runs are complete", interrupt.status())
