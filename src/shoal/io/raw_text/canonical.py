"""Canonical cells: numbers as 1234.5 and dates as 2024-05-17, converted once per distinct value."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.base.errors import BadTable, preview
from shoal.base.wording import many
from shoal.io.compact import ArrowColumn
from shoal.io.raw_text.spelling import Form, Spelled, Spelling


@dataclass(frozen=True)
class SpelledColumn:
    """How a column is spelled, and its texts that are neither numbers nor dates."""

    spelling: Spelling
    missing: frozenset[str] = frozenset()  # words that mean missing
    labels: Callable[[], Collection[str]] = frozenset  # that a hierarchy publishes

    def read(self, cell: str) -> Spelled:
        """A cell in canonical form."""
        if cell in self.missing or cell.strip() in self.missing:
            return Spelled(cell, Form.EITHER)
        return self.spelling.read(cell)


@dataclass
class Canonical:
    """Turns the columns of one table into canonical text, the whole table or part by part."""

    columns: Mapping[str, SpelledColumn]
    # Rows per form so far: a column has one form, as 1.234 may be two different numbers.
    rows: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)

    def column(self, name: str, cells: ArrowColumn, before: int = 0) -> ArrowColumn:
        """A column in canonical form; one that is not text has it already.

        `before` is the number of rows of earlier parts.
        """
        kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
        if name not in self.columns or not (
            pa.types.is_string(kind) or pa.types.is_large_string(kind)
        ):
            return cells
        column = self.columns[name]
        codes, texts = _coded(cells)
        read = [column.read(text) for text in texts]
        forms = np.array([one.form for one in read], np.int8)
        if (forms == Form.BAD).any():
            labels = column.labels()
            for i in np.flatnonzero(forms == Form.BAD):
                if texts[i] in labels or texts[i].strip() in labels:
                    forms[i] = Form.CANONICAL
        self._check(name, column, forms, codes, before)
        new = pa.array([one.text for one in read], pa.large_string())
        found = new.take(pa.array(codes, mask=codes < 0))
        return (found if kind == cells.type else found.dictionary_encode()).cast(cells.type)

    def _check(
        self,
        name: str,
        column: SpelledColumn,
        forms: np.ndarray[Any, Any],
        codes: np.ndarray[Any, Any],
        before: int,
    ) -> None:
        """Raise an error for cells that do not fit, and for columns of two forms."""
        of_row = np.append(forms, np.int8(Form.EITHER))[codes]
        rows = np.bincount(of_row, minlength=4)
        stated = column.spelling.described
        if rows[Form.BAD]:
            where = _where(of_row == Form.BAD, before)
            raise BadTable(
                f"column {name!r} is stated to have {stated}, and "
                f"{many(int(rows[Form.BAD]), 'row')} ({where}) cannot be read in that form; "
                "correct the cells, state another form in the plan, or list the words that mean "
                "missing under missing_values"
            )
        total = self.rows[name] = self.rows.get(name, 0) + rows
        if total[Form.SPELLED] and total[Form.CANONICAL]:
            form = Form.SPELLED if rows[Form.SPELLED] <= rows[Form.CANONICAL] else Form.CANONICAL
            form = form if rows[form] else Form(3 - form)
            other = "is" if rows[form] == 1 else "are"
            other += "" if form == Form.SPELLED else " not"
            raise BadTable(
                f"column {name!r} has two forms: {many(int(rows[form]), 'row')} "
                f"({_where(of_row == form, before)}) {other} written as {stated}, unlike others; "
                "one of them would be read wrongly: write all cells in one form"
            )


def _where(rows: np.ndarray[Any, Any], before: int) -> str:
    return preview((np.flatnonzero(rows) + 1 + before).tolist())


def _coded(cells: ArrowColumn) -> tuple[np.ndarray[Any, Any], list[str]]:
    """The number of the text of each cell, -1 for missing ones, and the distinct texts."""
    if isinstance(cells, pa.ChunkedArray):
        if pa.types.is_dictionary(cells.type):
            cells = cells.unify_dictionaries()
        elif cells.type == pa.string():
            cells = cells.cast(pa.large_string())  # all chunks together may be long
        cells = cells.combine_chunks()
    if isinstance(cells, pa.ChunkedArray):  # without a chunk, or with several that do not fit
        cells = pa.concat_arrays([*cells.chunks, pa.array([], cells.type)])
    coded = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return codes, coded.dictionary.to_pylist()
