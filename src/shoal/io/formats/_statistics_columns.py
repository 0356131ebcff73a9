"""The columns of a table as files of SPSS, Stata and SAS store them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.errors import BadFile, preview
from shoal.io.formats._numbers import as_floats
from shoal.io.formats._statistics_reading import FIRST, LAST
from shoal.io.labels import Labels, labels_of, published
from shoal.io.text_writing import as_text


class Program(NamedTuple):
    """What a program can store."""

    name: str
    names: str  # a regular expression of the names of columns
    allowed: str  # the same in words
    longest_name: int  # in bytes
    reserved: Collection[str]  # names that are words of its language
    longest_text: int  # in bytes
    keeps_spaces: bool  # whether spaces at the end of text are kept
    holds: Callable[[npt.NDArray[np.float64]], npt.NDArray[np.bool_]]  # which floats


class Variable(NamedTuple):
    """A column to write."""

    name: str
    kind: str  # "number", "date", "moment" or "text"
    numbers: npt.NDArray[np.float64]  # [n]; dates and moments in milliseconds since 1970; NaN
    texts: npt.NDArray[np.bytes_]  # [n], if it is text
    labels: Labels  # only those of values that occur

    @property
    def width(self) -> int:
        """Bytes of the longest text, at least one."""
        return max(self.texts.dtype.itemsize, 1)

    @property
    def is_whole(self) -> bool:
        """Whether all numbers are whole."""
        there = self.numbers[~np.isnan(self.numbers)]
        return bool((there == np.trunc(there)).all())


def variables(table: pa.Table, program: Program) -> list[Variable]:
    """The columns of a table; what a program would round or misread becomes text."""
    _check_names(table.column_names, program)
    return [_variable(table[field.name], field, program) for field in table.schema]


def _check_names(names: list[str], program: Program) -> None:
    wrong = [
        name
        for name in names
        if not re.fullmatch(program.names, name)
        or len(name.encode()) > program.longest_name
        or name.lower() in program.reserved
    ]
    if wrong:
        raise BadFile(
            f"{program.name} cannot store columns of the names {preview(wrong)}: a name has up to "
            f"{program.longest_name} bytes, {program.allowed}; rename them or write another format"
        )
    seen: dict[str, str] = {}
    twins = [name for name in names if seen.setdefault(name.lower(), name) != name]
    if twins:
        raise BadFile(
            f"{program.name} does not distinguish {preview(twins)} from columns whose names differ "
            "in capital letters only; rename them or write another format"
        )


def _variable(values: Any, field: pa.Field, program: Program) -> Variable:
    name, labels = field.name, published(labels_of(field), values)
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    none = np.zeros(0, "S1")
    floats = as_floats(values)
    if floats is not None:
        numbers = _plain(floats)
        if program.holds(numbers[~np.isnan(numbers)]).all():
            return Variable(name, "number", numbers, none, labels)
    moments = _moments(values)
    if moments is not None:
        numbers = _plain(moments.cast(pa.float64(), safe=False))
        days = bool((numbers[~np.isnan(numbers)] % 86_400_000 == 0).all())
        is_date = pa.types.is_date(values.type) or (days and len(values) > values.null_count)
        return Variable(name, "date" if is_date else "moment", numbers, none, labels)
    return Variable(name, "text", np.zeros(0), _texts(as_text(values, name), name, program), labels)


def _plain(floats: Any) -> npt.NDArray[np.float64]:
    return np.asarray(floats.fill_null(np.nan).to_numpy(), np.float64)


def _moments(values: Any) -> Any:
    """Milliseconds since 1970; None if the column is not of dates, or if they are finer."""
    kind = values.type
    if not pa.types.is_date(kind) and not (pa.types.is_timestamp(kind) and kind.tz is None):
        return None
    try:
        found = values.cast(pa.timestamp("ms")).cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    ends = pc.min_max(found)
    if len(values) > values.null_count and not (
        ends["min"].as_py() >= FIRST and ends["max"].as_py() <= LAST
    ):
        return None
    return found


def _texts(values: Any, name: str, program: Program) -> npt.NDArray[np.bytes_]:
    """Text in UTF-8; missing text is empty."""
    column = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    coded = column.fill_null("").combine_chunks().dictionary_encode()
    entries = [text.encode() for text in coded.dictionary.to_pylist()]
    longest = max(map(len, entries), default=0)
    if longest > program.longest_text:
        raise BadFile(
            f"column {name!r} has text of {longest:,} bytes, and {program.name} stores at most "
            f"{program.longest_text:,}; write another format, or drop the column"
        )
    if any(b"\0" in entry for entry in entries):
        raise BadFile(f"column {name!r} has text with a NUL, which {program.name} cannot store")
    if not program.keeps_spaces and any(entry.endswith(b" ") for entry in entries):
        raise BadFile(
            f"column {name!r} has text that ends with a space, which {program.name} does not keep; "
            "remove the space, or write another format"
        )
    distinct = np.array(entries or [b""], f"S{max(longest, 1)}")
    taken: npt.NDArray[np.bytes_] = np.take(distinct, coded.indices.to_numpy())
    return taken


def cut(text: str, most: int) -> bytes:
    """Text in UTF-8, without what exceeds this many bytes.

    >>> cut("Zoë", 3), cut("Zoë", 4)
    (b'Zo', b'Zo\\xc3\\xab')
    """
    return text.encode()[:most].decode(errors="ignore").encode()


def number_of(value: str) -> float | None:
    """The number that a labelled value is; None if it is none."""
    try:
        return float(value)
    except ValueError:
        return None
