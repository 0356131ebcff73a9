"""Large tables: what every engine does with a table that is not in memory.

An engine groups the rows, counts what other columns would disclose, and writes the rows of a
release. Which values are published is decided elsewhere, from the groups.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from shoal.algorithms._shared.parts.part_task import MapParts
from shoal.attacks._unchanged import Cells, Elsewhere
from shoal.base.arrays import Longs
from shoal.base.errors import BadFile, BadTable
from shoal.databases.database import Database
from shoal.engines.cells import whole
from shoal.engines.resources import Resources
from shoal.io.frames import Frame
from shoal.io.native.packed_texts import plain_schema
from shoal.table.coded_columns import person_texts

Watch: TypeAlias = Callable[[float], None]  # called with the share that is done


class PersonColumn(NamedTuple):
    """The column that identifies the person of each record."""

    name: str
    missing_values: tuple[str, ...] = ()

    def texts(self, cells: Any) -> pa.Array:
        """A text per record that is the same for the same person; null: nobody is named."""
        return person_texts(cells, self.missing_values)


class ProfileRows(NamedTuple):
    """What people have: a row per record of each profile, in the order of first appearance.

    A profile is a set of records; its number of people is the weight of its rows.
    """

    rows: Frame  # with the number of the profile in the person column; null: nobody is named
    profile: Longs  # int64[rows]
    combination: Longs  # int64[rows], the number of its combination of values, by appearance
    combinations: Frame

    @property
    def item(self) -> Longs:
        """A number per profile and combination of values, int64[rows]."""
        return self.profile * self.combinations.height + self.combination

    def same(self, other: ProfileRows) -> bool:
        """Whether two tables have the same people with the same records."""
        counted, others = self.rows.counted, other.rows.counted
        assert counted is not None
        assert others is not None
        return (
            self.rows.names == other.rows.names
            and all(
                _plain(self.rows.column(name)).equals(_plain(other.rows.column(name)))
                for name in self.rows.names
            )
            and np.array_equal(counted.weight, others.weight)
            and np.array_equal(self.profile, other.profile)
        )


@dataclass(frozen=True, eq=False)
class People:
    """The people of the original, with their records."""

    column: PersonColumn
    profiles: ProfileRows  # of the whole original
    published: Longs  # the rows of profiles that are published, in the order of `Recoded.units`

    def first_alike(self) -> Longs:
        """For each published row the first one of its profile with the same original values."""
        item = self.profiles.item[self.published]
        _, first, place = np.unique(item, return_index=True, return_inverse=True)
        found: Longs = first[place]
        return found

    def of_rows(self, published: Longs) -> Longs:
        """Numbers of the published rows as numbers of all rows of the profiles; -1 for others."""
        found = np.full(self.profiles.rows.height, -1)
        found[self.published] = published
        return found


@dataclass(frozen=True, eq=False)
class Recoded:
    """What is published of each combination of original values."""

    units: Frame  # combinations of original values that are published
    released: Frame  # what is published of each; in the same order
    names: tuple[str, ...]  # the columns of the release
    entropy: tuple[int, ...]  # of the shuffle, and of the numbers of people
    people: People | None = None  # None: each record is one person

    @property
    def others(self) -> list[str]:
        """The columns that are published row by row."""
        own = [] if self.people is None else [self.people.column.name]
        return [name for name in self.names if name not in [*self.released.names, *own]]

    def schema(self, original: pa.Schema) -> pa.Schema:
        """Names and types of the columns of the release of a table of this schema."""
        native = plain_schema(self.released.native.schema)
        if self.people is not None:  # random numbers, whatever the original has
            name = self.people.column.name
            original = original.set(original.get_field_index(name), pa.field(name, pa.int64()))
        fields = [
            native.field(name) if name in self.released.names else original.field(name)
            for name in self.names
        ]
        return pa.schema([pa.field(one.name, one.type) for one in fields], native.metadata)


class LargeTable(ABC):
    """A table that is not in memory, and the engine that works on its rows."""

    engine: ClassVar[str]  # its name in plans
    writes_folders: ClassVar[bool] = False  # of files, next to single files
    schema: pa.Schema  # of the table, as it would be in memory

    @property
    def map_parts(self) -> MapParts | None:
        """Recodes parts of the combinations of values in other processes; None: it does not."""
        return None

    @property
    @abstractmethod
    def sha256(self) -> str | None:
        """Of the file, or of the checksums of all files; None: the table is no file."""

    @property
    @abstractmethod
    def inputs(self) -> Sequence[Path]:
        """The files of the table, as far as they are known and on this machine."""

    @property
    @abstractmethod
    def folder(self) -> Path | None:
        """The folder of which all files are the table; None: it is no folder."""

    @property
    def stored(self) -> Database | None:
        """The table of a database that is read; None: it is none."""
        return None

    @abstractmethod
    def is_served(self, kind: pa.DataType) -> bool:
        """Whether the engine reads and returns cells of this type without any change."""

    @abstractmethod
    def group(self, columns: Sequence[str], watch: Watch) -> Frame:
        """The distinct combinations of values of these columns, each with its number of rows."""

    @abstractmethod
    def alone(
        self,
        units: Frame,
        label: Longs,
        others: Mapping[str, Sequence[str]],
        watch: Watch,
    ) -> dict[str, tuple[int, int]]:
        """Per column: its distinct values, and the rows that have theirs alone in their class.

        `label` is the class of each of the `units`; rows of other combinations are left out.
        `others` has the words for missing of each column.
        """

    @abstractmethod
    def values(self, units: Frame, others: Mapping[str, Sequence[str]], watch: Watch) -> Elsewhere:
        """The values of other columns next to each of the `units`.

        `others` has the words for missing of each column. Columns whose values do not fit into
        memory are left out.
        """

    @abstractmethod
    def write(
        self, recoded: Recoded, target: Path, grouped: Sequence[str], watch: Watch
    ) -> tuple[Frame, str | None]:
        """Write the release to exactly this path and check what was written.

        Returns the distinct combinations of the `grouped` columns that were read back, and the
        SHA-256 of the text if it is one text file.
        """

    def write_table(
        self,
        recoded: Recoded,
        target: Database,
        replace: bool,
        grouped: Sequence[str],
        check: Callable[[Frame], None],
        watch: Watch,
    ) -> str | None:
        """Write the release to a table of a database, which gets its name if `check` lets it.

        `check` gets the distinct combinations of the `grouped` columns that were read back. Returns
        the SHA-256 of the release as a CSV file.
        """
        del recoded, target, replace, grouped, check, watch
        raise BadFile(
            f"engine = {self.engine!r} writes files, not tables of databases; write to a file, or "
            "use engine = 'duckdb' or 'memory'"
        )

    def check_types(self, columns: Sequence[str]) -> None:
        """Raise an error unless the engine returns the cells of these columns unchanged."""
        for name in columns:
            kind = self.schema.field(name).type
            if not self.is_served(kind):
                raise BadTable(
                    f"column {name!r} is of type {kind}, which engine = {self.engine!r} does not "
                    "support; use engine = 'memory', or cast it to text, numbers or dates"
                )


class PeopleTable(LargeTable):
    """A table that is not in memory, and an engine that counts people with several records."""

    @abstractmethod
    def group_people(
        self, columns: Sequence[str], person: PersonColumn, watch: Watch
    ) -> ProfileRows:
        """The distinct sets of records that people have, each with its number of people."""

    @abstractmethod
    def values_of_people(
        self, people: People, others: Mapping[str, Sequence[str]], watch: Watch
    ) -> Elsewhere:
        """The values of other columns next to each of the published rows, person by person.

        People who have the same ones are counted together. `others` has the words for missing of
        each column. Columns whose values do not fit into memory are left out.
        """

    @abstractmethod
    def alone_people(
        self, recoded: Recoded, label: Longs, others: Mapping[str, Sequence[str]], watch: Watch
    ) -> dict[str, tuple[int, int]]:
        """Per column: its distinct values, and the people who are unique by classes and values.

        A person is unique if no other one has records with all of their classes and values.
        `label` is the class of each of the `units`.
        """

    def check_person(self, column: str) -> None:
        """Raise an error unless people can be told apart by the texts of this column."""
        self.check_types([column])
        kind = self.schema.field(column).type
        if pa.types.is_floating(kind):
            raise BadTable(
                f"the person column {column!r} is of type {kind}, which engine = {self.engine!r} "
                "does not support; use engine = 'memory', or cast it to integers or text"
            )


def _plain(cells: Any) -> pa.ChunkedArray:
    """Cells without dictionaries, which may have their values in any order."""
    cells = cells if isinstance(cells, pa.ChunkedArray) else pa.chunked_array([cells])
    return cells.cast(cells.type.value_type) if pa.types.is_dictionary(cells.type) else cells


def read_at_once(
    names: Sequence[str],
    many: Callable[[Sequence[str]], int],
    cells: Callable[[Sequence[str]], Cells],
    resources: Resources,
) -> Elsewhere:
    """Read the columns whose values, all together, fit into memory; `many` counts combinations.

    Of columns whose combinations do not fit, those with most values are left out.
    """
    left = list(names)
    each: dict[str, int] = {}
    while left and not resources.fit_cells(many(left), len(left)):
        each = each or {name: many([name]) for name in names}
        left.remove(max(left, key=lambda name: each[name]))
    out = [name for name in names if name not in left]
    if not left:
        return Elsewhere((), out)
    whole = cells(left)
    found = dict(zip(left, whole.codes, strict=True))
    return Elsewhere(
        left, out, lambda some: replace(whole, codes=tuple(found[name] for name in some))
    )


def hashed_cells(found: pa.Table, person: Longs | None = None) -> Cells:
    """Cells of a table with the columns `id`, `n` and hashes of values, null for missing ones.

    The codes follow the order of the hashes. Two values with the same 64 bits count as one.
    `person` has a number for the people who have each cell.
    """
    codes = []
    for name in found.column_names[2:]:
        hashes = whole(found[name])
        there = hashes.is_valid().to_numpy(zero_copy_only=False)
        number = np.full(len(hashes), -1, np.int32)
        _, place = np.unique(hashes.drop_null().to_numpy(), return_inverse=True)
        number[there] = place
        codes.append(number)
    row, many = (found[name].to_numpy().astype(np.int64) for name in ("id", "n"))
    return Cells(row, tuple(codes), many, person)


def changed(what: str) -> BadFile:
    """The error for a table that differs when it is read again."""
    return BadFile(
        f"{what} was changed while it was read: its rows are not those that were counted before; "
        "nothing is released. Run again when nothing writes to it"
    )
