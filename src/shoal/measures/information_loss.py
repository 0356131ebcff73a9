"""Quality: how much of a table was lost on the way to its release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal import catalog
from shoal.base.arrays import Floats
from shoal.base.errors import BadTable
from shoal.hierarchies.free_values import Covers
from shoal.kernels.tree_sums import sum_below
from shoal.losses import Loss, alteration, costs_of
from shoal.losses._mean_costs import metrics_in_mean
from shoal.table.encode import Table
from shoal.table.equivalence_classes import Classes
from shoal.table.published_table import Held, Published
from shoal.table.recoding import Recoding

# How a record that is not published counts, for the JSON; docs/losses.md says it at length.
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
    """What was lost, in percent; 0 is the original, 100 a table of roots."""

    losses: dict[str, float]  # alteration per metric (Def. 7, Mauger 2023)
    mean_loss: float  # mean alteration over the seven metrics (Def. 9, Mauger 2023)
    columns: dict[str, float]  # alteration per column, by the guiding loss
    generalized_percent: float  # values that are wider than the original (Def. 9)
    root_percent: float  # values at the root (Def. 9)


def measure(
    table: Table, published: Published, loss: Loss, recoding: Recoding | None = None
) -> Quality:
    """Compare a release with its original; rows need not be in the same order.

    Where the recoding is at hand, generalized values are counted row by row. Without it they are
    counted value by value, which is the same unless some originals are general already: then it
    may be too few.
    """
    before = [domain.counts.astype(np.float64) for domain in table.domains]
    held = published.counts(table)
    _check_counts(table, before, held)
    after = [one.spread() for one in held]
    losses = {
        name: alteration(costs_of(kind(), table.domains), before, after)
        for name, kind in catalog.losses.items()
        if issubclass(kind, Loss) and kind.reported
    }
    guiding = costs_of(loss, table.domains)
    losses.setdefault(loss.name, alteration(guiding, before, after))
    cells = table.rows * len(table.names)
    if recoding is not None:
        stayed = float((recoding.codes() == table.codes).sum())
    else:
        both = zip(before, held, strict=True)
        stayed = sum(float(np.minimum(b, a.nodes).sum()) for b, a in both)
    return Quality(
        losses=losses,
        mean_loss=float(np.mean([losses[name] for name in metrics_in_mean()])),
        columns={
            name: alteration([cost], [b], [a])
            for name, cost, b, a in zip(table.names, guiding, before, after, strict=True)
        },
        generalized_percent=100.0 * (cells - stayed) / cells,
        root_percent=100.0 * sum(float(one.nodes[0]) for one in held) / cells,
    )


def check_compatible(table: Table, published: Published) -> None:
    """Raise an error if a release says more than its original."""
    before = [domain.counts.astype(np.float64) for domain in table.domains]
    _check_counts(table, before, published.counts(table))


def _check_counts(table: Table, before: list[Floats], after: list[Held]) -> None:
    """Refuse a release that says more than its original: below no value there can be more rows."""
    for name, tree, had, held in zip(table.names, table.trees, before, after, strict=True):
        more = (sum_below(tree.parent, held.nodes) > sum_below(tree.parent, had))[1:].any()
        if len(held.free):
            start, leaf = held.covers.lists()
            inside = np.add.reduceat(np.append(had[leaf], 0.0), start[:-1])
            more = more or (held.free > inside).any()
        if more:
            raise BadTable(
                f"column {name!r} of the release says more than the original does; "
                "they do not belong together"
            )


def discernibility(classes: Classes, suppressed: int) -> int:
    """Each record counts as many as it cannot be told from (Bayardo, Agrawal 2005)."""
    rows = int(classes.size.sum()) + suppressed
    return int((classes.size**2).sum()) + suppressed * rows


def normalized_class_size(published: int, classes: int, suppressed: int, k: int) -> float:
    """(records / classes) / k (C_AVG: LeFevre, DeWitt, Ramakrishnan 2006).

    All records count; those that are suppressed are one class more.
    """
    return (published + suppressed) / (classes + (suppressed > 0)) / k


def kept(table: Table, loss: Loss, covers: Sequence[Covers] = ()) -> list[Floats]:
    """What each published value keeps of its column: the cost to the root, by its code.

    A free value of width W keeps 1 - W of what a leaf does (eq. 11 and 12, Wang 2018). What is
    lost of a cell is what its original keeps less what is published keeps.
    """
    costs = costs_of(loss, table.domains)
    if not covers:
        return costs
    return [
        np.append(cost, (1.0 - one.widths()) * cost[-1]) if len(one) else cost
        for cost, one in zip(costs, covers, strict=True)
    ]
