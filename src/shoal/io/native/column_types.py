"""Published texts in the type that their column had, if all of them can have it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.io.compact import ArrowColumn
from shoal.io.native.values import cell_values, text
from shoal.io.text_writing import same_cells


def as_type(texts: ArrowColumn, kind: pa.DataType) -> ArrowColumn | None:
    """Texts in an arrow type; None if one of them is not written in the same way in it.

    Categories may be any texts. Missing cells stay missing, in every type. The texts may be a
    dictionary.

    >>> as_type(pa.array(["31", None]), pa.int16()).type, as_type(pa.array(["*"]), pa.int16())
    (DataType(int16), None)
    """
    if pa.types.is_dictionary(kind):
        inner = as_type(texts, kind.value_type)
        found = texts if inner is None else inner
        return found if pa.types.is_dictionary(found.type) else found.dictionary_encode()
    if pa.types.is_dictionary(texts.type):
        values = as_type(texts.dictionary, kind)
        return None if values is None else values.take(texts.indices)
    if not _is_plain(kind):
        return None
    values = pc.unique(texts).drop_null()
    with suppress(pa.ArrowException):
        if _same(values.cast(kind), values):
            return texts.cast(kind)
    return None


def _is_plain(kind: pa.DataType) -> bool:
    tests = (
        pa.types.is_integer, pa.types.is_floating, pa.types.is_date, pa.types.is_timestamp,
        pa.types.is_boolean, pa.types.is_decimal,
    )  # fmt: skip
    return any(test(kind) for test in tests)


def _same(values: pa.Array, texts: pa.Array) -> bool:
    """Whether the values are written as these texts, by arrow or in the form of hierarchies."""
    return same_cells(values, texts) or list(map(text, cell_values(values))) == texts.to_pylist()


def like_pandas(texts: ArrowColumn, kind: pa.DataType, column: Any, library: Any) -> Any:
    """Texts as a pandas column of the same dtype; None: they cannot have it."""
    dtype = column.dtype
    if dtype.name == "object":  # it may contain anything, so that texts fit too
        return None
    found = as_type(texts, kind)
    with suppress(pa.ArrowException, TypeError, ValueError, OverflowError):
        if isinstance(dtype, library.CategoricalDtype):
            return None if found is None else found.to_pandas()
        if isinstance(dtype, library.StringDtype):
            return texts.to_pandas().astype(dtype)
        if isinstance(dtype, library.ArrowDtype):
            if pa.types.is_string(kind) or pa.types.is_large_string(kind):
                found = texts.cast(kind)
            return None if found is None else library.Series(_arrow_cells(found, library))
        if found is not None and not (found.null_count and dtype.kind in "iub"):
            return found.to_pandas().astype(dtype)
        if found is not None and hasattr(dtype, "numpy_dtype"):  # a dtype with missing cells
            return library.Series(found.to_pylist(), dtype=dtype)
    return None


def _arrow_cells(found: ArrowColumn, library: Any) -> Any:
    return library.ArrowDtype(found.type).__from_arrow__(found)


def like_polars(texts: ArrowColumn, kind: pa.DataType, column: Any, library: Any) -> Any:
    """Texts as a polars column of the same dtype; None: they cannot have it.

    An Enum has the published categories: those that it had, in their order, then new ones.
    """
    dtype = column.dtype
    if isinstance(dtype, library.Enum):
        shown = set(pc.unique(texts).drop_null().to_pylist())
        known = [one for one in dtype.categories if one in shown]
        more = sorted(shown.difference(known))
        return library.Series(texts).cast(library.Enum([*known, *more]))
    if isinstance(dtype, library.Categorical):
        return library.Series(texts).cast(dtype)
    found = as_type(texts, kind)
    return None if found is None else library.Series(found).cast(dtype)
