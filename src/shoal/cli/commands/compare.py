"""`shoal compare`: several algorithms on one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.base import interrupt, own_process
from shoal.cli.app import NOT_SATISFIED, command, fail
from shoal.cli.options import Data, Json, PlanFile, Query, Table, Threads


@command
def compare(
    data: Data,
    plan: PlanFile,
    table: Table = None,
    query: Query = None,
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
    seed: Annotated[
        int | None, typer.Option(help="Random seed; the same seed gives the same results.")
    ] = None,
    threads: Threads = None,
) -> None:
    """Compare algorithms, values of k and guiding losses on one table. Publishes nothing."""
    from contextlib import ExitStack

    with own_process.loading():
        from shoal.cli import outputs, tables
        from shoal.cli.comparison_table import show_comparison
        from shoal.cli.console import open_console, show
        from shoal.cli.progress import progress_on
        from shoal.comparing.compare import compare as run
        from shoal.comparing.compare import from_words
        from shoal.comparing.comparison import Unfinished, check_plot
        from shoal.io.frames import atomic
        from shoal.plan import Plan

    if plot is not None:
        check_plot(plot)
    asked = Plan.load(plan)
    source = tables.source_of(data, table, query)
    inputs = [*tables.files_of([source]), plan, *asked.files()]
    outputs.check_targets([csv, plot], json_file, inputs)
    if seed is not None:
        asked = asked.with_seed(seed)
    if threads is not None:
        asked = asked.with_threads(threads)
    wanted = from_words(k, algorithms, losses)
    console = open_console(json_file)
    with progress_on(console) as progress:
        try:
            result = run(source, asked, **wanted, limit=limit, progress=progress)
        except Unfinished as stopped:
            interrupt.settle()
            result = stopped.comparison
        with ExitStack() as files:  # all files get their names when all of them are complete
            if result.holds:
                outputs.write_json(files, json_file, result.as_dict())
                if csv is not None:
                    target = files.enter_context(atomic(csv, private=True))
                    target.write_text(result.csv(), encoding="utf-8")
                if plot is not None:
                    result.plot(files.enter_context(atomic(plot, private=True)))
    if result.holds:
        outputs.print_json(json_file, result.as_dict())
    show(lambda: show_comparison(console, result))
    if not result.holds:
        fail("no run produced a release; nothing was written", NOT_SATISFIED)
    outputs.show_written(console, [csv, plot], json_file)
    if not result.finished:
        fail("interrupted; the results of the finished runs are complete", interrupt.status())
