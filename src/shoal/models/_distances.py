"""Distances between the sensitive values of a class and those of the whole table.

Each is a function of a Histogram and gives one number per class, float64[classes]. P is the share
of each value in the class, Q its share in the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from shoal.base.arrays import Floats, Longs
from shoal.base.errors import BadPlan, preview
from shoal.hierarchies.calendar import as_date
from shoal.kernels.distances import emd_line, emd_tree
from shoal.table.alike import alike
from shoal.table.sensitive import Histogram, Sensitive


def equal(histogram: Histogram) -> Floats:
    """Variational distance: the work if any two values are equally far apart (Li 2007).

    Half the sum of |p - q| is the sum of p - q over the values that are more frequent in the class;
    these are values of the class, so the others need not be read.
    """
    more = np.maximum(histogram.share - histogram.overall[histogram.value], 0.0)
    return np.add.reduceat(more, histogram.start[:-1])


def l1(histogram: Histogram) -> Floats:
    """Norm 1 of P - Q, between 0 and 2 (Def. 13, Mauger 2023)."""
    return 2 * equal(histogram)


def kl(histogram: Histogram) -> Floats:
    """Kullback-Leibler distance of P from Q, in nats; it is not a metric."""
    ratio = histogram.share / histogram.overall[histogram.value]
    return np.add.reduceat(histogram.share * np.log(ratio), histogram.start[:-1])


def ordered(histogram: Histogram, order: Sequence[Any] | None = None) -> Floats:
    """Earth Mover's Distance on ranks: the ends of the order are 1 apart (Li 2007).

    The ranks are those of the values in the table. They follow `order` if it is given; otherwise
    numbers and dates rise, and other values follow the leaves of the column's own hierarchy. A
    missing value comes last.
    """
    if np.count_nonzero(histogram.total) < 2:
        return np.zeros(len(histogram))
    rank = _ranks(histogram.column, None if order is None else tuple(order))  # int64[values]
    rows = np.bincount(rank, histogram.total).astype(np.int64)  # int64[ranks]
    place = np.cumsum(rows > 0) - 1  # ranks without those that no record has
    below = np.cumsum(rows[rows > 0])
    if len(below) < 2:
        return np.zeros(len(histogram))
    of_pair = place[rank[histogram.value]]
    sort = np.argsort(histogram.of_class * len(rank) + of_pair, kind="stable")
    work: Floats = emd_line(histogram.start, of_pair[sort], histogram.count[sort], below)
    return work / (len(below) - 1)


def hierarchical(histogram: Histogram) -> Floats:
    """Earth Mover's Distance on the column's own hierarchy (Li 2007).

    Two values are as far apart as their lowest common ancestor is high, as a share of the
    height of the tree; the height of a node is its longest path down to a leaf.
    """
    climb = _climb(histogram.column)
    total = np.zeros(len(climb.parent), np.int64)
    np.add.at(total, climb.point, histogram.total)
    work: Floats = emd_tree(
        histogram.start,
        climb.point[histogram.value],
        histogram.count,
        total,
        climb.parent,
        climb.length,
    )
    return work


class _Climb(NamedTuple):
    """A hierarchy as a tree with lengths, in which every value is a leaf."""

    point: Longs  # int64[values], the leaf of each value
    parent: Longs  # int64[nodes], parents first
    length: Floats  # float64[nodes], of the edge above


# Ranks and trees depend on the column only, and are used again for every batch of classes.
_known: WeakKeyDictionary[Sensitive, dict[Any, Any]] = WeakKeyDictionary()


def _climb(column: Sensitive) -> _Climb:
    """The tree on which the path between two values is as long as their hierarchical distance.

    With level(lowest common ancestor) / H as the distance, each of two values goes half of it up
    and the other half down. So an edge is (level(above) - level(below)) / 2H long, also in an
    unbalanced tree, and the slides' sum of height(N) / H · min(pos_extra(N), neg_extra(N)) over
    the inner nodes is the sum of length · |extra| over the edges: moving as much as possible
    within a node before going higher is best. A value that is an inner node of the hierarchy
    becomes a leaf of its own below it, as it is level(node) / H away from what is below it.
    """
    known = _known.setdefault(column, {})
    if "climb" in known:
        found: _Climb = known["climb"]
        return found
    if column.tree is None:
        raise BadPlan(
            f"the hierarchical distance needs a hierarchy of the sensitive column {column.name!r}; "
            "give the column one, or use the distance equal"
        )
    tree, nodes = column.tree, column.nodes.astype(np.int64)
    level = tree.level.astype(np.float64)
    inner = np.unique(nodes[tree.level[nodes] > 0])  # int64[inner], nodes that are values too
    leaf_of = np.arange(tree.size)
    leaf_of[inner] = tree.size + np.arange(len(inner))
    parent = np.concatenate([tree.parent, inner]).astype(np.int64)
    up = level[parent] - np.concatenate([level, np.zeros(len(inner))])
    known["climb"] = _Climb(leaf_of[nodes], parent, up / (2 * max(level[0], 1.0)))
    return _climb(column)


def _ranks(column: Sensitive, order: tuple[Any, ...] | None) -> Longs:
    """The rank of each value of the column, int64[values]; 1 and 1.0 are of one rank."""
    known = _known.setdefault(column, {})
    if order not in known:
        key = _order(column, order)
        values = column.values
        rising = sorted((v for v in range(len(values)) if values[v] is not None), key=key)
        ranks = np.zeros(len(values), np.int64)
        for before, v in pairwise(rising):
            ranks[v] = ranks[before] + (key(before) != key(v))
        top = ranks.max(initial=0) + 1 if rising else 0
        ranks[[v for v in range(len(values)) if values[v] is None]] = top
        known[order] = ranks
    found: Longs = known[order]
    return found


def _order(column: Sensitive, order: tuple[Any, ...] | None) -> Callable[[int], Any]:
    """The sort key of the values of the column, each given by its position."""
    values = [value for value in column.values if value is not None]
    if order is not None:
        at = {alike(value): place for place, value in enumerate(order)}
        lacking = [value for value in values if alike(value) not in at]
        if lacking:
            raise BadPlan(
                f"the order of the sensitive column {column.name!r} lacks its values "
                f"{preview(lacking)}; name every value, from low to high"
            )
        return lambda v: at[alike(column.values[v])]
    if all(_number(value) is not None for value in values):
        return lambda v: _number(column.values[v])
    if all(as_date(value) is not None for value in values):
        return lambda v: as_date(column.values[v])
    if column.hierarchy is not None and column.hierarchy.is_ordered:
        return lambda v: column.nodes[v]
    raise BadPlan(
        f"the values of the sensitive column {column.name!r} have no order of their own, and the "
        "distance ordered needs one; give the order of all its values, from low to high, as in "
        'order = ["low", "middle", "high"], or give the column a hierarchy with ordered leaves'
    )


def _number(value: object) -> Any:
    """The value as a comparable number; None if it is not a number."""
    if isinstance(value, str):
        try:
            number = Decimal(value.strip())
        except InvalidOperation:
            return None
        return None if number.is_nan() else number
    return value if isinstance(value, int | float | Decimal) else None
