"""The rows of a run, read from its files: which ones, in which order, one page at a time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.arrays import Longs
from shoal.base.errors import ShoalError
from shoal.hierarchies.values import text
from shoal.studio.tasks.look._files import (
    AFTER,
    BEFORE,
    CELLS,
    CLASS,
    LOSS,
    LOST,
    PERSON,
    PLACE,
    mapped,
    read_summary,
)

PAGE = 50  # rows that are sent at once
LONGEST = 200  # characters of a cell
OFFERED = 200  # published values of a column that are offered
ORDERS = ("original", "most", "least", "class")
ONLY = ("all", "suppressed", "generalized", "unchanged")


@dataclass(frozen=True)
class Asked:
    """Which rows are to be shown; the first page is 1."""

    page: int = 1
    order: str = "original"
    only: str = "all"
    class_: int | None = None  # counted from the smallest, which is 1
    attacker: int = 0  # whose classes
    column: str = ""  # with this published value
    value: str = ""
    person: int | None = None
    row: int | None = None  # the row that the page should have, if it is among them

    @property
    def key(self) -> tuple[Any, ...]:
        """What decides which rows there are, and their order."""
        return (self.order, self.only, self.class_, self.attacker, self.column, self.value,
                self.person)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A record of the original, and what is published of it."""

    number: int  # in the original, from 1
    before: tuple[str | None, ...]  # by the columns of the page; None is missing
    after: tuple[str | None, ...]  # of those that are published; empty: the record is suppressed
    lost: tuple[int | None, ...]  # percent; None: no quasi-identifier
    loss: int  # percent, of all quasi-identifiers together
    class_: int | None  # None: suppressed, or there are no classes
    person: int | None  # None: each record is one person


@dataclass(frozen=True)
class RowPage:
    """One page of rows."""

    rows: tuple[Row, ...]
    found: int  # rows that were asked for
    page: int
    pages: int
    values: tuple[str, ...]  # published values of the chosen column, to choose from


class LookView:
    """The files of a run, mapped into memory: only the pages that are looked at are read."""

    def __init__(self, folder: Path) -> None:
        summary = read_summary(folder)
        if summary is None or not summary["has_rows"]:
            raise ShoalError("the rows of this run are not kept any more; run its plan again")
        self.summary: dict[str, Any] = summary
        self.columns: list[dict[str, Any]] = summary["columns"]
        self._before, self._after = mapped(folder / BEFORE), mapped(folder / AFTER)
        self._cells = mapped(folder / CELLS)
        self._orders: dict[tuple[Any, ...], Longs] = {}

    def cells(self, name: str) -> np.ndarray[Any, Any] | None:
        """What is known of each record, by its name; None: it is not known."""
        if name not in self._cells.column_names:
            return None
        column = self._cells[name]
        found: np.ndarray[Any, Any] = (
            column.chunk(0) if column.num_chunks == 1 else column
        ).to_numpy()
        return found

    def page(self, asked: Asked) -> RowPage:
        """One page of the rows that are asked for; beyond the last one, that one."""
        rows = self.rows(asked)
        pages = max(1, -(-len(rows) // PAGE))
        page = min(max(asked.page, 1), pages)
        if asked.row is not None and len(at := np.flatnonzero(rows == asked.row - 1)):
            page = 1 + int(at[0]) // PAGE
        shown = rows[(page - 1) * PAGE : page * PAGE].tolist()
        made = tuple(self._row(one, asked.attacker) for one in shown)
        return RowPage(made, len(rows), page, pages, self._values(asked.column))

    def row(self, number: int, attacker: int = 0) -> Row:
        """One record by its number in the original, from 1."""
        if not 1 <= number <= self._before.num_rows:
            raise ShoalError(
                f"there is no row {number}: the rows of the original are 1 to "
                f"{self._before.num_rows}"
            )
        return self._row(number - 1, attacker)

    def rows(self, asked: Asked) -> Longs:
        """The rows that are asked for, in their order; int64[found]."""
        if asked.key not in self._orders:
            if len(self._orders) > 3:  # each has as many numbers as there are rows
                self._orders.clear()
            self._orders[asked.key] = self._ordered(asked, self._chosen(asked))
        return self._orders[asked.key]

    def _chosen(self, asked: Asked) -> Longs:
        place, loss = self.cells(PLACE), self.cells(LOSS)
        assert place is not None
        assert loss is not None
        there = np.ones(len(place), np.bool_)
        if asked.only == "suppressed":
            there &= place < 0
        elif asked.only == "generalized":
            there &= (place >= 0) & (loss > 0)
        elif asked.only == "unchanged":
            there &= (place >= 0) & (loss <= 0)
        if asked.class_ is not None:
            number = self.cells(f"{CLASS}{asked.attacker}")
            there &= False if number is None else number == asked.class_
        if asked.person is not None:
            person = self.cells(PERSON)
            there &= False if person is None else person == asked.person - 1
        if asked.column and asked.value:
            there &= self._published(asked.column, asked.value)[place]
        return np.flatnonzero(there)

    def _published(self, name: str, value: str) -> np.ndarray[Any, Any]:
        """Which rows of the release have a value, and False at the end for suppressed ones."""
        if name not in self._after.column_names:
            raise ShoalError(f"no published column is called {name!r}")
        found = [
            np.asarray(_is(chunk, value).to_numpy(zero_copy_only=False), np.bool_)
            for chunk in self._after[name].chunks
        ]
        return np.concatenate([*found, np.zeros(1, np.bool_)])

    def _ordered(self, asked: Asked, rows: Longs) -> Longs:
        loss = self.cells(LOSS)
        assert loss is not None
        if asked.order == "most":
            return rows[np.argsort(-loss[rows], kind="stable")]
        if asked.order == "least":
            return rows[np.argsort(loss[rows], kind="stable")]
        number = self.cells(f"{CLASS}{asked.attacker}")
        if asked.order == "class" and number is not None:  # suppressed ones last
            return rows[np.argsort((number[rows].astype(np.int64) - 1) % 2**32, kind="stable")]
        return rows

    def _row(self, i: int, attacker: int) -> Row:
        place = int(self._cells[PLACE][i].as_py())
        there = place >= 0
        names = self._cells.column_names
        class_ = f"{CLASS}{attacker}"
        return Row(
            number=i + 1,
            before=tuple(_cell(self._before[one["name"]][i]) for one in self.columns),
            after=tuple(
                _cell(self._after[one["name"]][place])
                for one in self.columns
                if there and one["published"]
            ),
            lost=tuple(
                None if one["quasi"] is None else self._cells[f"{LOST}{one['quasi']}"][i].as_py()
                for one in self.columns
            ),
            loss=_percent(float(self._cells[LOSS][i].as_py())),
            class_=self._cells[class_][i].as_py() if there and class_ in names else None,
            person=1 + self._cells[PERSON][i].as_py() if PERSON in names else None,
        )

    def _values(self, name: str) -> tuple[str, ...]:
        """The most frequent published values of a column."""
        if not name or name not in self._after.column_names:
            return ()
        counted = self._after[name].value_counts()
        order = pc.array_sort_indices(counted.field("counts"), order="descending")
        some = counted.field("values").take(order[:OFFERED])
        return tuple(sorted(cell for one in some if (cell := _cell(one)) is not None))


def _percent(share: float) -> int:
    return 0 if share <= 0 else 100 if share >= 1 else min(max(round(100 * share), 1), 99)


def _cell(scalar: Any) -> str | None:
    """A cell as text; None: it is missing."""
    value = scalar.as_py()
    if value is None:
        return None
    shown = text(value)
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]} …"


def _is(chunk: pa.Array, value: str) -> pa.BooleanArray:
    """Which cells have this text."""
    packed = pa.types.is_dictionary(chunk.type)
    words = chunk.dictionary if packed else chunk.unique()
    cells = chunk.indices if packed else chunk
    same = [i for i, one in enumerate(words) if _cell(one) == value]
    wanted = pa.array(same, cells.type) if packed else words.take(pa.array(same, pa.int64()))
    return pc.is_in(cells, value_set=wanted)
