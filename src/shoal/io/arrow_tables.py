"""Arrow tables: check column names, and that rows of every type can be selected."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa

from shoal.base.errors import BadTable, is_text, preview
from shoal.io.compact import ArrowColumn, compact


def check_column_names(names: list[Any], where: str, hint: str = "") -> None:
    """Raise an error unless every column has a unique name; `hint` is a way out of this format."""
    if not names:
        raise BadTable(f"{where} has no columns")
    if odd := [name for name in names if not isinstance(name, str)]:
        raise BadTable(
            f"{where} has columns whose names are not text: {preview(odd)}; rename them, "
            "for example with frame.columns = [str(name) for name in frame.columns]"
        )
    if broken := [name for name in names if not is_text(name)]:
        raise BadTable(
            f"{where} has columns whose names contain half a character (a lone surrogate), which "
            f"no file can store: {preview(broken)}; rename them"
        )
    if empty := [number for number, name in enumerate(names, 1) if not name.strip()]:
        raise BadTable(
            f"{where} has columns without a name, counted from the left: {preview(empty)}; "
            f"name them or remove them (pandas writes its index like this; use index=False){hint}"
        )
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise BadTable(
            f"{where} has several columns of the same name: {preview(twice)}; rename them{hint}"
        )


def takeable(table: pa.Table) -> pa.Table:
    """Check before a long run that arrow can select rows of every column."""
    plain = {"string_view": pa.large_string(), "binary_view": pa.large_binary()}
    for number, field in enumerate(table.schema):
        if str(field.type) in plain:
            field = field.with_type(plain[str(field.type)])
            table = table.set_column(number, field, table[number].cast(field.type))
        check_takeable(field.name, table[number])
    return table


def check_takeable(name: str, values: ArrowColumn) -> None:
    """Raise an error, before a long run, if arrow cannot select rows of a column."""
    kind = values.type
    if pa.types.is_dictionary(kind) and pa.types.is_nested(kind.value_type):
        raise BadTable(
            f"column {name!r} is a dictionary of {kind.value_type}, which pyarrow cannot compare; "
            "cast it to plain values first"
        )
    try:
        compact(values.slice(0, 0))
    except pa.ArrowNotImplementedError:
        raise BadTable(
            f"column {name!r} is of type {values.type}, of which pyarrow cannot select "
            "single rows; cast it to a simpler type first"
        ) from None
    except BadTable as error:
        raise BadTable(f"column {name!r} {error}") from None


def compact_table(table: pa.Table) -> pa.Table:
    """Copy a table with only its own cells."""
    return pa.table([compact(one) for one in table.columns], table.column_names)
