"""Grouping of equal rows by hashing, in the order of their first appearance.

Rows become keys of 64 bits: their values next to each other if they fit, otherwise a hash. A long
table is first divided by the leading bits of the keys into parts that fit into the cache, which
threads share: looking up a key in a table of all rows would wait for the memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from shoal.base.threads import Team, team
from shoal.kernels import lean_kernel

AT_A_TIME = 10_000_000  # values between two pauses for Ctrl-C
LONG = 1 << 16  # rows from which on they are divided into parts
PART = 1 << 13  # rows of a part, about
MOST_BITS = 11  # leading bits that tell the parts apart; more parts would be slow to fill
KEY_BITS = 64


def group_rows(codes: Any) -> tuple[Any, Any, Any]:
    """Number the distinct rows of `codes` (int32[n, q]) by first appearance.

    Returns label int64[n], first int64[groups], size int64[groups].
    """
    codes = np.ascontiguousarray(codes, np.int32)
    if len(codes) >= LONG:
        with team() as threads:
            return _group_in_parts(codes, threads)
    n, q = codes.shape
    slots = 1 << (2 * n + 1).bit_length()
    table = np.full(slots, -1, np.int64)  # slot → group
    label, first, size = np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(n, np.int64)
    groups, rows = 0, max(1, AT_A_TIME // max(q, 1))
    for begin in range(0, n, rows):
        stop = min(begin + rows, n)
        groups = group_some(codes, table, label, first, size, groups, begin, stop)
    return label, first[:groups].copy(), size[:groups].copy()


def number_codes(codes: Any, values: int) -> tuple[Any, Any]:
    """Number codes (int32[n], below `values`; -1 stays) by first appearance.

    Returns the numbers, int32[n], and the code of each number, int32[numbers].

    >>> [found.tolist() for found in number_codes(np.array([3, -1, 0, 3], np.int32), 4)]
    [[0, -1, 1, 0], [3, 0]]
    """
    number, used = np.full(values, -1, np.int32), np.empty(values, np.int32)
    numbers, many = np.empty(len(codes), np.int32), 0
    for begin in range(0, len(codes), AT_A_TIME):
        stop = min(begin + AT_A_TIME, len(codes))
        many = number_some(codes, begin, stop, number, used, numbers, many)
    return numbers, used[:many].copy()


def _group_in_parts(codes: Any, threads: Team) -> tuple[Any, Any, Any]:
    """The same for a long table, on threads; their number does not change the result."""
    pieces = _Pieces(codes, threads)
    same = _first_equal(codes, pieces)
    firsts = np.zeros(len(pieces.cuts), np.int64)  # of each piece, after a zero

    def count(i: int, begin: int, stop: int) -> None:
        firsts[i + 1] = count_firsts(same, begin, stop)

    pieces.run(count)
    before = np.cumsum(firsts)
    label, first = np.empty(len(codes), np.int64), np.empty(before[-1], np.int64)
    pieces.run(lambda i, begin, stop: number_firsts(same, begin, stop, before[i], label, first))
    pieces.run(lambda _, begin, stop: label_others(same, begin, stop, label))
    return label, first, np.bincount(label, minlength=len(first))


class _Pieces:
    """Pieces of the rows, which threads share."""

    def __init__(self, codes: Any, threads: Team) -> None:
        n, q = codes.shape
        many = min(n, max(threads.pieces, -(-n * max(q, 1) // AT_A_TIME)))
        self.cuts = [n * i // many for i in range(many + 1)]
        self.threads = threads

    def __len__(self) -> int:
        return len(self.cuts) - 1

    def run(self, task: Callable[[int, int, int], object]) -> None:
        """Call the task with the number of each piece, its begin and its end."""

        def call(i: int, begin: int, stop: int, _: int) -> None:
            task(i, begin, stop)

        pieces = enumerate(pairwise(self.cuts))
        self.threads.run(partial(call, i, *cut) for i, cut in pieces)


def _first_equal(codes: Any, pieces: _Pieces) -> Any:
    """The first row that is equal to each row, int32[n]."""
    n, q = codes.shape
    low, high = np.empty((2, len(pieces), q), np.int32)
    pieces.run(lambda i, begin, stop: find_spans(codes, begin, stop, low[i], high[i]))
    lowest = low.min(axis=0).astype(np.int64)
    width = [int(span).bit_length() for span in high.max(axis=0).astype(np.int64) - lowest]
    exact = sum(width) < KEY_BITS
    shift = np.cumsum([0, *width[:-1]], dtype=np.uint64) if exact else np.zeros(q, np.uint64)

    bits = max(1, min(MOST_BITS, (n // PART).bit_length()))  # shifting by all bits is undefined
    parts, down = 1 << bits, np.uint64(KEY_BITS - bits)
    key, counts = np.empty(n, np.uint64), np.zeros((len(pieces), parts), np.int64)
    pieces.run(lambda i, *cut: make_keys(codes, *cut, lowest, shift, exact, down, key, counts[i]))
    # The rows of a part are next to each other, piece by piece, and so in their order.
    size = counts.sum(axis=0)
    ends = np.cumsum(size)
    at = np.cumsum(counts, axis=0) - counts + (ends - size)
    number = np.int32 if n <= np.iinfo(np.int32).max else np.int64
    keys, rows = np.empty(n, np.uint64), np.empty(n, number)
    pieces.run(lambda i, begin, stop: divide(key, begin, stop, down, at[i], keys, rows))

    start, same = np.append(0, ends), np.empty(n, number)
    slots = 1 << int(2 * size.max()).bit_length()
    tables = [np.empty(slots, number) for _ in range(pieces.threads.threads)]
    shares = np.searchsorted(ends, pieces.cuts[1:-1])  # parts with as many rows as a piece

    def group(lo: int, hi: int, thread: int) -> None:
        group_parts(codes, keys, rows, start, lo, hi, exact, tables[thread], same)

    pieces.threads.run(partial(group, *cut) for cut in pairwise([0, *shares.tolist(), parts]))
    return same


@lean_kernel
def group_some(codes, table, label, first, size, groups, begin, stop):
    """Number the rows from `begin` to `stop`; returns how many groups there are then."""
    q = codes.shape[1]
    mask = np.uint64(len(table) - 1)
    for i in range(begin, stop):
        slot = hash_row(codes, i) & mask
        while True:
            g = table[slot]
            if g < 0:
                table[slot] = groups
                first[groups] = i
                size[groups] = 1
                label[i] = groups
                groups += 1
                break
            same = True
            row = first[g]
            for j in range(q):
                if codes[row, j] != codes[i, j]:
                    same = False
                    break
            if same:
                size[g] += 1
                label[i] = g
                break
            slot = (slot + np.uint64(1)) & mask
    return groups


@lean_kernel
def interleave(columns, codes):
    """Copy columns (int32[q, n]) to rows (int32[n, q])."""
    for i in range(len(codes)):
        for j in range(len(columns)):
            codes[i, j] = columns[j, i]


@lean_kernel
def number_some(codes, begin, stop, number, used, numbers, many):
    """Number the codes from `begin` to `stop`; returns how many there are then."""
    for i in range(begin, stop):
        code = codes[i]
        if code < 0:
            numbers[i] = -1
            continue
        if number[code] < 0:
            number[code] = many
            used[many] = code
            many += 1
        numbers[i] = number[code]
    return many


@lean_kernel
def hash_row(codes, i):
    """A hash of a row, 64 bits."""
    h = np.uint64(1469598103934665603)
    for j in range(codes.shape[1]):
        h = (h ^ np.uint64(codes[i, j])) * np.uint64(0x9E3779B97F4A7C15)
        h ^= h >> np.uint64(29)
    return h


@lean_kernel
def find_spans(codes, begin, stop, low, high):
    """Write the lowest and the highest value of each column from `begin` to `stop`."""
    for j in range(codes.shape[1]):
        low[j] = high[j] = codes[begin, j]
    for i in range(begin, stop):
        for j in range(codes.shape[1]):
            low[j] = min(low[j], codes[i, j])
            high[j] = max(high[j], codes[i, j])


@lean_kernel
def make_keys(codes, begin, stop, low, shift, exact, down, key, counts):
    """Write the key of each row, and count the rows of each part: the key without `down` bits.

    If keys are `exact`, different rows have different ones.
    """
    for i in range(begin, stop):
        if exact:
            k = np.uint64(0)
            for j in range(codes.shape[1]):
                k |= np.uint64(codes[i, j] - low[j]) << shift[j]
            # One-to-one, and the leading bits depend on all bits.
            k = (k ^ (k >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
            k = (k ^ (k >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
            k ^= k >> np.uint64(32)
        else:
            k = hash_row(codes, i)
        key[i] = k
        counts[k >> down] += 1


@lean_kernel
def divide(key, begin, stop, down, at, keys, rows):
    """Put keys and row numbers next to those of the same part; `at` is the next place of each."""
    for i in range(begin, stop):
        part = key[i] >> down
        to = at[part]
        at[part] = to + 1
        keys[to], rows[to] = key[i], i


@lean_kernel
def group_parts(codes, keys, rows, start, lo, hi, exact, table, same):
    """Find the first equal row of each row, in the parts from `lo` to `hi`."""
    for part in range(lo, hi):
        begin, stop = start[part], start[part + 1]
        slots = 2
        while slots < 2 * (stop - begin):
            slots *= 2
        mask = np.uint64(slots - 1)
        for slot in range(slots):
            table[slot] = -1
        for i in range(begin, stop):
            slot = keys[i] & mask
            while True:
                place = table[slot]
                if place < 0:
                    table[slot] = i - begin
                    same[rows[i]] = rows[i]
                    break
                if keys[begin + place] == keys[i]:
                    row, equal = rows[begin + place], True
                    if not exact:
                        for j in range(codes.shape[1]):
                            equal = equal and codes[row, j] == codes[rows[i], j]
                    if equal:
                        same[rows[i]] = row
                        break
                slot = (slot + np.uint64(1)) & mask


@lean_kernel
def count_firsts(same, begin, stop):
    """The rows from `begin` to `stop` that are the first of their group."""
    count = 0
    for i in range(begin, stop):
        if same[i] == i:
            count += 1
    return count


@lean_kernel
def number_firsts(same, begin, stop, groups, label, first):
    """Number these rows, after the `groups` before; the other rows have no label yet."""
    for i in range(begin, stop):
        if same[i] == i:
            label[i] = groups
            first[groups] = i
            groups += 1


@lean_kernel
def label_others(same, begin, stop, label):
    """Give each other row the label of the first one of its group."""
    for i in range(begin, stop):
        if same[i] != i:
            label[i] = label[same[i]]
