"""Sort texts without making Python objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.arrays import Longs


def sorted_order(texts: pa.Array) -> Longs:
    """The sorted order of distinct texts, as Python sorts them; int64[texts].

    Eight bytes at a time are compared as one number: first those after the common prefix, then
    the next ones of texts that are still equal. UTF-8 bytes sort like characters.

    >>> sorted_order(pa.array(["b", "ab", "", "a"])).tolist()
    [2, 3, 1, 0]
    """
    count = len(texts)
    wide = pa.types.is_large_string(texts.type)
    _, ends, data = texts.buffers()
    kind = np.dtype(np.int64 if wide else np.int32)
    place = np.frombuffer(ends, kind, count + 1, texts.offset * kind.itemsize).astype(np.int64)
    start, length = place[:-1], np.diff(place)
    content = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    content = np.append(content, np.zeros(8, np.uint8))
    if count < 2:
        return np.arange(count)
    at = _common_prefix(texts)
    key = _eight(content, start + at, length - at)
    order = np.argsort(key)
    key = key[order]
    tied, where = order, np.arange(count)
    group: Longs = np.zeros(count, np.int64)
    while True:
        if (length[tied] <= at).all():  # they differ only in zero bytes at the end
            order[where] = tied[np.lexsort((length[tied], group))]
            return order
        fresh = np.ones(len(tied) + 1, np.bool_)
        fresh[1:-1] = (group[1:] != group[:-1]) | (key[1:] != key[:-1])
        still = ~(fresh[:-1] & fresh[1:])  # equal to the one before or after
        if not still.any():
            return order
        at += 8
        group = np.cumsum(fresh[:-1], dtype=np.int64)[still]
        tied, where = tied[still], where[still]
        key = _eight(content, start[tied] + at, length[tied] - at)
        inside = np.lexsort((key, group))
        tied, key = tied[inside], key[inside]
        order[where] = tied


_MASKS = np.array([(2**64 - 1) ^ (2 ** (8 * (8 - left)) - 1) for left in range(9)], np.uint64)


def _eight(content: Any, start: Any, length: Any) -> npt.NDArray[np.uint64]:
    """Eight bytes from each position as one number, padded with zeros."""
    first = np.minimum(start, len(content) - 8)  # positions past the end are masked below
    # A view that reads eight bytes from every position.
    every = np.lib.stride_tricks.as_strided(content[:8].view(">u8"), (len(content) - 7,), (1,))
    number: npt.NDArray[np.uint64] = every[first].astype(np.uint64)
    if len(length) and length.min() < 8:
        number &= _MASKS[np.clip(length, 0, 8)]
    return number


def _common_prefix(texts: pa.Array) -> int:
    """The length of the common prefix in bytes."""
    ends = pc.min_max(texts).as_py()
    low, high = ends["min"].encode(), ends["max"].encode()
    return next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
