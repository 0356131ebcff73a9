"""`shoal draft`: propose a plan for a table."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from shoal.base import own_process
from shoal.cli.app import command
from shoal.cli.options import (
    Comment,
    Data,
    Delimiter,
    Encoding,
    Format,
    HeaderRow,
    LastRow,
    NoHeader,
    Query,
    Sheet,
    Table,
)


@command
def draft(
    data: Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write the plan to.")],
    table: Table = None,
    query: Query = None,
    form: Format = None,
    sheet: Sheet = None,
    header_row: HeaderRow = None,
    last_row: LastRow = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    no_header: NoHeader = False,
    comment: Comment = None,
    dictionary: Annotated[
        Path | None,
        typer.Option(
            help="Data dictionary: a table with the columns column, label, role and codes "
            "(1=male; 2=female). Its roles are kept."
        ),
    ] = None,
    levels: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write a level table with all values for each quasi-identifier without a "
            "hierarchy, for you to group them.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
) -> None:
    """Propose a plan: roles and hierarchies are guessed from the table. Edit it before use."""
    with own_process.loading():
        from shoal.base.errors import BadFile
        from shoal.cli import outputs, tables
        from shoal.cli.console import open_console, print_plain
        from shoal.cli.plan_table import show_ranking, show_roles
        from shoal.cli.progress import progress_on
        from shoal.flow.draft.draft import propose
        from shoal.flow.draft.level_tables import (
            check_files,
            level_files,
            make_folder,
            write_levels,
        )
        from shoal.io.frames import check_writable

    reading = tables.reading_of(
        sheet, encoding, delimiter, no_header, comment, header_row, last_row
    )
    source = tables.source_of(data, table, query, form=form)
    read = [*tables.files_of([source]), *([dictionary] if dictionary else [])]
    outputs.check_distinct(out, read)
    if out.exists() and not force:
        raise BadFile(f"{out} exists already, perhaps with your edits; --force overwrites it")
    check_writable(out)
    console = open_console()
    with progress_on(console) as progress:
        progress("read", 0.0)
        proposed = propose(source, dictionary, reading, progress)
    plan = proposed.plan
    if levels is not None:
        files = level_files(proposed, levels)
        for path in files.values():
            outputs.check_distinct(path, [*read, out])
        make_folder(levels)
        check_files(files, force)
        plan = write_levels(proposed, files)
    plan.save(out)
    show_roles(console, plan)
    show_ranking(console, proposed.ranking)
    given = quote(data) + tables.options_of(table, query, form)
    print_plain(
        console,
        f"written: {out}\nThese are guesses. Check each of them, edit the file, then run\n"
        f"  shoal anonymize {given} --plan {quote(str(out))} --out {tables.release_name(data)} "
        "--report report.html",
    )
