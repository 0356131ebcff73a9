"""`shoal anatomy`: quasi-identifiers and sensitive values in two files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.base import own_process
from shoal.cli.app import command
from shoal.cli.options import Data, Format, Json, PlanFile, Query, Sheet, Table


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
    json_file: Json = None,
) -> None:
    """Publish exact quasi-identifiers in one file and sensitive values in another, by groups."""
    with own_process.loading():
        from contextlib import ExitStack

        from shoal.base.wording import many, number, percent
        from shoal.cli import outputs, tables
        from shoal.cli.console import new_table, open_console, print_tables, show_notes
        from shoal.cli.progress import progress_on
        from shoal.flow.anatomy.anatomize import anatomize
        from shoal.io.frames import check_target
        from shoal.plan import Plan

    source = tables.source_of(data, table, query, form=form)
    check_target(out)
    check_target(out_sensitive)
    asked = Plan.load(plan)
    inputs = [*tables.files_of([source]), plan, *asked.files()]
    outputs.check_targets([out, out_sensitive], json_file, inputs)
    console = open_console(json_file)
    with progress_on(console) as progress:
        made = anatomize(source, asked, read=tables.sheet_of(sheet), progress=progress)
    content = made.as_dict()
    with ExitStack() as files:
        outputs.write_json(files, json_file, content)
        made.save(out, out_sensitive)
    outputs.print_json(json_file, content)

    def measured():  # type: ignore[no-untyped-def]
        shown = new_table("Anatomy", "measured", "")
        rows = many(made.quasi_identifiers.num_rows, "record")
        shown.add_row("records and groups", f"{rows}, {many(made.groups, 'group')}")
        for check in made.checks:
            shown.add_row(check.key, f"{number(check.reached)} ({check.asked})")
        attacks = made.attacks
        shown.add_row("surest guess of a sensitive value", percent(100 * attacks.surest))
        shown.add_row("the same on average over people", percent(100 * attacks.average))
        shown.add_row("people with unique quasi-identifiers", percent(100 * attacks.unique))
        error = f"{made.reconstruction_error:.4f}"
        if made.lowest_error is not None:
            error += f" (at least {made.lowest_error:.4f})"
        shown.add_row("reconstruction error", error)
        return shown

    print_tables(console, measured)
    show_notes(console, made.notes)
    outputs.show_written(console, [out, out_sensitive], json_file)
