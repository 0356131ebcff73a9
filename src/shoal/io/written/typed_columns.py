"""Columns of text as numbers, dates or categories, if all of their values are such."""

from __future__ import annotations

from contextlib import suppress

import pyarrow as pa
import pyarrow.compute as pc

from shoal.io.compact import ArrowColumn

# What arrow writes for a value of each type: only then is the text of a value the same again.
_FORMS = {
    pa.int64(): r"^(0|-?[1-9][0-9]{0,17})$",
    pa.float64(): r"^-?(0|[1-9][0-9]{0,14})(\.[0-9]{0,14}[1-9])?$",
    pa.date32(): r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
    pa.bool_(): r"^(true|false)$",
}
OFTEN = 2  # times that values of a text column occur on average, if it is one of categories


def typed(table: pa.Table) -> pa.Table:
    """The table with the closest type for each column of text.

    >>> table = typed(pa.table({"n": ["1", None], "d": ["2024-05-17"] * 2, "zip": ["01", "2"]}))
    >>> [str(field.type) for field in table.schema]
    ['int64', 'date32[day]', 'string']
    """
    columns = [_typed(column) for column in table.columns]
    fields = [
        field.with_type(column.type) for field, column in zip(table.schema, columns, strict=True)
    ]
    return pa.table(columns, pa.schema(fields, table.schema.metadata))


def _typed(column: ArrowColumn) -> ArrowColumn:
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    values = pc.unique(column).drop_null()
    if not len(values):
        return column
    for kind, form in _FORMS.items():
        if pc.all(pc.match_substring_regex(values, form)).as_py():
            with suppress(pa.ArrowInvalid):  # no date: 2024-02-31
                if _same(values, values.cast(kind)):
                    return column.cast(kind)
    if len(values) * OFTEN <= len(column):
        return column.cast(pa.string()).combine_chunks().dictionary_encode()
    return column


def _same(texts: pa.Array, values: pa.Array) -> bool:
    """Whether the values are written as these texts, so that nothing is lost."""
    written = values.cast(texts.type)
    if pa.types.is_floating(values.type):  # arrow writes 10000000000.0 as 1e+10
        pairs = zip(written.to_pylist(), texts.to_pylist(), strict=True)
        return all(one.removesuffix(".0") == two for one, two in pairs)
    return bool(written.equals(texts))
