"""Blocks: the records that `at_most` lets be published with common values.

Two records can be in one class only if in every limited column the same most general value may be
published of both (`table.at_most`). So the table falls into blocks, one per combination of these
values. A class is inside a block, and every class inside a block complies with `at_most`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.algorithms._shared.requirements import all_satisfied, too_risky
from shoal.base.arrays import Bools, Ints, Longs
from shoal.hierarchies.free_values import FreeTree
from shoal.hierarchies.tree import Tree
from shoal.kernels.group import group_rows
from shoal.models import Model, TableModel
from shoal.table.allowed.at_most import BEYOND, Tops, block_keys
from shoal.table.encode import Table
from shoal.table.equivalence_classes import Classes, tally
from shoal.table.person_values import PersonValues
from shoal.table.sensitive import Sensitive

NOWHERE = -1  # the block of a record of which nothing may be published


@dataclass(frozen=True, eq=False)
class Blocks:
    """The block of each row of a table, in the order of their tops."""

    label: Longs  # int64[n], NOWHERE: some original value is beyond `at_most`
    tops: Ints  # int32[blocks, limited columns]

    def __len__(self) -> int:
        return len(self.tops)

    @staticmethod
    def of(table: Table, tops: Sequence[Tops | None] | None = None) -> Blocks:
        """The blocks of a table; all records of a person are in one, or in none."""
        keys = block_keys(table.tops if tops is None else tops, table.unified, table.covers)
        label = np.full(len(keys), NOWHERE, np.int64)
        there = np.flatnonzero((keys != BEYOND).all(axis=1))
        if not len(there):
            return Blocks(label, keys[:0])
        group, first, _ = group_rows(np.ascontiguousarray(keys[there]))
        found = keys[there[first]]
        order = np.lexsort(found.T[::-1])
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        label[there] = rank[group]
        return Blocks(label, found[order])

    def rows(self, published: Bools) -> Longs:
        """The rows of these blocks."""
        return np.flatnonzero(np.append(published, False)[self.label])


def publishable(table: Table, blocks: Blocks, models: Sequence[Model]) -> Bools:
    """The blocks that can satisfy the models, bool[blocks]; the others must be suppressed.

    If all classes of a block satisfy a model, the block as one class satisfies it, so a block that
    does not is suppressed. For models that only count people no release suppresses fewer records;
    for others, a part of the block might have been published. What is suppressed is not part of
    the distribution that models compare with, so this is repeated until all remaining blocks
    satisfy them. Of models about the whole table the smallest blocks are suppressed, no more than
    are needed.
    """
    stays = np.ones(len(blocks), np.bool_)
    of_table = [model for model in models if isinstance(model, TableModel)]
    of_classes = [model for model in models if not isinstance(model, TableModel)]
    while stays.any():
        number, classes = _as_classes(table, blocks, stays)
        fails = number[~all_satisfied(of_classes, classes)]
        if not len(fails):
            order = np.argsort(classes.people, kind="stable")
            fails = number[order[: too_risky(of_table, classes.people[order])]]
        if not len(fails):
            break
        stays[fails] = False
    return stays


def _as_classes(table: Table, blocks: Blocks, stays: Bools) -> tuple[Longs, Classes]:
    """These blocks as classes of a table that has no other records, and their numbers."""
    rows = blocks.rows(stays)
    part = table if len(rows) == len(table.codes) else table.take(rows)
    label = blocks.label[rows]
    classes = tally(label.astype(np.int32)[:, None], part.people, part.sensitive, part.weight)
    return label[classes.first], classes


class BlockTables:
    """The tables of single blocks, whose trees end at what may be published.

    Losses weigh by the frequencies of the whole table, and models compare with the distribution of
    all blocks together, which are what is published.
    """

    def __init__(self, table: Table, blocks: Blocks, published: Bools) -> None:
        rows = blocks.rows(published)
        label = blocks.label[rows]
        order = np.argsort(label, kind="stable")
        self.rows = rows[order]  # int64[published rows], block by block
        self.numbers, first = np.unique(label[order], return_index=True)
        self._start = np.append(first, len(rows))
        self._tops = blocks.tops
        self._table, self._domains = table.take(self.rows), table.domains
        self._sensitive = [_counted(one, self._table) for one in self._table.sensitive]
        self._limited = [j for j, one in enumerate(table.tops) if one is not None]
        self._trees: dict[tuple[int, int], Tree] = {}

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def tuples(self) -> Longs:
        """The rows of each block."""
        return np.diff(self._start)

    def rows_of(self, block: int) -> Longs:
        """The rows of the whole table that are in a block."""
        return self.rows[self._start[block] : self._start[block + 1]]

    def tops_of(self, block: int) -> Ints:
        """For each column the node at which its tree ends, int32[q]."""
        found = np.zeros(len(self._table.trees), np.int32)
        for j, top in zip(self._limited, self._tops[self.numbers[block]], strict=True):
            if not isinstance(self._table.trees[j], FreeTree):
                found[j] = top
        return found

    def table(self, block: int) -> Table:
        """The records of a block; node v of a tree that ends at top is v - top."""
        whole, tops = self._table, self.tops_of(block)
        mine = slice(self._start[block], self._start[block + 1])
        trees = tuple(self._below(j, int(top)) for j, top in enumerate(tops))
        people = None if whole.people is None else whole.people[mine]
        found = replace(
            whole,
            trees=trees,
            codes=np.ascontiguousarray(whole.codes[mine] - tops),
            people=None if people is None else np.unique(people, return_inverse=True)[1],
            sensitive=tuple(replace(one, codes=one.codes[mine]) for one in self._sensitive),
            weight=None if whole.weight is None else whole.weight[mine],
            others=None,
            tops=(),
        )
        found.__dict__["domains"] = self._domains.below(tops.tolist(), trees)
        return found

    def _below(self, j: int, top: int) -> Tree:
        if (j, top) not in self._trees:
            self._trees[j, top] = self._table.trees[j].below(top)
        return self._trees[j, top]


def _counted(column: Sensitive, table: Table) -> Sensitive:
    """A sensitive column that knows the frequencies of its values, also among people."""
    column = replace(column, total=column.counted(table.weight))
    if table.people is None:
        return column
    nowhere = np.zeros(len(table.codes), np.int64)
    found = PersonValues.of(nowhere, 1, table.people, column, table.person_weight)
    return replace(column, people_total=found.total, people_count=found.person_count)
