"""`shoal compare`: several algorithms on one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.base import interrupt, own_process
from shoal.cli.app import command
from shoal.cli.options import Data, Json, PlanFile, Query, RunSeed, Sheet, Table, Threads


@command
def compare(
    data: Data,
    plan: PlanFile,
    table: Table = None,
    query: Query = None,
    sheet: Sheet = None,
    k: Annotated[
        str | None,
        typer.Option("--k", metavar="2,5,10", help="Values of k; by default that of the plan."),
    ] = None,
    algorithms: Annotated[
        str | None,
        typer.Option(
            metavar="gaa,gaa:weight=unit,…",
            help="Algorithms, optionally with options; by default all that support the plan.",
        ),
    ] = None,
    losses: Annotated[
        str | None,
        typer.Option(metavar="nllm,ncp", help="Guiding losses; by default that of the plan."),
    ] = None,
    json_file: Json = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write one line per run as CSV.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Plot loss and time against k (.svg or .png)."),
    ] = None,
    limit: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Stop a run that takes longer.")
    ] = None,
    seed: RunSeed = None,
    threads: Threads = None,
) -> None:
    """Compare algorithms, values of k and guiding losses on one table. Publishes nothing."""
    with own_process.loading():
        from shoal.cli import several_runs, tables
        from shoal.cli.console import open_console
        from shoal.cli.progress import progress_on
        from shoal.cli.screens.comparison_table import show_comparison
        from shoal.comparing.compare import compare as run
        from shoal.comparing.compare import from_words
        from shoal.comparing.comparison import Unfinished

    source = tables.source_of(data, table, query)
    targets = several_runs.Targets(json_file, csv, plot)
    asked = several_runs.prepared(plan, source, targets, sheet, seed, threads)
    wanted = from_words(k, algorithms, losses)
    console = open_console(json_file)
    with progress_on(console) as progress:
        try:
            result = run(source, asked, **wanted, limit=limit, progress=progress)
        except Unfinished as stopped:
            interrupt.settle()
            result = stopped.comparison
        several_runs.write_results(result, targets)
    several_runs.show_results(
        console, result, targets, lambda: show_comparison(console, result), "run"
    )
