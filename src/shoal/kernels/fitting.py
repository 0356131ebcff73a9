"""Which rows fit each other if a missing value (-1) may be any value.

Two rows fit if they agree in the columns that both have. Rows that lack the same columns are a
part; for each pair of parts the smaller one is put into a hash table by the columns that both have,
and the larger one is looked up there. Nothing compares rows one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels import lean_kernel
from shoal.kernels.group import group_rows

AT_A_TIME = 50_000_000  # rows looked up between two pauses for Ctrl-C
WORD_BITS = 64


def count_fitting(rows: Any, count: Any, worth: Any) -> tuple[Any, Any]:
    """For each of different rows (int32[n, q]), the sums over those that fit it, with itself.

    `count` is int64[n] and `worth` float64[n]; so are the sums.

    >>> rows = np.array([[1, 2], [1, -1], [0, 2]], np.int32)
    >>> found = count_fitting(rows, np.array([1, 1, 1]), np.array([10.0, 20.0, 5.0]))
    >>> [sums.tolist() for sums in found]
    [[2, 2, 1], [30.0, 30.0, 5.0]]
    """
    part, first, size = group_rows((rows < 0).astype(np.int32))
    rank = np.argsort(-size, kind="stable")  # the largest part first
    place = np.empty(len(rank), np.int64)
    place[rank] = np.arange(len(rank))
    order = np.argsort(place[part], kind="stable")
    start = np.append(0, np.cumsum(size[rank]))
    words, fields = _packed(rows)
    masks = _masks(rows[first[rank]] >= 0, fields, words.shape[1])
    words, count, worth = words[order], count[order], worth[order]
    many, total = count.copy(), worth.copy()

    most = int(size[rank[1]]) if len(rank) > 1 else 0
    slots = 1 << (2 * most + 1).bit_length()
    table, at = np.empty(slots, np.int64), np.empty(most, np.int64)
    ints, floats = np.empty((2, slots), np.int64), np.empty((2, slots))
    for one in range(len(rank) - 1):
        step = max(1, AT_A_TIME // int(start[one + 1] - start[one]))
        for begin in range(one + 1, len(rank), step):
            stop = min(begin + step, len(rank))
            join_parts(
                words, masks, start, one, begin, stop, count, worth, many, total,
                table, at, ints, floats,
            )  # fmt: skip
    found = np.empty_like(many), np.empty_like(total)
    found[0][order], found[1][order] = many, total
    return found


def _packed(rows: Any) -> tuple[Any, list[tuple[int, int]]]:
    """The rows as uint64[n, words], and the word and the mask of each column."""
    highest = rows.max(axis=0).tolist() if len(rows) else []
    fields, places = [], []
    word, used = 0, 0
    for high in highest:
        bits = int(high + 1).bit_length()  # 0 is missing
        if used + bits > WORD_BITS:
            word, used = word + 1, 0
        fields.append((word, ((1 << bits) - 1) << used))
        places.append(used)
        used += bits
    words = np.zeros((len(rows), word + 1), np.uint64)
    for j, ((word, _), low) in enumerate(zip(fields, places, strict=True)):
        words[:, word] |= (rows[:, j] + np.int64(1)).astype(np.uint64) << np.uint64(low)
    return words, fields


def _masks(known: Any, fields: list[tuple[int, int]], words: int) -> Any:
    """The bits of the columns that the rows of each part have, uint64[parts, words]."""
    masks = np.zeros((len(known), words), np.uint64)
    for j, (word, mask) in enumerate(fields):
        masks[known[:, j], word] |= np.uint64(mask)
    return masks


@lean_kernel
def join_parts(
    words, masks, start, one, begin, stop, count, worth, many, total, table, at, ints, floats
):
    """Add to each row of part `one` the rows that fit it in the parts from `begin` to `stop`.

    To these rows, that one. They are in parts that are not larger, for which there is room.
    """
    q = words.shape[1]
    for other in range(begin, stop):
        low, high = start[other], start[other + 1]
        slots, bits = 2, 1
        while slots < 2 * (high - low):
            slots, bits = 2 * slots, bits + 1
        down, last = np.uint64(WORD_BITS - bits), slots - 1
        for slot in range(slots):
            table[slot] = -1
        for i in range(low, high):
            slot = _slot(words, i, masks, one, other, down)
            while table[slot] >= 0 and not _agree(words, i, table[slot], masks, one, other, q):
                slot = (slot + 1) & last
            if table[slot] < 0:
                table[slot] = i
                ints[0, slot], floats[0, slot] = 0, 0.0
                ints[1, slot], floats[1, slot] = 0, 0.0
            at[i - low] = slot
            ints[0, slot] += count[i]
            floats[0, slot] += worth[i]
        for i in range(start[one], start[one + 1]):
            slot = _slot(words, i, masks, one, other, down)
            while table[slot] >= 0 and not _agree(words, i, table[slot], masks, one, other, q):
                slot = (slot + 1) & last
            if table[slot] >= 0:
                many[i] += ints[0, slot]
                total[i] += floats[0, slot]
                ints[1, slot] += count[i]
                floats[1, slot] += worth[i]
        for i in range(low, high):
            many[i] += ints[1, at[i - low]]
            total[i] += floats[1, at[i - low]]


@lean_kernel
def _slot(words, i, masks, one, other, down):
    """Where to look for a row, by the columns that both parts have."""
    h = np.uint64(0)
    for w in range(words.shape[1]):
        h = (h ^ (words[i, w] & masks[one, w] & masks[other, w])) * np.uint64(0x9E3779B97F4A7C15)
        h ^= h >> np.uint64(32)
    h *= np.uint64(0xBF58476D1CE4E5B9)
    return np.int64(h >> down)


@lean_kernel
def _agree(words, i, j, masks, one, other, q):
    """Whether two rows agree in the columns that both parts have."""
    for w in range(q):
        if ((words[i, w] ^ words[j, w]) & masks[one, w] & masks[other, w]) != np.uint64(0):
            return False
    return True
