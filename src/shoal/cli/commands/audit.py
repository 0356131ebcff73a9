"""`shoal audit`: measure a table as it is."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from shoal.base import own_process
from shoal.cli.app import NOT_SATISFIED, command
from shoal.cli.options import (
    AuditEngine,
    Format,
    Json,
    LargeData,
    OriginalSheet,
    PlanFile,
    PopulationSheet,
    Query,
    Sheet,
    Table,
    Target,
    Threads,
)


@command
def audit(
    data: LargeData,
    plan: PlanFile,
    table: Table = None,
    query: Query = None,
    form: Format = None,
    sheet: Sheet = None,
    original: Annotated[
        str | None,
        typer.Option(help="Original table that DATA was made from, to measure information loss."),
    ] = None,
    original_table: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Table to read, if --original is a database."),
    ] = None,
    original_sheet: OriginalSheet = None,
    sensitive: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Second table of an anatomy: DATA has its quasi-identifiers, FILE the sensitive "
            "values of each group. Both are audited together.",
        ),
    ] = None,
    population: Annotated[
        Path | None,
        typer.Option(help="Table of the population that the people in DATA belong to."),
    ] = None,
    population_sheet: PopulationSheet = None,
    target: Target = None,
    row: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Show what an attacker sees of a record of DATA (the first is 1), who it could "
            "be, and what would tell them apart. Do not publish it.",
        ),
    ] = None,
    class_: Annotated[
        int | None,
        typer.Option("--class", metavar="N", help="The same for a class; 1 is the smallest."),
    ] = None,
    json_file: Json = None,
    record_risks: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the risk of each record of DATA as CSV, with those in the population and "
            "the scores of special uniques if they are measured. Do not publish it.",
        ),
    ] = None,
    special_uniques: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Find the records that are unique on N quasi-identifiers or fewer (SUDA), and the "
            "risk of each set of so many.",
        ),
    ] = None,
    threads: Threads = None,
    engine: AuditEngine = None,
) -> None:
    """Measure a table as it is: which requirements it satisfies, and how high the risks are."""
    from contextlib import ExitStack

    with own_process.loading():
        from shoal.base.errors import BadPlan
        from shoal.cli import outputs, tables
        from shoal.cli.audit_tables import show_audit
        from shoal.cli.audit_two_files import audit_two_files
        from shoal.cli.console import open_console, show
        from shoal.cli.progress import progress_on
        from shoal.cli.screens.attacker_screen import check_view, show_view
        from shoal.databases.database import Database
        from shoal.flow.audit import audit as run
        from shoal.io.frames import atomic
        from shoal.plan import Plan

    asked = Plan.load(plan)
    if threads is not None:
        asked = asked.with_threads(threads)
    if engine not in (None, "memory", "spark"):
        raise BadPlan(f"an audit runs with --engine memory or spark, got {engine!r}")
    on_spark = engine == "spark"
    memory_only = (population, record_risks, special_uniques)
    if on_spark and any(one is not None for one in memory_only):
        raise BadPlan(
            "--engine spark does not support --population, --record-risks and --special-uniques; "
            "remove them, or use --engine memory"
        )
    check_view(row, class_)
    if sensitive is not None:
        others = {
            "--population": population,
            "--target": target,
            "--row": row,
            "--class": class_,
            "--record-risks": record_risks,
            "--special-uniques": special_uniques,
            "--engine": engine,
            "--table": table,
            "--query": query,
            "--original-sheet": original_sheet,
        }
        if wrong := [name for name, value in others.items() if value is not None]:
            raise BadPlan(f"an audit of an anatomy (--sensitive) does not support {wrong[0]}")
        if not audit_two_files(
            tables.source_of(data, form=form), sensitive, plan, original, sheet, json_file
        ):
            raise typer.Exit(NOT_SATISFIED)
        return
    tables.check_streams(data, original)
    source = tables.source_of(data, table, query, form=form)
    before = None
    if original is not None:
        before = tables.source_of(original, original_table, options="--original-table", form=form)
    inputs = [*tables.files_of([source, before, population]), plan, *asked.files()]
    outputs.check_targets([record_risks], json_file, inputs)
    console = open_console(json_file)
    with progress_on(console) as progress:
        progress("read", 0.0)
        if on_spark:
            from shoal.flow.on_spark import audit_on_spark  # PySpark is seldom needed

            result = audit_on_spark(
                source, asked.with_reading(tables.sheet_of(sheet)), before, progress, target
            )
        else:
            # Risks are about single records, which a database does not transfer for an audit.
            single = record_risks is not None or special_uniques is not None
            given = source.read() if single and isinstance(source, Database) else source
            result = run(
                given,
                asked,
                original=before,
                population=population,
                read=tables.sheet_of(sheet),
                original_read=tables.sheet_of(original_sheet),
                population_read=tables.sheet_of(population_sheet),
                target=target,
                special_uniques=special_uniques,
                progress=progress,
            )
    found = []
    if row is not None or class_ is not None:
        found.append(result.attacker_view(row=row, class_=class_, first=1))
        rest = [name for name in result.attackers if name != found[0].attacker]
        found += [
            result.attacker_view(row=row, class_=class_, first=1, attacker=name) for name in rest
        ]
    numbers = {} if json_file is None else result.as_dict()
    if json_file is not None and found:
        numbers["attacker_view"] = found[0].as_dict()
        if len(found) > 1:
            numbers["attacker_views"] = {view.attacker: view.as_dict() for view in found}
    with ExitStack() as files:
        outputs.write_json(files, json_file, numbers)
        if record_risks is not None:
            measured = result.record_table()
            numbers_of_rows = enumerate(zip(*measured.values(), strict=True), 1)
            lines = (f"{n},{','.join(map(_written, one))}\n" for n, one in numbers_of_rows)
            file = files.enter_context(atomic(record_risks, private=True))
            head = ",".join(["row", *measured]) + "\n"
            file.write_text(head + "".join(lines), encoding="utf-8")
    outputs.print_json(json_file, numbers)
    show(lambda: show_audit(console, result))
    for view in found:
        show(partial(show_view, console, view, row, class_))
    if not result.holds:
        raise typer.Exit(NOT_SATISFIED)


def _written(value: float) -> str:
    """A number with six digits, or with all of those before the point."""
    return f"{value:.0f}" if value >= 1e5 else f"{value:.6g}"
