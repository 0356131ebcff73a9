"""Records that are unique on few columns: minimal sample uniques (Elliot, Manning, Ford 2002).

All sets of columns are visited, each after all of its subsets: sets that begin with the last
columns first, and a set that continues with a later column before one that continues with an
earlier one. A record that is unique on a set leaves the search below it, so that few records are
left in large sets.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.kernels import lean_kernel


@lean_kernel
def divide(rows, label, many, codes, size, keys, ids, slots, new, count):
    """Number the pairs of a label and a code of each row; returns how many there are.

    `keys` (int64) and `ids` (int32) are a hash table of `slots`, a power of two, whose ids are -1.
    """
    found = 0
    mask = slots - 1
    for i in range(many):
        key = np.int64(label[i]) * size + codes[rows[i]]
        at = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & mask
        while ids[at] >= 0 and keys[at] != key:
            at = (at + 1) & mask
        if ids[at] < 0:
            ids[at], keys[at] = found, key
            count[found] = 0
            found += 1
        new[i] = ids[at]
        count[new[i]] += 1
    for i in range(slots):
        ids[i] = -1
    return found


@lean_kernel
def keep_others(rows, many, new, count, below, below_label, known, others, bits, own, minimal):
    """Note the unique rows, and hand on the others; returns how many are minimal, and left.

    `others` are the places in `known` of the sets with one column less; `own` is that of this set,
    or -1. `minimal` gets the rows that are unique on no smaller set.
    """
    left = found = labels = 0
    for i in range(many):
        row = rows[i]
        if count[new[i]] == 1:
            word, bit = row >> 3, np.uint8(1 << (row & 7))
            is_minimal = True
            for s in range(others):
                if bits[known[s], word] & bit:
                    is_minimal = False
                    break
            if own >= 0:
                bits[own, word] |= bit
            if is_minimal:
                minimal[found] = row
                found += 1
        else:
            if count[new[i]] > 0:  # the first of its group: count becomes -1 - label
                count[new[i]] = -1 - labels
                labels += 1
            below[left] = row
            below_label[left] = -1 - count[new[i]]
            left += 1
    return found, left


@lean_kernel
def tally_minimal(minimal, many, size, column_mask, counts, smallest, smallest_set):
    """Count the minimal unique sets of each row by size, and keep the first smallest one."""
    for i in range(many):
        row = minimal[i]
        counts[row, size - 1] += 1
        if smallest[row] == 0 or size < smallest[row]:
            smallest[row] = size
            smallest_set[row] = column_mask


def table_slots(rows: int) -> int:
    """Slots of a hash table for so many rows: a power of two, at most half full."""
    return 1 << max(4, (2 * rows).bit_length())


def empty_table(slots: int) -> tuple[Any, Any]:
    """The keys and ids of a hash table."""
    return np.zeros(slots, np.int64), np.full(slots, -1, np.int32)
