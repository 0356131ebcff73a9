"""Information-loss metrics: the cost of publishing a more general value, one metric per file.

A metric gives one array per column: the cost from each node to the root. Generalizing a value
costs the difference between its node and the published one. The cost matrices of Mauger et al. are
a view of these arrays. Internal: the catalog finds the metrics here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.base.arrays import Floats
from shoal.base.settings import Setting
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.tree import Label, Tree
from shoal.kernels.tree_sums import sum_to_root
from shoal.table.encode import Domain, Domains


class Loss(Setting):
    """An information-loss metric: a cost for each published value of a column."""

    counts: ClassVar[str] = ""  # completes "It counts …" in the report; empty: the docstring
    reported: ClassVar[bool] = True  # whether every release is measured by it
    # Its place in the mean of the seven metrics (Def. 9, Mauger 2023); 0: not one of them.
    place_in_mean: ClassVar[int] = 0
    monotone: ClassVar[bool] = True  # whether a more general value never costs less
    needs_trees: ClassVar[bool] = False  # whether it cannot measure free ranges and sets

    @abstractmethod
    def costs(self, domains: Sequence[Domain]) -> list[Floats]:
        """For every column the cost from each node to the root, float64[nodes].

        By the metric alone: `costs_of` multiplies it by the importance of the column.
        """

    @classmethod
    def description(cls) -> str:
        """What the metric counts, in plain words."""
        return cls.counts or cls.summary()

    def cost_matrix(self, hierarchies: Mapping[str, Hierarchy | Tree]) -> dict[str, CostMatrix]:
        """The costs matrix of every column (Def. 5, Mauger 2023)."""
        domains = [
            Domain(name, tree, np.zeros(tree.size, np.int64))
            for name, given in hierarchies.items()
            for tree in [given if isinstance(given, Tree) else given.tree()]
        ]
        return {
            domain.name: CostMatrix.of(domain.tree, cost)
            for domain, cost in zip(domains, self.costs(domains), strict=True)
        }


def costs_of(loss: Loss, domains: Sequence[Domain]) -> list[Floats]:
    """What each column loses from each node to the root, its importance included.

    All algorithms, measures and bounds compute with these costs. For the domains of a table they
    are computed once; the arrays are not to be changed.
    """
    return [
        cost if domain.importance == 1.0 else cost * domain.importance
        for cost, domain in zip(metric_costs(loss, domains), domains, strict=True)
    ]


def metric_costs(loss: Loss, domains: Sequence[Domain]) -> list[Floats]:
    """`loss.costs`, computed once for the domains of a table; without importance."""
    if not isinstance(domains, Domains):
        return loss.costs(domains)
    if domains.whole is not None:
        part = zip(metric_costs(loss, domains.whole), domains.tops, domains, strict=True)
        return [cost[top : top + one.tree.size] - cost[top] for cost, top, one in part]
    key = type(loss), loss.model_dump_json()
    if key not in domains.costs:
        domains.costs[key] = loss.costs(domains)
    return list(domains.costs[key])


def know_costs(loss: Loss, domains: Domains, costs: Sequence[Floats]) -> Domains:
    """Have `metric_costs` return these: those of a larger table, of which this is a part."""
    domains.costs[type(loss), loss.model_dump_json()] = list(costs)
    return domains


class EdgeLoss(Loss):
    """A metric that puts a weight on every edge of a hierarchy (Def. 3, Mauger 2023)."""

    @abstractmethod
    def edges(self, domain: Domain, domains: Sequence[Domain]) -> Floats:
        """The weight of the edge above each node, float64[nodes]; the root's is not used."""

    def costs(self, domains: Sequence[Domain]) -> list[Floats]:
        """For every column the sum of the weights from each node to the root."""
        return [sum_to_root(domain.tree.parent, self.edges(domain, domains)) for domain in domains]


@dataclass(frozen=True, eq=False)
class CostMatrix:
    """The cost of generalizing the row's value until it covers the column's value too."""

    labels: tuple[Label, ...]  # leaves first, then level by level
    values: Floats  # float64[nodes, nodes]

    @staticmethod
    def of(tree: Tree, cost: Floats) -> CostMatrix:
        """The matrix of one tree. It has a cell per pair of nodes: for small trees only."""
        order = sorted(range(tree.size), key=lambda node: (tree.level[node], node))
        values = [[cost[a] - cost[tree.join(a, b)] for b in order] for a in order]
        return CostMatrix(tuple(tree.labels[node] for node in order), np.array(values))

    def __getitem__(self, pair: tuple[Label, Label]) -> float:
        row, column = (self.labels.index(label) for label in pair)
        return float(self.values[row, column])


def w1(domain: Domain, domains: Sequence[Domain]) -> float:
    """The weight "wid" of a column: higher hierarchies weigh less (Def. 8, Mauger 2023)."""
    if len(domains) == 1:
        return 1.0  # Sec. 4, Mauger 2020
    power = float(len(domains))
    highest = max(other.tree.height - 1 for other in domains)
    if highest == 0:
        return 1.0  # nothing can be generalized, whatever the weight
    # Divide by the highest before taking the power, which could overflow otherwise.
    total = sum(((other.tree.height - 1) / highest) ** power for other in domains)
    share: float = ((domain.tree.height - 1) / highest) ** power / total
    return 1.0 - share


def w2(domain: Domain, domains: Sequence[Domain]) -> float:
    """The weight that scales lower hierarchies up to the highest one (Def. 8, Mauger 2023)."""
    return max(other.tree.height for other in domains) / domain.tree.height


def lost_leaves(tree: Tree) -> Floats:
    """Leaves that the edge above each node loses: nl(x') - nl(x)."""
    return (tree.leaves[tree.parent] - tree.leaves).astype(np.float64)


def lost_share(tree: Tree) -> Floats:
    """Leaves that the edge above each node loses, as a share of all leaves."""
    return lost_leaves(tree) / float(tree.leaves[0])


def alteration(cost: Sequence[Floats], before: Sequence[Floats], after: Sequence[Floats]) -> float:
    """The loss in percent of the largest possible loss (Def. 7, Mauger 2023).

    `before` and `after` count, for every column, how often each node is an original and a
    published value. The cost of a cell is the difference between the costs of two nodes to the
    root, so counts are enough: records need not be matched.
    """
    possible = sum(float(c @ b) for c, b in zip(cost, before, strict=True))
    kept = sum(float(c @ a) for c, a in zip(cost, after, strict=True))
    if possible <= 0:
        return 0.0
    return max(0.0, 100.0 * (possible - kept) / possible)
