"""`shoal apply`: publish new records by the recoding of an earlier release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.base import own_process
from shoal.cli.app import command
from shoal.cli.options import (
    Codebook,
    Data,
    Format,
    Json,
    KeepOrder,
    Out,
    OutTable,
    Query,
    RefusedReport,
    Replace,
    Report,
    Seed,
    Sheet,
    Table,
)


@command
def apply(
    data: Data,
    recoding: Annotated[
        Path, typer.Option("--recoding", help="File that `shoal anonymize --recoding` wrote.")
    ],
    out: Out,
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
    most_left_out: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Fail if more than this share of the records is suppressed; 0.05 is 5 %.",
        ),
    ] = None,
    drop_extra: Annotated[
        bool, typer.Option("--drop-extra", help="Drop columns that the recoding does not know.")
    ] = False,
    seed: Seed = None,
    keep_order: KeepOrder = False,
) -> None:
    """Publish new records by the recoding of an earlier release, and verify the requirements."""
    with own_process.loading():
        from shoal.cli import outputs, tables
        from shoal.cli.console import open_console, show
        from shoal.cli.progress import progress_on
        from shoal.cli.release_tables import show_release
        from shoal.flow.apply.fitted import Fitted
        from shoal.io.frames import check_target
        from shoal.report.codebook import check_codebook
        from shoal.report.pdf import check_report
        from shoal.table.written.form import check_file_names

    if codebook is not None:
        check_codebook(codebook)
    check_report(report)
    outputs.check_refused_report(refused_report)
    tables.check_streams(out, json_file)
    source = tables.source_of(data, table, query, form=form)
    target = tables.target_of(out, out_table, replace, source, form)
    if isinstance(target, Path):
        check_target(target)
    fitted = Fitted.load(recoding)
    if isinstance(target, Path):
        check_file_names(target, fitted.plan.columns, fitted.plan.write)
    inputs = [*tables.files_of([source]), recoding]
    outputs.check_targets([target, report, codebook, refused_report], json_file, inputs)
    console = open_console(json_file, out)
    with progress_on(console) as progress:
        with outputs.telling_why(refused_report):
            release = fitted.apply(
                source,
                read=tables.sheet_of(sheet),
                seed=seed,
                keep_order=keep_order or None,
                drop_extra=drop_extra,
                most_left_out=most_left_out,
                progress=progress,
            )
        outputs.write_release(
            release, target, report, json_file, progress, replace=replace, codebook=codebook
        )
    written = outputs.passed_on(out, target)
    show(lambda: show_release(console, release))
    outputs.show_written(console, [written, report, codebook], json_file)
