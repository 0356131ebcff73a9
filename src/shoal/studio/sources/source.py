"""Sources: the file or the table of a database that a project is about, as it is stored.

A source is a dictionary: `kind` is "file" with a `path`, or "database" with an `address` and a
`table` or a `query`. `uploaded` says that the file is a copy of ours, and `invented` that we can
make it again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from shoal.base.errors import BadFile
from shoal.databases.address import scheme_of
from shoal.databases.kind import file_of, is_address, kind_of
from shoal.io.format import format_of, formats
from shoal.io.sources import is_file
from shoal.studio.invented import write_invented

Source = dict[str, Any]


def of_file(path: Path, uploaded: bool = False) -> Source:
    """A file of any format that we read; a file of a database needs the name of a table later."""
    more = {"uploaded": True} if uploaded else {}
    if is_address(path):
        return {"kind": "database", "address": str(path), "table": None, "query": None, **more}
    format_of(path)
    return {"kind": "file", "path": str(path), **more}


def of_database(address: str, table: str | None, query: str | None) -> Source:
    """A table or a query of a database; raises an error for a password in its address.

    The path of a file is stored in full: the studio may be started elsewhere next time.
    """
    kind = kind_of(address)
    file = file_of(address)
    if file is not None:
        if not is_file(file):
            raise BadFile(f"there is no file {file}; an address has four slashes before /data/…")
        whole = file.resolve()
        scheme = scheme_of(address)
        address = f"{kind.schemes[0]}:///{quote(str(whole))}" if scheme else str(whole)
    return {"kind": "database", "address": address, "table": table or None, "query": query or None}


def known_source(stored: Source) -> Source:
    """A source as it was stored, also by an earlier version."""
    if stored["kind"] == "upload":
        return {**stored, "kind": "file", "uploaded": True}
    return stored


def of_invented(path: Path) -> Source:
    """The invented table, in this file."""
    return {"kind": "file", "path": str(path), "uploaded": True, "invented": True}


def title_of(address: str, table: str | None) -> str:
    """What a table of a database is called.

    >>> title_of("postgresql://ann@host/clinic?sslmode=require", None)
    'clinic'
    """
    return table or Path(address.partition("?")[0]).name or address


def file_of_source(source: Source) -> Path | None:
    """The file of a source; None: it is on a server."""
    if source["kind"] == "database":
        return file_of(source["address"])
    return Path(source["path"])


def is_gone(source: Source) -> bool:
    """Whether a copy of ours was removed."""
    path = file_of_source(source)
    return bool(source.get("uploaded")) and path is not None and not path.exists()


def restored(source: Source) -> None:
    """Make a copy again that was removed, if we can."""
    if source.get("invented") and is_gone(source):
        write_invented(Path(source["path"]))


def same(one: Source, other: Source) -> bool:
    """Whether two sources are the same table."""
    keys = ("kind", "path", "address", "table", "query")
    return [one.get(key) for key in keys] == [other.get(key) for key in keys]


def where(source: Source) -> str:
    """Where the table is, for a list of tables; "" for copies, whose place says nothing."""
    if source.get("uploaded"):
        return str(source.get("table") or "")
    if source["kind"] == "database":
        return f"{source['address']} · {source.get('table') or '…'}"
    return str(Path(source["path"]).parent)


def has_layout(source: Source) -> set[str]:
    """The settings of [read] that matter for a source: those of text files, or of sheets."""
    if source["kind"] == "database":
        return {"table"}
    form = format_of(Path(source["path"]))
    if not form.keeps_types:
        return {"encoding", "delimiter", "quote", "header", "comment"}
    if form.name == formats["xlsx"].name:
        return {"sheet", "header", "header_row", "last_row"}
    return {"encoding"} if form.name in ("spss", "stata", "sas") else set()
