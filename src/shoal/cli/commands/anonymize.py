"""`shoal anonymize`: from a table and a plan to a verified release."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from shoal.base import own_process
from shoal.cli.app import command
from shoal.cli.options import (
    Codebook,
    Effort,
    Engine,
    Format,
    Json,
    KeepOrder,
    LargeData,
    LargeOut,
    MemoryLimit,
    OutTable,
    Parts,
    PlanFile,
    Query,
    RefusedReport,
    Replace,
    Report,
    Seconds,
    Seed,
    Sheet,
    Table,
    Target,
    TempDirectory,
    Threads,
)


@command
def anonymize(
    data: LargeData,
    plan: PlanFile,
    out: LargeOut,
    table: Table = None,
    query: Query = None,
    form: Format = None,
    sheet: Sheet = None,
    out_table: OutTable = None,
    replace: Replace = False,
    json_file: Json = None,
    report: Report = None,
    refused_report: RefusedReport = None,
    codebook: Codebook = None,
    recoding: Annotated[
        Path | None,
        typer.Option(help="Save the recoding, so that `shoal apply` can reuse it on new records."),
    ] = None,
    explain: Annotated[
        bool | None,
        typer.Option(
            "--explain/--no-explain",
            help="Show which requirement forced each generalization (one extra run per "
            "requirement; by default only for fast runs with --report).",
        ),
    ] = None,
    target: Target = None,
    seed: Seed = None,
    effort: Effort = None,
    seconds: Seconds = None,
    keep_order: KeepOrder = False,
    engine: Engine = None,
    memory_limit: MemoryLimit = None,
    temp_directory: TempDirectory = None,
    threads: Threads = None,
    parts: Parts = None,
) -> None:
    """Generalize a table until it satisfies every requirement of the plan, verify it, write it."""
    with own_process.loading():
        from shoal.base.errors import BadPlan
        from shoal.cli import outputs, tables
        from shoal.cli.console import open_console, show
        from shoal.cli.progress import progress_on
        from shoal.cli.release_tables import show_release
        from shoal.flow.anonymize import anonymize as run
        from shoal.flow.choose_engine import choose_engine
        from shoal.io.frames import check_target
        from shoal.io.raw_text.standard_streams import STREAM
        from shoal.measures.analyses.learning import check_installed, check_role
        from shoal.plan import Plan
        from shoal.plan.algorithm_options import with_options
        from shoal.report.codebook import check_codebook
        from shoal.report.pdf import check_report
        from shoal.table.written.form import check_file_names

    asked = Plan.load(plan).with_reading(tables.sheet_of(sheet))
    tables.check_streams(out, json_file)
    source = tables.source_of(data, table, query, form=form)
    place = tables.target_of(out, out_table, replace, source, form)
    on_spark = (engine or asked.engine) == "spark"
    if isinstance(place, Path):
        check_target(place, folders=on_spark)
    elif on_spark:
        raise BadPlan(
            "engine = 'spark' writes files, not tables of databases; write to a file, or use "
            "engine = 'duckdb' or 'memory'"
        )
    inputs = [*tables.files_of([source]), plan, *asked.files()]
    check_report(report)
    outputs.check_refused_report(refused_report)
    outputs.check_targets([place, report, recoding, codebook, refused_report], json_file, inputs)
    given = {
        "seed": seed,
        "threads": threads,
        "engine": engine,
        "memory": memory_limit,
        "parts": int(parts) if parts and re.fullmatch("-?[0-9]{1,18}", parts) else parts,
        "temp_directory": None if temp_directory is None else str(temp_directory),
    }
    asked = asked.changed(**{key: value for key, value in given.items() if value is not None})
    asked = with_options(asked, {"effort": effort, "seconds": seconds})
    if target is not None:
        check_role(asked.columns, target)
        check_installed()
    if isinstance(place, Path):
        check_file_names(place, asked.columns, asked.write)
    if codebook is not None:
        check_codebook(codebook, choose_engine(source, asked, keep_order).name)
    console = open_console(json_file, out)
    with progress_on(console) as progress:
        with outputs.telling_why(refused_report):
            release = run(source, asked, keep_order=keep_order or None, progress=progress)
        outputs.write_release(
            release,
            place,
            report,
            json_file,
            progress,
            recoding,
            explain,
            replace,
            codebook,
            target,
            is_stream=out == STREAM,
        )
    written = outputs.passed_on(out, place)
    show(lambda: show_release(console, release))
    outputs.show_written(console, [written, report, recoding, codebook], json_file)
