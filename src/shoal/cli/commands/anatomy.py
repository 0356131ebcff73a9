"""`shoal anatomy`: quasi-identifiers and sensitive values in two files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.base import own_process
from shoal.cli.app import command
from shoal.cli.options import Data, Format, Json, PlanFile, Query, Report, Sheet, Table


@command
def anatomy(
    data: Data,
    plan: PlanFile,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="File for the quasi-identifiers, one row per record."),
    ],
    out_sensitive: Annotated[
        Path,
        typer.Option("--out-sensitive", help="File for the sensitive values of each group."),
    ],
    table: Table = None,
    query: Query = None,
    form: Format = None,
    sheet: Sheet = None,
    compare: Annotated[
        bool,
        typer.Option(
            "--compare",
            help="Also make a generalized release with the same requirements, and compare how "
            "well both answer counting queries.",
        ),
    ] = False,
    report: Report = None,
    json_file: Json = None,
) -> None:
    """Publish exact quasi-identifiers in one file and sensitive values in another, by groups."""
    with own_process.loading():
        from contextlib import ExitStack

        from shoal.cli import outputs, tables
        from shoal.cli.console import open_console, show
        from shoal.cli.progress import progress_on
        from shoal.cli.screens.anatomy_table import show_anatomy
        from shoal.flow.anatomy.anatomize import anatomize
        from shoal.io.frames import atomic, check_target
        from shoal.plan import Plan
        from shoal.report.pdf import check_report

    source = tables.source_of(data, table, query, form=form)
    check_target(out)
    check_target(out_sensitive)
    asked = Plan.load(plan)
    inputs = [*tables.files_of([source]), plan, *asked.files()]
    check_report(report)
    outputs.check_targets([out, out_sensitive, report], json_file, inputs)
    console = open_console(json_file)
    with progress_on(console) as progress:
        reading = tables.sheet_of(sheet)
        made = anatomize(source, asked, read=reading, compare=compare, progress=progress)
    content = made.as_dict()
    with ExitStack() as files:
        outputs.write_json(files, json_file, content)
        if report is not None:
            made.report(files.enter_context(atomic(report, private=True)))
        made.save(out, out_sensitive)
    outputs.print_json(json_file, content)

    show(lambda: show_anatomy(console, made))
    outputs.show_written(console, [out, out_sensitive, report], json_file)
