"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.io.format import known_endings

DATABASES = "postgresql://user@host/database, sqlite:///people.db or duckdb:///people.duckdb"
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help=f"Table to read: {known_endings()}; - for standard input; or a database: {DATABASES}.",
    ),
]
LargeData = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help=f"Table to read: {known_endings()}; a folder of such files, which are one table; - "
        f"for standard input; or a database: {DATABASES}.",
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="Format of standard input and output (-), as in csv, tsv or parquet (default: csv).",
    ),
]
Table = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Table or view to read, if DATA is a database."),
]
Query = Annotated[
    str | None,
    typer.Option(metavar="SQL", help="Query to read, if DATA is a database; it can only read."),
]
OutTable = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Table to write, if --out is a database."),
]
Replace = Annotated[
    bool,
    typer.Option("--replace", help="Replace the table of this name in a database."),
]
Sheet = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Sheet to read, if DATA is a spreadsheet with several."),
]
OriginalSheet = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Sheet to read, if --original is a spreadsheet."),
]
PopulationSheet = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Sheet to read, if --population is a spreadsheet."),
]
Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Encoding of a text file, if it is not found by itself."),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        metavar="SIGN", help="What separates the fields of a text file: , or ; or tab, for example."
    ),
]
NoHeader = Annotated[
    bool,
    typer.Option(
        "--no-header", help="The first line of the file is a record: columns are numbered."
    ),
]
HeaderRow = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Row of a sheet with the names of the columns, if titles above it are not found.",
    ),
]
LastRow = Annotated[
    int | None,
    typer.Option(metavar="N", help="Last row of the table in a sheet, if notes follow it."),
]
Comment = Annotated[
    str | None,
    typer.Option(metavar="SIGN", help="Leave out the lines of a text file that begin with it."),
]
PlanFile = Annotated[Path, typer.Option("--plan", help="Plan: a TOML file.")]
Out = Annotated[
    str,
    typer.Option(
        "--out",
        "-o",
        help="File, or database with --out-table, to write to; - for standard output.",
    ),
]
LargeOut = Annotated[
    str,
    typer.Option(
        "--out",
        "-o",
        help="File to write the release to; - for standard output; or a database with --out-table; "
        "with Spark, a name without an ending is a folder.",
    ),
]
Report = Annotated[
    Path | None,
    typer.Option(
        help="Write a report for the approver to this file: .html, or .pdf where a browser or "
        "WeasyPrint is installed. Do not publish it."
    ),
]
RefusedReport = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="If a limit of the plan is exceeded, write why to this file (.html, .pdf or .json); "
        "the release itself is not written.",
    ),
]
Codebook = Annotated[
    Path | None,
    typer.Option(
        help="Write a codebook for readers of the release (.html, .csv or .json). It may be "
        "published."
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Train models that predict this column, on the release and on the original, and "
        "compare them (needs shoal\\[learning]).",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(help="Random seed for repeatable experiments; omit it for a real release."),
]
Threads = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Number of threads; by default one per available core. The result does not change.",
    ),
]
RunSeed = Annotated[
    int | None, typer.Option(help="Random seed; the same seed gives the same results.")
]
Effort = Annotated[
    str | None,
    typer.Option(
        metavar="WORD",
        help="quick, normal or high: how long `peel` searches for a release that loses less.",
    ),
]
Seconds = Annotated[
    float | None,
    typer.Option(
        metavar="N",
        help="Let `peel` improve the release for N seconds; Ctrl-C ends that and keeps the best "
        "so far. Not reproducible: use --effort high for that.",
    ),
]
Parts = Annotated[
    str | None,
    typer.Option(
        metavar="auto|N",
        help="Cut the table into N parts that are recoded one by one, which takes less memory and "
        "may lose slightly more (default: as many as the memory limit requires; a large table also "
        "for threads, where that loses hardly anything).",
    ),
]
KeepOrder = Annotated[
    bool,
    typer.Option("--keep-order", help="Do not shuffle the records. The order may identify people."),
]
Engine = Annotated[
    str | None,
    typer.Option(
        metavar="auto|memory|duckdb|spark",
        help="What groups and writes the records: memory, DuckDB for tables larger than memory, or "
        "Spark for tables larger than a machine (default: memory or DuckDB, by the size of the "
        "table).",
    ),
]
AuditEngine = Annotated[
    str | None,
    typer.Option(
        metavar="memory|spark",
        help="What counts the records: memory, or Spark for tables larger than a machine.",
    ),
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Memory for DuckDB, and for the groups that are recoded, as in 2GB "
        "(default: half of the machine's).",
    ),
]
TempDirectory = Annotated[
    Path | None,
    typer.Option(help="Directory for DuckDB's temporary files (default: next to the input)."),
]
Json = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE", help="Write all numbers as JSON; - prints them."),
]
