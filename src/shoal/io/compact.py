"""Compact: an arrow column that holds its cells and nothing else.

An arrow column can carry values that stand in none of its cells: entries of a dictionary that no
row refers to, what lies under a missing struct, the rows around a slice, notes on its fields. A
reader of a file, or of the memory, can see them.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.errors import BadTable

ArrowColumn: TypeAlias = "pa.Array | pa.ChunkedArray"

# Extension types whose settings say how to read a value, and can hold none themselves.
KNOWN = ("arrow.uuid", "arrow.json", "arrow.bool8", "pandas.period", "pandas.interval")


def compact(values: ArrowColumn) -> ArrowColumn:
    """Copy a column so that only its cells are in it, at any depth; its type stays as it is.

    Notes on fields are left out. An extension type that is not known becomes what it is stored as.

    >>> coded = pa.array(["Ann", "Bob"]).dictionary_encode().slice(1)
    >>> compact(pa.StructArray.from_arrays([coded], ["who"])).field("who").dictionary.to_pylist()
    ['Bob']
    """
    if isinstance(values, pa.ChunkedArray):
        return pa.chunked_array([compact(one) for one in values.chunks], plain_type(values.type))
    kind = values.type
    values = values.take(pa.array(np.arange(len(values))))  # new buffers, nothing under nulls
    if isinstance(kind, pa.BaseExtensionType):
        stored = compact(values.storage)
        return pa.ExtensionArray.from_storage(kind, stored) if _known(kind) else stored
    if pa.types.is_dictionary(kind):
        return _dictionary(values)
    if not pa.types.is_nested(kind):
        return values
    plain = plain_type(kind)
    gone = values.is_null() if values.null_count else None
    if pa.types.is_struct(kind):
        children = [compact(child) for child in values.flatten()]  # null where the struct is
        fields = [plain.field(i) for i in range(plain.num_fields)]
        if not fields:
            return values
        return pa.StructArray.from_arrays(children, fields=fields, mask=gone)
    if pa.types.is_map(kind):
        keys, items = compact(values.keys), compact(values.items)
        return pa.MapArray.from_arrays(_offsets(values), keys, items, plain)
    if pa.types.is_fixed_size_list(kind):
        if kind.list_size == 0:  # arrow divides by it
            return values
        return pa.FixedSizeListArray.from_arrays(compact(values.values), type=plain, mask=gone)
    if pa.types.is_list(kind):
        return pa.ListArray.from_arrays(_offsets(values), compact(values.values), plain)
    if pa.types.is_large_list(kind):
        return pa.LargeListArray.from_arrays(_offsets(values), compact(values.values), plain)
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        sizes = pc.list_value_length(values).fill_null(0)  # views may overlap, and leave gaps
        ends = pc.cumulative_sum(sizes)
        made = pa.ListViewArray if pa.types.is_list_view(kind) else pa.LargeListViewArray
        flat = compact(values.flatten())
        return made.from_arrays(pc.subtract(ends, sizes), sizes, flat, type=plain, mask=gone)
    raise _refused(kind)


def _dictionary(values: pa.DictionaryArray) -> pa.DictionaryArray:
    """Only the entries that some row refers to, in their order."""
    indices = values.indices
    used = pc.unique(indices.drop_null())
    used = used.take(pc.sort_indices(used))
    entries = compact(values.dictionary.take(used))
    renumbered = pc.index_in(indices, used).cast(values.type.index_type)
    return pa.DictionaryArray.from_arrays(renumbered, entries, ordered=values.type.ordered)


def _offsets(values: Any) -> pa.Array:
    """Where each list begins; null where the list is missing."""
    if not values.null_count:
        return values.offsets
    missing = np.append(values.is_null().to_numpy(zero_copy_only=False), False)
    return pc.if_else(pa.array(missing), None, values.offsets)


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type that a compact column has: without notes on fields, at any depth.

    >>> plain_type(pa.list_(pa.field("item", pa.int8(), metadata={"a": "b"}))).field(0).metadata
    """
    if isinstance(kind, pa.BaseExtensionType):
        return kind if _known(kind) else plain_type(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, plain_type(kind.value_type), kind.ordered)
    if not pa.types.is_nested(kind):
        return kind
    if pa.types.is_map(kind):
        key, item = plain_field(kind.key_field), plain_field(kind.item_field)
        return pa.map_(key, item, kind.keys_sorted)
    fields = [plain_field(kind.field(i)) for i in range(kind.num_fields)]
    if pa.types.is_struct(kind):
        return pa.struct(fields)
    if pa.types.is_list(kind):
        return pa.list_(fields[0])
    if pa.types.is_large_list(kind):
        return pa.large_list(fields[0])
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(fields[0], kind.list_size)
    if pa.types.is_list_view(kind):
        return pa.list_view(fields[0])
    if pa.types.is_large_list_view(kind):
        return pa.large_list_view(fields[0])
    raise _refused(kind)


def plain_field(field: pa.Field) -> pa.Field:
    """The same field of a plain type, without notes."""
    return pa.field(field.name, plain_type(field.type), field.nullable)


def _known(kind: pa.BaseExtensionType) -> bool:
    return kind.extension_name in KNOWN


def _refused(kind: pa.DataType) -> BadTable:
    """Unions and runs: values that no cell shows cannot be told from the others."""
    return BadTable(f"holds {kind}, which can hide values; cast it to a plainer type first")
