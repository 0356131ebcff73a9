"""`shoal frontier`: loss against risk, to choose k, l and t."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.base import interrupt, own_process
from shoal.cli.app import NOT_SATISFIED, command, fail
from shoal.cli.options import Data, Json, PlanFile, Query, RunSeed, Sheet, Table, Threads


@command
def frontier(
    data: Data,
    plan: PlanFile,
    table: Table = None,
    query: Query = None,
    sheet: Sheet = None,
    k: Annotated[
        str | None, typer.Option("--k", metavar="2,5,10", help="Values of k to try.")
    ] = None,
    l_values: Annotated[
        str | None, typer.Option("--l", metavar="2,3", help="Values of l to try.")
    ] = None,
    t: Annotated[
        str | None, typer.Option("--t", metavar="0.1,0.2", help="Values of t to try.")
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL:OPTION=VALUE",
            help="Try each setting with this model in addition, as in "
            "t-closeness:column=disease:t=0.2. May be repeated.",
        ),
    ] = None,
    risk: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Risk to draw the loss against: average or highest (re-identification), or "
            "inference (attacks on sensitive values).",
        ),
    ] = None,
    limits: Annotated[
        bool,
        typer.Option(
            "--limits",
            help="Find the setting that loses least within the \\[limits] of the plan; if they are "
            "about the loss alone, the safest one.",
        ),
    ] = False,
    sample: Annotated[
        int, typer.Option(metavar="PEOPLE", help="Size of the sample that is tried first.")
    ] = 5_000,
    runs: Annotated[int, typer.Option(metavar="N", help="Settings to run on the whole table.")] = 8,
    json_file: Json = None,
    csv: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE", help="Write one line per setting as CSV."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Plot loss against risk (.svg or .png)."),
    ] = None,
    seed: RunSeed = None,
    threads: Threads = None,
) -> None:
    """Show what more protection costs, and recommend a setting. Publishes nothing."""
    with own_process.loading():
        from shoal.cli import several_runs, tables
        from shoal.cli.console import open_console
        from shoal.cli.progress import progress_on
        from shoal.cli.screens.frontier_table import show_frontier
        from shoal.comparing.frontier.points import UnfinishedFrontier
        from shoal.comparing.frontier.search import frontier as run
        from shoal.comparing.frontier.words import models_of, risk_of, values_of

    source = tables.source_of(data, table, query)
    targets = several_runs.Targets(json_file, csv, plot)
    asked = several_runs.prepared(plan, source, targets, sheet, seed, threads)
    console = open_console(json_file)
    with progress_on(console) as progress:
        try:
            result = run(
                source,
                asked,
                k=values_of("k", k),
                l=values_of("l", l_values),
                t=values_of("t", t),
                models=models_of(also),
                risk=risk_of(risk),
                sample=sample,
                runs=runs,
                limits=limits,
                progress=progress,
            )
        except UnfinishedFrontier as stopped:
            interrupt.settle()
            result = stopped.frontier
        several_runs.write_results(result, targets)
    several_runs.show_results(
        console, result, targets, lambda: show_frontier(console, result), "setting"
    )
    if limits and result.chosen is None:
        fail("no setting is within the limits of the plan", NOT_SATISFIED)
