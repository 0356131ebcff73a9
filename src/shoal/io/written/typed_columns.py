"""Columns of text as numbers, dates or categories, if all of their values are such."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress

import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.wording import short
from shoal.io.compact import ArrowColumn

# What arrow writes for a value of each type: only then is the text of a value the same again.
_FORMS = {
    pa.int64(): r"^(0|-?[1-9][0-9]{0,17})$",
    pa.float64(): r"^-?(0|[1-9][0-9]{0,14})(\.[0-9]{0,14}[1-9])?$",
    pa.date32(): r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
    pa.bool_(): r"^(true|false)$",
}
# Measurements, which are often written with equally many digits: 2325.70 is 2325.7.
_DECIMAL = r"^-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?$"
_NUMERAL = r"^[+-]?[0-9][0-9.]*$"  # it looks like a number
OFTEN = 2  # times that values of a text column occur on average, if it is one of categories


def typed(table: pa.Table, unchanged: Mapping[str, Collection[str]] | None = None) -> pa.Table:
    """The table with the closest type for each column of text.

    `unchanged` are the columns that are published as they are, each with its words for missing
    values: there 2325.70 is a number too, as no hierarchy has to find its label again.

    >>> table = typed(pa.table({"n": ["1", None], "d": ["2024-05-17"] * 2, "zip": ["01", "2"]}))
    >>> [str(field.type) for field in table.schema]
    ['int64', 'date32[day]', 'string']
    """
    measured = unchanged or {}
    columns = [
        _typed(column, measured.get(name))
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    fields = [
        field.with_type(column.type) for field, column in zip(table.schema, columns, strict=True)
    ]
    return pa.table(columns, pa.schema(fields, table.schema.metadata))


def _typed(column: ArrowColumn, words: Collection[str] | None) -> ArrowColumn:
    if not _is_text(column.type):
        return column
    values = pc.unique(column).drop_null()
    if not len(values):
        return column
    for kind, form in _FORMS.items():
        if pc.all(pc.match_substring_regex(values, form)).as_py():
            with suppress(pa.ArrowInvalid):  # no date: 2024-02-31
                if _same(values, values.cast(kind)):
                    return column.cast(kind)
    if words is not None and _are_decimals(values, words):
        return column.cast(pa.float64())
    if len(values) * OFTEN <= len(column):
        return column.cast(pa.string()).combine_chunks().dictionary_encode()
    return column


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _are_decimals(values: pa.Array, words: Collection[str]) -> bool:
    """Whether texts are decimal numbers, which lose nothing but trailing zeros."""
    if not pc.all(pc.match_substring_regex(values, _DECIMAL)).as_py():
        return False
    if not pc.any(pc.match_substring(values, ".")).as_py():
        return False
    fewer = pc.replace_substring_regex(values, r"(\.[0-9]*?)0+$", r"\1")
    bare = pc.replace_substring_regex(fewer, r"\.$", "")
    changed = values.filter(pc.not_equal(values, bare))
    known = pa.array(sorted(words), values.type)  # they could not be found again
    return not pc.any(pc.is_in(changed, known)).as_py() and _same(bare, values.cast(pa.float64()))


def why_text(column: ArrowColumn, words: Collection[str] = ()) -> str:
    """Why `typed` leaves a column of numerals as text; "" if it does not, or has none.

    >>> why_text(pa.chunked_array([["01300", "24103"]]))
    'leading zeros would be lost, as in 01300'
    >>> why_text(pa.chunked_array([["1.50", "2.25"]]))
    ''
    """
    found = _typed(column, words).type
    if not _is_text(column.type) or not (_is_text(found) or pa.types.is_dictionary(found)):
        return ""
    values = pc.unique(column).drop_null()
    like = pc.match_substring_regex(values, _NUMERAL)
    numerals, others = values.filter(like), values.filter(pc.invert(like))
    if 2 * len(numerals) <= len(values):
        return ""
    if len(others):
        return f"values such as {_shown(others)} are no numbers"
    zeros = numerals.filter(pc.match_substring_regex(numerals, r"^[+-]?0[0-9]"))
    if len(zeros):
        return f"leading zeros would be lost, as in {_shown(zeros)}"
    known = numerals.filter(pc.is_in(numerals, pa.array(sorted(words), numerals.type)))
    if len(known):
        return f"{_shown(known)} means missing, and would be written in another way"
    return f"the digits of some values cannot be kept, as in {_shown(_odd(numerals))}"


def _odd(values: pa.Array) -> pa.Array:
    """Those that are no plain numbers; all of them if their digits are too many."""
    found = values.filter(pc.invert(pc.match_substring_regex(values, _DECIMAL)))
    return found if len(found) else values


def _shown(values: pa.Array) -> str:
    return short(str(pc.min(values).as_py()), 20)


def _same(texts: pa.Array, values: pa.Array) -> bool:
    """Whether the values are written as these texts, so that nothing is lost."""
    written = values.cast(texts.type)
    if pa.types.is_floating(values.type):  # arrow writes 10000000000.0 as 1e+10
        pairs = zip(written.to_pylist(), texts.to_pylist(), strict=True)
        return all(one.removesuffix(".0") == two for one, two in pairs)
    return bool(written.equals(texts))
