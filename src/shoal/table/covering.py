"""Covering: which published vectors cover which records, without testing all pairs.

Vectors and records form two tries, which are traversed column by column. A pair is visited only if
the first columns of the vector cover those of the record, and a value finds the vectors above it
among its few ancestors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.base.arrays import Ints, Longs
from shoal.base.progress import Progress, silent
from shoal.hierarchies.free_values import Covers

if TYPE_CHECKING:
    from shoal.table.encode import Table

BLOCK = 1 << 20  # pairs per block; limits memory, does not affect the result


def covering(
    wide: Ints,
    narrow: Ints,
    covers: Sequence[Covers],
    order: Longs,
    progress: Progress = silent,
) -> Iterator[tuple[Longs, Longs]]:
    """Blocks of pairs (row of `narrow`, row of `wide` that covers it), each pair once.

    Both are int32[rows, q] with distinct rows. `wide` has nodes or free values of `covers`;
    `narrow` has nodes only. `order` is the order of the columns in the tries.
    """
    if not len(wide) or not len(narrow):
        return
    wide_at, narrow_at = (np.lexsort(rows[:, order[::-1]].T) for rows in (wide, narrow))
    above, below = _trie(wide[wide_at][:, order]), _trie(narrow[narrow_at][:, order])
    for low, high in _walk(above, below, [covers[j] for j in order], progress):
        yield narrow_at[low], wide_at[high]


class _Level(NamedTuple):
    """One level of a trie over sorted distinct rows: prefixes, and how they continue."""

    begin: Longs  # prefix b continues as begin[b] … begin[b + 1] - 1
    node: Ints  # the node with which it continues

    def keys(self, nodes: int) -> Longs:
        """Rising keys of prefix and node together; their places are the longer prefixes."""
        b = np.repeat(np.arange(len(self.begin) - 1), np.diff(self.begin))
        return b * nodes + self.node


def _trie(rows: Ints) -> list[_Level]:
    """The prefixes of sorted distinct rows."""
    levels = []
    differs = np.zeros(len(rows), np.bool_)
    differs[0] = True
    first = np.zeros(1, np.int64)
    for column in rows.T:
        differs[1:] |= column[1:] != column[:-1]
        number = np.cumsum(differs) - 1
        begin = np.append(number[first], number[-1] + 1)
        first = np.flatnonzero(differs)
        levels.append(_Level(begin, column[first]))
    return levels


def _walk(
    above: list[_Level], below: list[_Level], columns: list[Covers], progress: Progress
) -> Iterator[tuple[Longs, Longs]]:
    """Blocks of pairs (row of `below`, row of `above` that covers it), each pair once."""
    codes = [one.tree.size + len(one) for one in columns]
    keys = [level.keys(size) for level, size in zip(above, codes, strict=True)]
    wider = [one.above() if len(one) else None for one in columns]
    nowhere = np.zeros(1, np.int64)
    # Column, prefixes below, prefixes above that cover them, and their share of the work.
    todo = [(0, nowhere, nowhere, 1.0)]
    done = 0.0
    while todo:
        progress("placing", min(done, 1.0))
        j, low, high, share = todo.pop()
        if j == len(columns):
            done += share
            yield low, high
            continue
        begin, node = below[j]
        ways = begin[low + 1] - begin[low]
        block = np.cumsum(ways) // BLOCK
        parts = np.split(np.arange(len(low)), np.flatnonzero(np.diff(block)) + 1)
        for part in parts:
            into = ranges(begin[low[part]], begin[low[part] + 1])
            under = np.repeat(high[part], ways[part])
            value = node[into]
            found: list[tuple[Longs, Longs]] = []
            while len(value):  # the value itself, its parent, … the root
                lists = wider[j]
                if lists is not None:  # all that cover it, at once
                    start, code = lists
                    many = start[value + 1] - start[value]
                    into, under = np.repeat(into, many), np.repeat(under, many)
                    value = code[ranges(start[value], start[value + 1])]
                key = under * codes[j] + value
                place = np.minimum(np.searchsorted(keys[j], key), len(keys[j]) - 1)
                hit = keys[j][place] == key
                found.append((into[hit], place[hit]))
                if lists is not None:
                    break
                up = value > 0
                into, under = into[up], under[up]
                value = columns[j].tree.parent[value[up]]
            lower, upper = (np.concatenate(side) for side in zip(*found, strict=True))
            if len(lower):
                todo.append((j + 1, lower, upper, share / len(parts)))
            else:
                done += share / len(parts)
    progress("placing", 1.0)


def ranges(low: Longs, high: Longs) -> Longs:
    """The numbers low[0] … high[0] - 1, low[1] … high[1] - 1, and so on.

    >>> ranges(np.array([3, 7]), np.array([5, 8])).tolist()
    [3, 4, 7]
    """
    many = high - low
    before = np.cumsum(many) - many
    return np.repeat(low - before, many) + np.arange(int(many.sum()))


def selective_order(vectors: Ints, table: Table, free: Sequence[Covers] = ()) -> Longs:
    """The columns, ordered by how few records a vector covers there."""
    shares = []
    for j, tree in enumerate(table.trees):
        often = np.bincount(table.codes[:, j], minlength=tree.size)
        upto = np.append(0, np.cumsum(often))
        rows = upto[tree.end] - upto[:-1]
        if free:
            start, leaf = free[j].lists()
            inside = np.append(0, np.cumsum(often[leaf]))
            rows = np.append(rows, inside[start[1:]] - inside[start[:-1]])
        shares.append(float(rows[vectors[:, j]].mean()))
    return np.argsort(shares, kind="stable")
