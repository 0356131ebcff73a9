"""Coding: the values of a column as integer codes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.arrays import Bools, Ints, Longs
from shoal.base.errors import SHOWN, BadTable
from shoal.base.threads import cached_property
from shoal.hierarchies.values import text
from shoal.io.native.values import cell_values
from shoal.kernels.group import number_codes
from shoal.table.alike import alike, alike_texts

Watch = Callable[[float], None]  # called with the completed share
OFTEN = 1 << 15  # values between two calls
FIRST = 1000  # values that are made before all others


class Watched(Iterable[Any]):
    """Iterates over values and reports progress from `begin` to `end`."""

    def __init__(self, values: Sequence[Any], watch: Watch, begin: float, end: float) -> None:
        self._values, self._watch, self._begin, self._end = values, watch, begin, end

    def __iter__(self) -> Iterator[Any]:
        share = (self._end - self._begin) / max(len(self._values), 1)
        for i, value in enumerate(self._values):
            if i % OFTEN == 0:
                self._watch(self._begin + share * i)
            yield value


class Values(Sequence[Any]):
    """Distinct values in an arrow array; Python objects are made on first use.

    >>> values = Values(pa.array(["b", "a"]))
    >>> len(values), values[1], list(values)
    (2, 'a', ['b', 'a'])
    """

    def __init__(self, array: pa.Array) -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> list[Any]: ...
    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, int) and 0 <= place < FIRST:
            return self._first[place]
        return self.listed[place]

    def __iter__(self) -> Iterator[Any]:
        # A search for something that all values have in common mostly ends at one of the first.
        yield from self._first
        if len(self) > FIRST:
            yield from islice(self.listed, FIRST, None)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self.listed == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.listed)

    @cached_property
    def _first(self) -> list[Any]:
        return cell_values(self.array.slice(0, FIRST))

    @cached_property
    def listed(self) -> list[Any]:
        """The values as Python objects."""
        return cell_values(self.array)

    @cached_property
    def texts(self) -> pa.Array | None:
        """The values as texts in the form that hierarchies use; None if arrow cannot make it."""
        kind = self.array.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            return self.array
        return self.array.cast(pa.string()) if pa.types.is_integer(kind) else None


def value_codes(array: Any, missing_values: Sequence[str] = ()) -> tuple[Ints, Values]:
    """Number the distinct values of a column; -1 is missing.

    >>> codes, values = value_codes(pa.array(["a", None, "b", "a"]))
    >>> codes.tolist(), values
    ([0, -1, 1, 0], ['a', 'b'])
    """
    if pa.types.is_dictionary(array.type) and not _is_simple(array):
        array = array.cast(array.type.value_type)
    if pa.types.is_nested(array.type):
        raise BadTable(
            f"has several values per cell ({array.type}); give it the role other, or split it"
        )
    if pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), None, array)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # an empty chunked array stays one
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    coded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    indices = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    dictionary = coded.dictionary
    if coded is array:
        indices, used = number_codes(indices, len(dictionary))
        dictionary = dictionary.take(pa.array(used))
    values = Values(dictionary)
    return without(indices, values, not_missing(values, missing_values))


def without(indices: Ints, values: Values, keep: Bools) -> tuple[Ints, Values]:
    """The same column with only these values, bool[values]; the others are missing."""
    if keep.all():
        return indices, values
    renumber = np.append(np.where(keep, np.cumsum(keep) - 1, -1), -1).astype(np.int32)
    return renumber[indices], Values(values.array.filter(pa.array(keep)))


def _is_simple(array: Any) -> bool:
    """Whether a dictionary can be used as it is: one, with distinct texts."""
    if array.type.value_type != pa.string() or array.type.index_type != pa.int32():
        return False
    chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    if not chunks:
        return False
    one = chunks[0].dictionary
    shared = all(chunk.dictionary.equals(one) for chunk in chunks[1:])
    return shared and len(one.unique()) == len(one)


def not_missing(values: Values, tokens: Sequence[str]) -> Bools:
    """Which values are neither null nor a token for missing, bool[values]."""
    keep = values.array.is_valid().to_numpy(zero_copy_only=False)
    if not tokens:
        return np.asarray(keep)
    if values.texts is not None:
        for token in tokens:  # a few comparisons are faster than a lookup
            same = pc.equal(values.texts, pa.scalar(token, values.texts.type)).fill_null(False)
            if pc.any(same).as_py():
                keep = keep & ~same.to_numpy(zero_copy_only=False)
        return np.asarray(keep)
    known = set(tokens)
    return np.array(
        [v is not None and text(v) not in known for v in values.array.to_pylist()], bool
    )


class Merged(NamedTuple):
    """A column in which values that are alike have one code."""

    codes: Ints  # int32[n], -1 is missing
    values: Sequence[Any]  # in the most frequent spelling
    spellings: tuple[tuple[Any, ...], ...]  # spellings that count as one, that of `values` first


def merge_alike(
    codes: Ints,
    values: Values,
    missing_values: Sequence[str] = (),
    weight: Longs | None = None,
) -> Merged:
    """Give values that are alike the same code; blanks and variants of missing are missing.

    `weight` is how often each row occurs; None: once.

    >>> found = merge_alike(*value_codes(pa.array(["flu", "Flu ", "cold", "flu"])))
    >>> found.codes.tolist(), found.values, found.spellings
    ([0, 0, 1, 0], ['flu', 'cold'], (('flu', 'Flu '),))
    """
    kind = values.array.type
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or not len(values):
        return Merged(codes, values, ())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        keys = alike_texts(values.array)
    else:
        keys = pa.array([alike(value) for value in values], pa.string())
    coded = keys.dictionary_encode()
    nothing = pa.array({"", *map(alike, missing_values)}, keys.type)
    missing = pc.is_in(coded.dictionary, nothing).to_numpy(zero_copy_only=False)  # bool[groups]
    group = coded.indices.to_numpy(zero_copy_only=False)  # int[values]
    if len(missing) == len(values) and not missing.any():
        return Merged(codes, values, ())
    # The most frequent spelling represents all; among equals the first in alphabetical order.
    there = codes >= 0
    often = np.bincount(codes[there], None if weight is None else weight[there], len(values))
    by_text = np.argsort(np.array([text(value) for value in values], object), kind="stable")
    rank = np.empty(len(values), np.int64)
    rank[by_text] = np.arange(len(values))
    order = np.lexsort((rank, -often, group))
    first = np.flatnonzero(np.diff(group[order], prepend=-1))
    many = np.diff(np.append(first, len(order)))
    spellings = [
        (
            *([None] if missing[g] else []),
            *(values[i] for i in order[first[g] : first[g] + many[g]]),
        )
        for g in np.flatnonzero((many > 1) | missing)
    ]
    number = np.append(np.where(missing, -1, np.cumsum(~missing) - 1), -1).astype(np.int32)
    kept = [values[i] for i, none in zip(order[first], missing, strict=True) if not none]
    return Merged(number[np.append(group, -1)][codes], kept, tuple(spellings))


def merged_note(name: str, spellings: Sequence[tuple[Any, ...]]) -> str:
    """Report which values of a published column count as one, so that the user can check."""
    pairs = [
        " = ".join("missing" if value is None else repr(text(value)) for value in ways)
        for ways in spellings[:SHOWN]
    ]
    more = f" and {len(spellings) - SHOWN:,} more" if len(spellings) > SHOWN else ""
    return (
        f"column {name!r}: {', '.join(pairs)}{more} count as one value each, as they differ only "
        "in white space, letter case, Unicode form or the way a number or a date is written; write "
        "them in one way, or in clearly different ways if they mean different things"
    )
