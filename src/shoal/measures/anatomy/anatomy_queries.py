"""Counting queries from the two tables of an anatomy (Sec. 6, Xiao and Tao 2006)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.base.arrays import Ints
from shoal.hierarchies.leaf_runs import LeafRuns
from shoal.kernels.group import group_rows
from shoal.measures.anatomy.two_tables import TwoTables
from shoal.measures.queries.answers import Answers, compare_answers
from shoal.measures.queries.counted import Counted, Shared, ValueCounts, in_order, used_codes
from shoal.measures.queries.draw import Queries
from shoal.table.alike import places_alike
from shoal.table.encode import Table
from shoal.table.published_table import Published
from shoal.table.roles import naming


def answer_from_two(
    original: Table,
    quasi: Published,
    seen: TwoTables,
    queries: Queries,
    watch: Callable[[float], None] = lambda _: None,
) -> Answers:
    """Answer the same queries as of any release from the original and from the two tables.

    Quasi-identifiers are exact. Of the records of a group that a query selects by them, each has a
    sensitive value with the probability of its share in the group.
    """
    (secret,) = original.sensitive
    columns = [Shared(secret, secret, in_order(secret))]
    after = _counted(original, quasi, seen, columns[0])
    return compare_answers(original, after, columns, queries, watch, original.rows)


def _counted(original: Table, quasi: Published, seen: TwoTables, column: Shared) -> Counted:
    """The two tables: the vectors of each group, and the expected counts of its values."""
    label = np.stack([quasi.classes.label, seen.group], axis=1).astype(np.int32)
    _, first, size = group_rows(np.ascontiguousarray(label))  # pairs of a vector and a group
    covers: list[LeafRuns] = []
    codes: list[Ints] = []
    for name, tree in zip(original.names, original.trees, strict=True):
        j = quasi.names.index(name)
        used, code = used_codes(quasi.codes[first, j] + 1, len(quasi.values[j]) + 1)
        with naming(name):
            shown = [None if c == 0 else quasi.values[j][c - 1] for c in used]
            covers.append(LeafRuns.of_labels(tree, shown))
        codes.append(code)
    known = places_alike([*seen.values, None], column.values)  # a missing value has the code -1
    at, width = seen.pairs_of(seen.group[first])
    place = np.array(known, np.int64)[seen.value[at]]
    order = np.argsort(place, kind="stable")
    order = order[place[order] >= 0]
    secrets = ValueCounts(
        np.repeat(np.arange(len(first)), width)[order],
        (seen.share[at] * np.repeat(size, width))[order],
        np.searchsorted(place[order], np.arange(len(column.values) + 1)),
    )
    return Counted(tuple(covers), tuple(codes), size.astype(np.float64), (secrets,))
