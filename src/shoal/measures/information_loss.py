"""Information loss: how much of the original a release loses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from shoal import catalog
from shoal.base.arrays import Floats
from shoal.base.errors import BadTable
from shoal.base.threads import in_threads
from shoal.hierarchies.free_values import Covers
from shoal.kernels.tree_sums import sum_below
from shoal.losses import Loss, alteration, costs_of
from shoal.losses._mean_costs import metrics_in_mean
from shoal.table.encode import Table
from shoal.table.equivalence_classes import Classes
from shoal.table.published_table import Published, ValueCounts
from shoal.table.recoding import Recoding

# How a suppressed record counts in each number of the JSON file; see docs/losses.md.
SUPPRESSED_COUNT_AS = {
    "losses": "the root of every column: all of it is lost",
    "mean_loss": "the root of every column: all of it is lost",
    "generalized_percent": "the root of every column",
    "root_percent": "the root of every column",
    "normalized_loss": "1 in every column",
    "discernibility": "as many records as the table has",
    "average_class_size": "not counted",
    "objective loss": "the root of every column: all of it is lost",
    "objective discernibility": "as many records as the table has",
    "objective average-class-size": "all suppressed records together as one class more",
    "bound": "the root of every column: all of it is lost",
}


@dataclass(frozen=True)
class Quality:
    """The information loss in percent: 0 for the original, 100 for a table of roots."""

    losses: dict[str, float]  # alteration per metric (Def. 7, Mauger 2023)
    mean_loss: float  # mean alteration over the seven metrics (Def. 9, Mauger 2023)
    columns: dict[str, float]  # alteration per column, by the guiding loss
    generalized_percent: float  # values that are more general than the original (Def. 9)
    root_percent: float  # values at the root (Def. 9)


def measure(
    table: Table, published: Published, loss: Loss, recoding: Recoding | None = None
) -> Quality:
    """Compare a release with its original; records need not be in the same order.

    With the recoding, generalized values are counted record by record. Without it they are counted
    value by value, which gives the same number unless some original values are general already:
    then it may be too low.
    """
    before = [domain.counts.astype(np.float64) for domain in table.domains]
    counts = published.counts(table)
    _check_counts(table, before, counts)
    after = [one.spread() for one in counts]
    losses = {
        name: alteration(costs_of(kind(), table.domains), before, after)
        for name, kind in catalog.losses.items()
        if issubclass(kind, Loss) and kind.reported
    }
    guiding = costs_of(loss, table.domains)
    losses.setdefault(loss.name, alteration(guiding, before, after))
    cells = table.rows * len(table.names)
    if recoding is not None:
        stayed = float(sum(in_threads(partial(_unchanged, table, recoding), range(len(before)))))
    else:
        both = zip(before, counts, strict=True)
        stayed = sum(float(np.minimum(b, a.nodes).sum()) for b, a in both)
    return Quality(
        losses=losses,
        mean_loss=float(np.mean([losses[name] for name in metrics_in_mean()])),
        columns={
            name: alteration([cost], [b], [a])
            for name, cost, b, a in zip(table.names, guiding, before, after, strict=True)
        },
        generalized_percent=100.0 * (cells - stayed) / cells,
        root_percent=100.0 * sum(float(one.nodes[0]) for one in counts) / cells,
    )


def weighted_losses(
    table: Table, published: Published, loss: Loss, before: Floats, after: Floats
) -> dict[str, float]:
    """The losses in percent if each record counts as often as its weight says.

    `before` are the weights of the original's records, `after` those of the rows of the release.
    """
    had = [
        np.bincount(table.codes[:, j], before, tree.size).astype(np.float64)
        for j, tree in enumerate(table.trees)
    ]
    has = [one.spread() for one in published.weighted_counts(table, after, float(before.sum()))]
    kinds = {n: k() for n, k in catalog.losses.items() if issubclass(k, Loss) and k.reported}
    return {
        name: alteration(costs_of(one, table.domains), had, has)
        for name, one in ({loss.name: loss} | kinds).items()
    }


def _unchanged(table: Table, recoding: Recoding, j: int) -> int:
    """Values of a column that are published as they are."""
    same = recoding.column(j) == table.codes[:, j]
    return int(np.count_nonzero(same) if table.weight is None else table.weight[same].sum())


def check_compatible(table: Table, published: Published) -> None:
    """Raise an error if a release contains more information than its original."""
    before = [domain.counts.astype(np.float64) for domain in table.domains]
    _check_counts(table, before, published.counts(table))


def _check_counts(table: Table, before: list[Floats], after: list[ValueCounts]) -> None:
    """Raise an error if more records of the release than of the original are below some value."""
    for name, tree, had, has in zip(table.names, table.trees, before, after, strict=True):
        more = (sum_below(tree.parent, has.nodes) > sum_below(tree.parent, had))[1:].any()
        if len(has.free):
            start, leaf = has.covers.lists()
            inside = np.add.reduceat(np.append(had[leaf], 0.0), start[:-1])
            more = more or (has.free > inside).any()
        if more:
            raise BadTable(
                f"column {name!r} of the release contains more information than the original; they "
                "do not belong together"
            )


def discernibility(classes: Classes, suppressed: int) -> int:
    """Each record counts the records that look the same (Bayardo, Agrawal 2005)."""
    rows = int(classes.size.sum()) + suppressed
    return int((classes.size**2).sum()) + suppressed * rows


def normalized_class_size(published: int, classes: int, suppressed: int, k: int) -> float:
    """(records / classes) / k (C_AVG: LeFevre, DeWitt, Ramakrishnan 2006).

    All records count; the suppressed ones are one more class.
    """
    return (published + suppressed) / (classes + (suppressed > 0)) / k


def kept(table: Table, loss: Loss, covers: Sequence[Covers] = ()) -> list[Floats]:
    """The information that each published value keeps: its cost to the root, by its code.

    A free value of width W keeps 1 - W of the information of a leaf (eq. 11 and 12, Wang 2018).
    The loss of a cell is what its original value keeps minus what the published value keeps.
    """
    costs = costs_of(loss, table.domains)
    if not covers:
        return costs
    return [
        np.append(cost, (1.0 - one.widths()) * cost[-1]) if len(one) else cost
        for cost, one in zip(costs, covers, strict=True)
    ]
