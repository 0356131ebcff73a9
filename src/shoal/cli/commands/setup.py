"""`shoal setup`: ask about a table, column by column, and write the plan."""

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
def setup(
    data: Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write the plan to.")] = Path(
        "plan.toml"
    ),
    answers: Annotated[
        Path | None,
        typer.Option(help="Take the answers from this file, and ask nothing."),
    ] = None,
    save_answers: Annotated[
        Path | None,
        typer.Option(help="Write the answers to this file, to repeat them with --answers."),
    ] = None,
    dictionary: Annotated[
        Path | None,
        typer.Option(help="Data dictionary: a table with the columns column, label, role, codes."),
    ] = None,
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
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
) -> None:
    """Ask plain questions about each column, and write the plan that follows from the answers."""
    with own_process.loading():
        from shoal.base.errors import BadFile, BadPlan
        from shoal.cli import outputs, tables
        from shoal.cli.console import ask, open_console, print_plain, say, show_notes
        from shoal.cli.plan_table import show_roles
        from shoal.cli.progress import progress_on
        from shoal.flow.draft.draft import examine
        from shoal.flow.setup import answers as given
        from shoal.flow.setup.dialogue import Dialogue
        from shoal.io.frames import check_writable
        from shoal.io.raw_text.standard_streams import STREAM

    if data == STREAM and answers is None:
        raise BadPlan(
            "standard input is the table, so nobody can answer there; save the table to a file, or "
            "take the answers from a file (--answers)"
        )
    reading = tables.reading_of(
        sheet, encoding, delimiter, no_header, comment, header_row, last_row
    )
    source = tables.source_of(data, table, query, form=form)
    read = [*tables.files_of([source]), *(path for path in (answers, dictionary) if path)]
    targets = [out, *([save_answers] if save_answers else [])]
    for i, target in enumerate(targets):
        outputs.check_distinct(target, [*read, *targets[:i]])
        if target.exists() and not force:
            raise BadFile(f"{target} exists already; --force overwrites it")
        check_writable(target)
    console = open_console()
    decided = None if answers is None else given.read_answers(answers)
    with progress_on(console) as progress:
        progress("read", 0.0)
        examined = examine(source, dictionary, reading, progress)
        dialogue = Dialogue(examined, ask, say, progress) if decided is None else None
    if dialogue is not None:
        draft, decided = dialogue.run()
    else:
        assert decided is not None
        draft = given.plan_of(examined, decided)
        show_roles(console, draft.plan)
        if left := given.defaulted(examined, decided):
            show_notes(console, [f"no answers for {', '.join(left)}: the draft decided"])
    given.save(draft.plan, out, decided, save_answers)
    given_words = quote(data) + tables.options_of(table, query, form)
    print_plain(
        console,
        f"written: {', '.join(map(str, targets))}\nNow run\n"
        f"  shoal anonymize {given_words} --plan {quote(str(out))} --out "
        f"{tables.release_name(data)} --report report.html",
    )
