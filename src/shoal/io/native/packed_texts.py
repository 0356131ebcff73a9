"""Packed texts: columns of text that stay dictionaries until somebody needs the texts.

Parquet stores texts as dictionaries and places in them. Reading the places alone takes less time
and memory than making all texts, and numbering the distinct values is then almost done. A packed
column is marked in the schema; a dictionary without the mark is what the table really contains.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shoal.io.compact import ArrowColumn

TEXTS = pa.dictionary(pa.int32(), pa.string())  # the type of a packed column
MARK = {b"shoal.packed": b"text"}
MOST_BYTES = 1 << 30  # of the texts of one array; arrow's limit is 2 ** 31 - 1


def packed(table: pa.Table, names: list[str]) -> pa.Table:
    """Mark these columns, which are dictionaries of texts, as packed."""
    fields = [field.with_metadata(MARK) if field.name in names else field for field in table.schema]
    columns = [  # other dictionaries stay: a unified one may need more codes than their type has
        column.unify_dictionaries() if name in names else column
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    return pa.table(columns, pa.schema(fields, table.schema.metadata))


def is_packed(field: pa.Field) -> bool:
    """Whether a column is packed."""
    return bool(field.metadata == MARK and pa.types.is_dictionary(field.type))


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The same schema with texts for packed columns."""
    fields = [pa.field(one.name, pa.string()) if is_packed(one) else one for one in schema]
    return pa.schema(fields, schema.metadata)


def unpacked(values: ArrowColumn) -> pa.ChunkedArray:
    """The texts of a packed column.

    >>> unpacked(pa.array(["a", None, "a"]).dictionary_encode()).to_pylist()
    ['a', None, 'a']
    """
    chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
    made = []
    for chunk in chunks:
        longest = pc.max(pc.binary_length(chunk.dictionary)).as_py() or 1
        rows = max(1, MOST_BYTES // longest)
        parts = [chunk.slice(start, rows) for start in range(0, len(chunk), rows)]
        made += [part.dictionary.take(part.indices) for part in parts]
    return pa.chunked_array(made, pa.string())
