"""Sort texts without making Python objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.arrays import Bools, Longs

Keys = npt.NDArray[np.uint64]
BLOCK = 1 << 14  # texts at a time: what is computed for them stays in the cache of the processor


def sorted_order(texts: pa.Array) -> Longs:
    """The sorted order of distinct texts, as Python sorts them; int64[texts].

    Eight bytes at a time are compared as one number: first those after the common prefix, then
    the next ones of texts that are still equal. UTF-8 bytes sort like characters.

    >>> sorted_order(pa.array(["b", "ab", "", "a"])).tolist()
    [2, 3, 1, 0]
    """
    count = len(texts)
    if count < 2:
        return np.arange(count)
    wide = pa.types.is_large_string(texts.type)
    _, ends, data = texts.buffers()
    kind = np.dtype(np.int64 if wide else np.int32)
    place = np.frombuffer(ends, kind, count + 1, texts.offset * kind.itemsize)
    content = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    if len(content) < 8:
        content = np.append(content, np.zeros(8, np.uint8))
    at = _common_prefix(texts)
    key = np.empty(count, np.uint64)
    for begin in range(0, count, BLOCK):
        part = place[begin : begin + BLOCK + 1].astype(np.int64)
        key[begin : begin + BLOCK] = _eight(content, part[:-1] + at, np.diff(part) - at)
    order, group = _by_leading_bits(key)
    where = np.flatnonzero(_with_equals(group))
    tied, group = order[where], group[where]
    while len(tied):
        start = place[tied].astype(np.int64)
        length = place[tied + 1] - start
        if (length <= at).all():  # they differ only in zero bytes at the end
            order[where] = tied[np.lexsort((length, group))]
            break
        key = _eight(content, start + at, length - at)
        inside = np.lexsort((key, group))
        tied, key, group = tied[inside], key[inside], group[inside]
        order[where] = tied
        differs = (group[1:] != group[:-1]) | (key[1:] != key[:-1])
        group = np.append(0, np.cumsum(differs)).astype(np.uint64)
        still = _with_equals(group)
        tied, where, group = tied[still], where[still], group[still]
        at += 8
    return order


def _by_leading_bits(key: Keys) -> tuple[Longs, Keys]:
    """An order of the keys by their leading bits, and these bits in that order; overwrites `key`.

    The bits and the number of the text share one integer: sorting integers is several times
    faster than sorting positions by key. High bits that are the same in each byte of all keys are
    left out, so that as many of the others fit as possible.
    """
    low = (len(key) - 1).bit_length()
    varies = int(np.bitwise_or.reduce(key) ^ np.bitwise_and.reduce(key))
    width = max(byte.bit_length() for byte in varies.to_bytes(8))
    for begin in range(0, len(key), BLOCK):
        part = key[begin : begin + BLOCK]
        packed = _packed(part, width) >> np.uint64(max(8 * width + low - 64, 0))
        part[:] = packed << np.uint64(low)
        part |= np.arange(begin, begin + len(part), dtype=np.uint64)
    key.sort()
    order = (key & np.uint64((1 << low) - 1)).view(np.int64)
    key >>= np.uint64(low)
    return order, key


def _packed(key: Keys, width: int) -> Keys:
    """Keep only the lowest `width` bits of each byte, without gaps between them.

    Bytes move together in pairs, then pairs, then fours.

    >>> f"{_packed(np.array([0x3132333435363738], np.uint64), 4)[0]:x}"
    '12345678'
    """
    key = key & np.uint64(int.from_bytes([(1 << width) - 1] * 8))
    for bits in (8, 16, 32):
        mask = (1 << bits) - 1
        right = np.uint64(sum(mask << place for place in range(0, 64, 2 * bits)))
        left = (key & ~right) >> np.uint64((8 - width) * bits // 8)
        key = (key & right) | left
    return key


def _with_equals(group: Keys) -> Bools:
    """Whether each of these, which are sorted, equals the one before or after."""
    alone = np.ones(len(group) + 1, np.bool_)
    alone[1:-1] = group[1:] != group[:-1]
    return ~(alone[:-1] & alone[1:])


_MASKS = np.array([(2**64 - 1) ^ (2 ** (8 * (8 - left)) - 1) for left in range(9)], np.uint64)


def _eight(content: Any, start: Any, length: Any) -> Keys:
    """Eight bytes from each position as one number, padded with zeros."""
    last = len(content) - 8
    # A view that reads eight bytes from every position.
    every = np.lib.stride_tricks.as_strided(content[:8].view(">u8"), (last + 1,), (1,))
    number: Keys = every[np.minimum(start, last)].astype(np.uint64)
    # Close to the end eight bytes were read from further left: shift out those before the start.
    beyond = np.flatnonzero(start > last)
    number[beyond] <<= 8 * np.minimum(start[beyond] - last, 7).astype(np.uint64)
    if len(length) and length.min() < 8:
        number &= _MASKS[np.clip(length, 0, 8)]
    return number


def _common_prefix(texts: pa.Array) -> int:
    """The length of the common prefix in bytes."""
    ends = pc.min_max(texts).as_py()
    low, high = ends["min"].encode(), ends["max"].encode()
    return next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
