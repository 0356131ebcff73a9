"""Blocks of several attackers: what `at_most` allows if each of them knows some columns only.

A class of an attacker is among records with the same tops in the columns that this attacker knows.
So each attacker has blocks of their own, which are larger than those of one who knows all columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shoal.algorithms._shared.blocks.blocks import Blocks, publishable
from shoal.algorithms._shared.requirements import all_satisfied
from shoal.base.arrays import Bools, Ints
from shoal.hierarchies.free_values import Covers, FreeTree
from shoal.kernels.group import group_rows
from shoal.models import Model
from shoal.table.allowed.at_most import Tops
from shoal.table.encode import Table
from shoal.table.recoding import SUPPRESSED, Recoding

KeySet = frozenset[int]  # the places of the columns that an attacker knows


def publishable_rows(
    table: Table,
    models: Sequence[Model],
    tops: Sequence[Tops | None],
    sets: Sequence[KeySet] = (),
) -> Bools:
    """The rows that can be published, bool[n], so that the models are satisfied for each attacker.

    `sets`: what each of them knows; none: one attacker knows all columns. What is suppressed
    because of one attacker is in no block of another, so this is repeated until nothing changes.
    For models that only count people no release suppresses fewer records.
    """
    stays = np.ones(len(table.codes), np.bool_)
    every: Sequence[KeySet] = sets or [frozenset(range(len(table.names)))]
    while stays.any():
        before = int(stays.sum())
        for one in every:
            rows = np.flatnonzero(stays)
            if len(rows):
                part = table if len(rows) == len(stays) else table.take(rows)
                limited = [top if j in one else None for j, top in enumerate(tops)]
                stays[rows] = _fine(part, models, limited)
        if int(stays.sum()) == before:
            break
    return stays


def _fine(table: Table, models: Sequence[Model], tops: Sequence[Tops | None]) -> Bools:
    """The same for one attacker."""
    if not any(tops):
        whole = all_satisfied(models, table.as_one_class()).all()
        return np.full(len(table.codes), bool(whole))
    blocks = Blocks.of(table, tops)
    found: Bools = np.append(publishable(table, blocks, models), False)[blocks.label]
    return found


def as_general_as_allowed(table: Table) -> Recoding:
    """The recoding that publishes every record with its tops, and other columns as their roots.

    The classes of each attacker are the blocks. All records must be within `at_most`.
    """
    codes: Ints = np.zeros_like(table.codes)
    covers = [Covers(tree) for tree in table.trees]
    for j, tops in enumerate(table.tops):
        if tops is None:
            continue
        top, tree = tops.of_codes(table.unified[:, j], table.covers[j]), table.trees[j]
        codes[:, j] = top
        if isinstance(tree, FreeTree):  # here a top is only the number of a cell
            for cell in np.unique(top):
                there = top == cell
                codes[there, j] = covers[j].code(
                    tree.code(np.unique(table.codes[there, j]).tolist())
                )
    record, first, _ = group_rows(codes)
    return Recoding(codes[first], record, tuple(covers))


def as_part(table: Table, rows: Bools) -> Table:
    """These rows as a table of their own; losses weigh by the frequencies of the whole table."""
    part = table.take(np.flatnonzero(rows))
    part.__dict__["domains"] = table.domains
    return part


def in_whole(found: Recoding, rows: Bools) -> Recoding:
    """A recoding of these rows as one of the whole table, which suppresses all others."""
    record = np.full(len(rows), SUPPRESSED, np.int64)
    record[rows] = found.record
    return replace(found, record=record)
