"""Information-loss metrics: what it costs to publish a wider value.

Every metric becomes one array per column, the cost from each node to the root; generalizing a
value to a wider one costs the difference. The cost matrices of Mauger et al. are a view of it.
Internal: the catalog finds what stands here.
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
    """A number for every published value of a column."""

    reported: ClassVar[bool] = True  # whether every release is measured by it

    @abstractmethod
    def costs(self, domains: Sequence[Domain]) -> list[Floats]:
        """For every column the cost from each node to the root, float64[nodes]."""

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
    """`loss.costs`, computed once for the domains of a table; the arrays are not to be changed."""
    if not isinstance(domains, Domains):
        return loss.costs(domains)
    key = type(loss), loss.model_dump_json()
    if key not in domains.costs:
        domains.costs[key] = loss.costs(domains)
    return list(domains.costs[key])


class EdgeLoss(Loss):
    """A metric that puts a weight on every edge of a hierarchy (Def. 3, Mauger 2023)."""

    @abstractmethod
    def edges(self, domain: Domain, domains: Sequence[Domain]) -> Floats:
        """The weight of the edge above each node, float64[nodes]; the root's is not used."""

    def costs(self, domains: Sequence[Domain]) -> list[Floats]:
        """For every column the weights added up from each node to the root."""
        return [sum_to_root(domain.tree.parent, self.edges(domain, domains)) for domain in domains]


@dataclass(frozen=True, eq=False)
class CostMatrix:
    """What generalizing the row's value costs so that it covers the column's value too."""

    labels: tuple[Label, ...]  # leaves first, then level by level
    values: Floats  # float64[nodes, nodes]

    @staticmethod
    def of(tree: Tree, cost: Floats) -> CostMatrix:
        """The matrix of one tree; only for small trees, as it has a cell for every pair."""
        order = sorted(range(tree.size), key=lambda node: (tree.level[node], node))
        values = [[cost[a] - cost[tree.join(a, b)] for b in order] for a in order]
        return CostMatrix(tuple(tree.labels[node] for node in order), np.array(values))

    def __getitem__(self, pair: tuple[Label, Label]) -> float:
        row, column = (self.labels.index(label) for label in pair)
        return float(self.values[row, column])


def w1(domain: Domain, domains: Sequence[Domain]) -> float:
    """The wid of a quasi-identifier: less weight for higher hierarchies (Def. 8, Mauger 2023)."""
    if len(domains) == 1:
        return 1.0  # Sec. 4, Mauger 2020
    power = float(len(domains))
    highest = max(other.tree.height - 1 for other in domains)
    if highest == 0:
        return 1.0  # nothing can be generalized, whatever the weight
    # Divided by the highest before the power is taken, which else would overflow.
    total = sum(((other.tree.height - 1) / highest) ** power for other in domains)
    share: float = ((domain.tree.height - 1) / highest) ** power / total
    return 1.0 - share


def w2(domain: Domain, domains: Sequence[Domain]) -> float:
    """The weight that lifts lower hierarchies to the highest one (Def. 8, Mauger 2023)."""
    return max(other.tree.height for other in domains) / domain.tree.height


def lost_leaves(tree: Tree) -> Floats:
    """Leaves that the edge above each node loses: nl(x') - nl(x)."""
    return (tree.leaves[tree.parent] - tree.leaves).astype(np.float64)


def lost_share(tree: Tree) -> Floats:
    """Leaves that the edge above each node loses, as a share of all leaves."""
    return lost_leaves(tree) / float(tree.leaves[0])


def alteration(cost: Sequence[Floats], before: Sequence[Floats], after: Sequence[Floats]) -> float:
    """Percent of what could be lost that was lost (Def. 7, Mauger 2023).

    `before` and `after` hold, for every column, how often each node is the original and the
    published value. A cost is a difference of what two nodes cost to the root, so these counts
    are all that is needed: rows need not be matched.
    """
    possible = sum(float(c @ b) for c, b in zip(cost, before, strict=True))
    kept = sum(float(c @ a) for c, a in zip(cost, after, strict=True))
    if possible <= 0:
        return 0.0
    return max(0.0, 100.0 * (possible - kept) / possible)
