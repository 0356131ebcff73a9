"""Mean costs: the mean of the seven metrics of Mauger 2023 as one array of costs per column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.base.arrays import Floats
from shoal.base.folder_registry import FolderRegistry
from shoal.losses import Loss, metric_costs
from shoal.table.encode import Domain

_losses = FolderRegistry("shoal.losses", Loss)  # type: ignore[type-abstract]


def metrics_in_mean() -> dict[str, type[Loss]]:
    """The metrics whose mean is reported, by name, in the order of Mauger 2023."""
    kinds = sorted(_losses.items(), key=lambda item: item[1].place_in_mean)
    return {name: kind for name, kind in kinds if kind.place_in_mean}


def mean_costs(domains: Sequence[Domain]) -> list[Floats]:
    """The costs of each metric divided by its largest possible loss per record, averaged.

    A metric by which this table cannot lose anything does not count. The largest loss includes the
    importance of the columns; the costs do not, as `costs_of` multiplies them by it.
    """
    total = [np.zeros(domain.tree.size) for domain in domains]
    able = 0
    for kind in metrics_in_mean().values():
        costs = metric_costs(kind(), domains)
        most = _largest_loss(costs, domains)
        if most > 0:
            total = [have + cost / most for have, cost in zip(total, costs, strict=True)]
            able += 1
    return [cost / max(able, 1) for cost in total]


def _largest_loss(costs: Sequence[Floats], domains: Sequence[Domain]) -> float:
    """The average loss of a record when all of its values become roots."""
    rows = int(domains[0].counts.sum())
    both = list(zip(costs, domains, strict=True))
    if rows == 0:  # hierarchies alone: as if every record had the most expensive values
        return sum(one.importance * float(cost.max()) for cost, one in both)
    return sum(one.importance * float(cost @ one.counts) for cost, one in both) / rows
