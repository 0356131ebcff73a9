"""Kinds of databases: their interface, and the kind of an address.

The kinds are in the folder `kinds`, one per file. None of these modules imports a driver before a
database is opened.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from shoal.base.errors import BadFile, BadTable, preview
from shoal.base.folder_registry import FolderRegistry
from shoal.databases.address import check_address, is_foreign, path_of, scheme_of

if TYPE_CHECKING:
    import pyarrow as pa


class Selected(NamedTuple):
    """A column of a table or query."""

    name: str
    sql: str  # reads its cells, as text where the type has no other form in memory
    key: str  # tells apart what are different cells in memory, for GROUP BY
    kind: pa.DataType | None = None  # None: that of the driver


class Allowed(NamedTuple):
    """What a database that is a file may use on this machine."""

    memory: int  # bytes
    folder: Path | None = None  # for temporary files; None: that of the system


class Session(ABC):
    """An open database, in one transaction: all that is read belongs together.

    Errors of drivers contain values; `Kind.opened` turns them into messages without any.
    """

    output: ClassVar[dict[pa.DataType, str]]  # types of new columns, in SQL; text is one of them
    picky: ClassVar[tuple[pa.DataType, ...]] = ()  # types of which some cells cannot be stored
    longest: ClassVar[int | None] = None  # bytes of a name

    @abstractmethod
    def tables(self) -> list[str]:
        """The names of the tables and views, as a user would write them."""

    @abstractmethod
    def find(self, name: str) -> str | None:
        """A table in SQL by its name, which may have a schema in front of it; None: no such one."""

    @abstractmethod
    def names(self, relation: str) -> list[str]:
        """The names of the columns of a table in SQL, or of a query in parentheses."""

    @abstractmethod
    def columns(self, relation: str) -> list[Selected]:
        """The same columns, with their types; refuses what has no form."""

    @abstractmethod
    def estimate(self, relation: str) -> int:
        """About how many rows there are; 0 if that is not known without running a query."""

    @abstractmethod
    def batches(
        self, sql: str, columns: Sequence[Selected] = (), any_order: bool = False
    ) -> Iterator[pa.RecordBatch]:
        """The rows of a query part by part, at least one part; it can be interrupted.

        The first columns of the query are these. The rows of a table come in the order in which
        they are stored, unless any order will do.
        """

    @abstractmethod
    def identity(self, table: str) -> tuple[object, ...]:
        """The same for the same table (in SQL), whatever the address that leads to it."""

    @abstractmethod
    def check_replaceable(self, name: str, table: str) -> None:
        """Raise an error if it is known already that a table cannot be replaced.

        `name` is what the user calls it, `table` the same in SQL. Nothing is committed afterwards.
        """

    @abstractmethod
    def create(self, name: str, like: str, schema: pa.Schema) -> str:
        """Create a table of a new name in the schema of the table `like`, and return it in SQL."""

    @abstractmethod
    def append(self, table: str, rows: pa.Table) -> None:
        """Add rows to a created table, after those that it has."""

    def keeps(self, cells: pa.ChunkedArray) -> bool:  # noqa: ARG002
        """Whether these cells, which are of a type of `picky`, can be read back unchanged."""
        return True

    def check_cells(self, table: pa.Table) -> None:  # noqa: B027
        """Raise an error for cells that the database cannot store."""

    @abstractmethod
    def in_order(self, table: str) -> str:
        """The clause of a query that gives the rows in the order in which they were written."""

    def rename(self, table: str, name: str, replace: str | None) -> None:
        """Give a created table its name; `replace` is dropped in the same transaction."""
        if replace is not None:
            self.run(f"DROP TABLE {replace}")
        self.run(f"ALTER TABLE {table} RENAME TO {quoted_name(split_name(name)[-1])}")

    @abstractmethod
    def run(self, sql: str) -> None:
        """Run a statement that returns nothing; it can be interrupted."""

    @abstractmethod
    def commit(self) -> None:
        """End the transaction: all that it has changed becomes visible at once."""


class Kind(ABC):
    """A kind of database: how its addresses begin, and how it is opened."""

    name: ClassVar[str]
    schemes: ClassVar[tuple[str, ...]]
    endings: ClassVar[tuple[str, ...]] = ()  # of its files; (): it is a server

    @abstractmethod
    def opened(
        self, address: str, write: bool, allowed: Allowed | None = None
    ) -> AbstractContextManager[Session]:
        """Open a database; without `write` nothing in it can change.

        What was not committed at the end is undone. A server has its own memory and disk.
        """


kinds = FolderRegistry("shoal.databases.kinds", Kind)  # type: ignore[type-abstract]


def is_address(source: object) -> bool:
    """Whether a source is an address, or the file of a database by its ending.

    >>> is_address("sqlite:///a.db"), is_address(Path("a.duckdb")), is_address("a.csv")
    (True, True, False)
    """
    return bool(scheme_of(source)) or is_foreign(source) or _by_ending(source) is not None


def kind_of(address: str) -> Kind:
    """The kind of an address; raise an error for unknown ones, and for a password."""
    if is_foreign(address):  # the message must not repeat it
        raise BadFile(
            f"this is a connection string of another kind; an address is written "
            f"{', '.join(_forms())}. It must not contain a password: if this one does, change it"
        )
    found = _by_ending(address)
    if not scheme_of(address):
        if found is None:
            raise BadFile(
                f"{address} is no address of a database, which is written {', '.join(_forms())}"
            )
        return found
    known = {scheme: kind for kind in kinds.values() for scheme in kind.schemes}
    check_address(address, list(known))
    return known[scheme_of(address)]()


def file_of(address: str) -> Path | None:
    """The file of a database; None for the address of a server."""
    if not kind_of(address).endings:
        return None
    return path_of(address) if scheme_of(address) else Path(address)


def _forms() -> list[str]:
    return [f"{kind.schemes[0]}://{'/…' if kind.endings else '…'}" for kind in kinds.values()]


def _by_ending(source: object) -> Kind | None:
    if not isinstance(source, str | Path) or scheme_of(source):
        return None
    ending = Path(source).suffix.lower()
    return next((kind() for kind in kinds.values() if ending in kind.endings), None)


def quoted_name(name: str) -> str:
    """A name in SQL.

    >>> quoted_name('the "best" people')
    '"the ""best"" people"'
    """
    return '"' + name.replace('"', '""') + '"'


def split_name(name: str) -> tuple[str, ...]:
    """The schema and the name of a table; a name in double quotes may contain a dot.

    >>> split_name("clinic.people"), split_name('"a.b"'), split_name('clinic."a.b"')
    (('clinic', 'people'), ('a.b',), ('clinic', 'a.b'))
    """
    parts, rest = [], name
    while rest:
        if rest.startswith('"') and '"' in rest[1:]:
            part, _, rest = rest[1:].partition('"')
            if rest and not rest.startswith("."):
                raise BadTable(f"a table is written NAME or SCHEMA.NAME, got {name!r}")
        else:
            part, dot, rest = rest.partition(".")
            rest = dot + rest
        parts.append(part)
        rest = rest.removeprefix(".") if rest != "." else '""'
    if not 1 <= len(parts) <= 2 or not all(parts):
        raise BadTable(f"a table is written NAME or SCHEMA.NAME, got {name!r}")
    return tuple(parts)


def not_a_table(name: str) -> BadFile:
    """The error for a target that is a view or something else."""
    return BadFile(
        f"cannot replace {name}: it is not a table; drop it first, or write to a table of another "
        "name"
    )


def check_letter_case(names: Sequence[str], database: str) -> None:
    """Raise an error for columns that differ in letter case only.

    SQLite and DuckDB would read the first one of them twice.
    """
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise BadTable(
                f"the columns {other!r} and {name!r} differ in letter case only, which does not "
                f"matter to {database}; rename one of them (in a query with AS)"
            )


def refuse_types(odd: Sequence[tuple[str, str]], database: str) -> None:
    """Raise an error for columns, each with its type, whose cells have no form in memory."""
    if odd:
        names = preview(name for name, _ in odd)
        types = ", ".join(sorted({kind for _, kind in odd}))
        raise BadTable(
            f"cannot read the columns {names} of {database}, which are of type {types}; leave them "
            "out or cast them to text, with a query instead of the table (--query)"
        )
