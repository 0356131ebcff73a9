"""Compact: an arrow column with only its own cells.

An arrow column can contain values that are in none of its cells: unused dictionary entries, values
below a null struct, the rows around a slice, metadata of its fields. Readers of a file or of the
memory can see them.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.errors import BadTable

ArrowColumn: TypeAlias = "pa.Array | pa.ChunkedArray"

# Extension types whose parameters contain no values.
KNOWN = ("arrow.uuid", "arrow.json", "arrow.bool8", "pandas.period", "pandas.interval")


def compact(values: ArrowColumn) -> ArrowColumn:
    """Copy a column with only its own cells, at any depth; its type stays the same.

    Metadata of fields is dropped. An unknown extension type becomes its storage type.

    >>> coded = pa.array(["Ann", "Bob"]).dictionary_encode().slice(1)
    >>> compact(pa.StructArray.from_arrays([coded], ["who"])).field("who").dictionary.to_pylist()
    ['Bob']
    """
    if isinstance(values, pa.ChunkedArray):
        return pa.chunked_array([compact(one) for one in values.chunks], plain_type(values.type))
    kind = values.type
    values = _copied(values)
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
        sizes = pc.list_value_length(values).fill_null(0)  # views may overlap or leave gaps
        ends = pc.cumulative_sum(sizes)
        made = pa.ListViewArray if pa.types.is_list_view(kind) else pa.LargeListViewArray
        flat = compact(values.flatten())
        return made.from_arrays(pc.subtract(ends, sizes), sizes, flat, type=plain, mask=gone)
    raise _refused(kind)


def _copied(values: pa.Array) -> pa.Array:
    """The same cells in new buffers, with nothing under nulls."""
    simple = pa.types.is_primitive, pa.types.is_string, pa.types.is_large_string
    if values.null_count == 0 and any(is_kind(values.type) for is_kind in simple):
        return pa.concat_arrays([values])  # copies only these cells, and faster
    return values.take(pa.array(np.arange(len(values))))


def _dictionary(values: pa.DictionaryArray) -> pa.DictionaryArray:
    """Only the entries that are in use, in their order."""
    indices = values.indices
    used = pc.unique(indices.drop_null())
    used = used.take(pc.sort_indices(used))
    entries = compact(values.dictionary.take(used))
    renumbered = pc.index_in(indices, used).cast(values.type.index_type)
    return pa.DictionaryArray.from_arrays(renumbered, entries, ordered=values.type.ordered)


def _offsets(values: Any) -> pa.Array:
    """The start of each list; null if the list is null."""
    if not values.null_count:
        return values.offsets
    missing = np.append(values.is_null().to_numpy(zero_copy_only=False), False)
    return pc.if_else(pa.array(missing), None, values.offsets)


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of a compact column: without metadata of fields, at any depth.

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
    """The same field with a plain type and without metadata."""
    return pa.field(field.name, plain_type(field.type), field.nullable)


def _known(kind: pa.BaseExtensionType) -> bool:
    return kind.extension_name in KNOWN


def _refused(kind: pa.DataType) -> BadTable:
    """The error for unions and run-end encoding: unused values cannot be detected there."""
    return BadTable(f"is of type {kind}, which can hide values; cast it to a simpler type first")
