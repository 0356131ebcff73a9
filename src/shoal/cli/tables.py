"""Tables that commands read and write: files, or tables of databases."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from shoal.base.errors import BadPlan, did_you_mean
from shoal.databases.database import Database
from shoal.databases.kind import is_address
from shoal.databases.writing import check_out
from shoal.io.format import format_of, formats
from shoal.io.raw_text.standard_streams import STREAM, held_back, spooled
from shoal.io.reading import Reading


def source_of(
    data: str,
    table: str | None = None,
    query: str | None = None,
    options: str = "--table or --query",
    form: str | None = None,
) -> Path | Database:
    """The table that a command reads; `form` is its format if it is standard input."""
    if is_address(data):
        return Database(data, table, query=query)
    if table is not None or query is not None:
        raise BadPlan(f"{options} is for databases, and {data} is a file; remove it")
    return spooled(_ending(form)) if data == STREAM else Path(data)


def target_of(
    out: str,
    table: str | None,
    replace: bool,
    source: Path | Database,
    form: str | None = None,
) -> Path | Database:
    """Where a command writes its release; a table of a database is checked here."""
    if is_address(out):
        target = Database(out, table)
        check_out(target, replace, source)
        return target
    if table is not None or replace:
        raise BadPlan(f"--out-table and --replace are for databases, and {out} is a file")
    return held_back(_ending(form)) if out == STREAM else Path(out)


def reading_of(
    sheet: str | None,
    encoding: str | None = None,
    delimiter: str | None = None,
    no_header: bool = False,
    comment: str | None = None,
    header_row: int | None = None,
    last_row: int | None = None,
) -> Reading:
    """How options say that a file is read; a drafted plan states it."""
    return Reading(
        sheet=sheet,
        encoding=encoding,
        delimiter="\t" if delimiter == "tab" else delimiter,
        header=not no_header,
        comment=comment,
        header_row=header_row,
        last_row=last_row,
    )


def sheet_of(sheet: str | None) -> dict[str, str] | None:
    """What an option says about how a file is read; None: as the plan states it."""
    return None if sheet is None else {"sheet": sheet}


def check_streams(*given: str | None) -> None:
    """Raise an error if standard input or standard output is named twice."""
    if given.count(STREAM) > 1:
        raise BadPlan(f"{STREAM} can be given once only: there is one standard input and output")


def _ending(form: str | None) -> str:
    """The ending of the files of a format."""
    name = form or "csv"
    if name not in formats:
        raise BadPlan(
            f"no format {name!r}{did_you_mean(name, formats)}; --format is one of "
            f"{', '.join(formats)}"
        )
    return formats[name].endings[0]


def files_of(sources: Sequence[Path | Database | None]) -> list[Path]:
    """The files that are read or written; a server has none."""
    found = [one.file if isinstance(one, Database) else one for one in sources]
    return [file for file in found if file is not None]


def release_name(data: str) -> str:
    """A name for the release of a table: in the same format, if that can be written.

    >>> release_name("people.csv.gz"), release_name("survey.sav"), release_name("people.ods")
    ('release.csv', 'release.sav', 'release.xlsx')
    """
    if is_address(data) or data == STREAM or Path(data).is_dir():
        return "release.csv"
    form = format_of(Path(data))
    ending = next(one for one in reversed(Path(data).suffixes) if one.lower() in form.endings)
    return f"release{form.endings[0] if ending.lower() in form.reads_only else ending.lower()}"


def options_of(table: str | None, query: str | None, form: str | None = None) -> str:
    """The options that say what is read, as a shell has them."""
    given = {"--table": table, "--query": query, "--format": form}
    return "".join(f" {name} {quote(value)}" for name, value in given.items() if value is not None)
