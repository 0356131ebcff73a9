"""A guard against formulas: spreadsheets run texts that begin with =, +, - or @.

Such a text gets an apostrophe in front, and one that has apostrophes in front already gets one
more, so that they can be removed again. Numbers such as -5 stay as they are.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shoal.io.compact import ArrowColumn

_BEGIN = r"[=+\-@\t\r\n]"
_NUMBER = r"[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?%?"


def escaped(table: pa.Table) -> pa.Table:
    """The table with all formulas in names and columns of text escaped.

    >>> escaped(pa.table({"x": ["=1+1", "-5", "'=a", "b"]}))["x"].to_pylist()
    ["'=1+1", '-5', "''=a", 'b']
    """
    return _changed(table, _escaped)


def unescaped(table: pa.Table) -> pa.Table:
    """The table before `escaped`; the same table if it has formulas that are not escaped.

    A table with such formulas was not escaped, and its apostrophes are its own: without them, two
    different values could become equal.
    """
    names = pa.array(table.column_names, pa.string())
    columns = [_texts(column) for column in table.columns if _is_text(column.type)]
    if any(pc.any(_matches(texts, "^")).as_py() for texts in [names, *columns]):
        return table
    return _changed(table, _unescaped)


def _changed(table: pa.Table, change: object) -> pa.Table:
    assert callable(change)
    names = change(pa.array(table.column_names, pa.string())).to_pylist()
    columns = [change(_texts(one)) if _is_text(one.type) else one for one in table.columns]
    fields = [
        field.with_name(name).with_type(column.type)
        for field, name, column in zip(table.schema, names, columns, strict=True)
    ]
    return pa.table(columns, pa.schema(fields, table.schema.metadata))


def _escaped(texts: ArrowColumn) -> ArrowColumn:
    quote, nothing = pa.scalar("'", texts.type), pa.scalar("", texts.type)
    longer = pc.binary_join_element_wise(quote, texts, nothing)
    return pc.if_else(_matches(texts, "^'*"), longer, texts)


def _unescaped(texts: ArrowColumn) -> ArrowColumn:
    shorter = pc.utf8_slice_codeunits(texts, 1)
    return pc.if_else(_matches(texts, "^'+"), shorter, texts)


def _matches(texts: ArrowColumn, begin: str) -> ArrowColumn:
    """Which texts are formulas behind such a beginning."""
    formula = pc.match_substring_regex(texts, begin + _BEGIN)
    number = pc.match_substring_regex(texts, f"^'*{_NUMBER}$")
    return pc.fill_null(pc.and_not(formula, number), False)


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _texts(column: ArrowColumn) -> ArrowColumn:
    kind = column.type
    return column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column
