"""Which cells of figures 6 to 8 can be: a linear program over the trees of figure 5.

Every metric is a mean over the columns of what a column loses, and the shares with which columns
count follow from the numbers of values and heights of figure 5 alone. By ncp, llm, nllm, wllm and
wnllm a column loses the leaves that its published values cover, as a share of all; by distortion
and total the levels that they climbed. A value at level 0 covers one leaf and a value at the root
covers all of them; in between, any share is allowed. So the percentages of one release, by all
seven metrics, satisfy these linear constraints, whatever the table, the groups in the trees and the
algorithm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from shoal import catalog
from shoal.base.arrays import Floats
from shoal.datasets.adult import hierarchies
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.tree import Tree
from shoal.losses import Loss
from shoal.papers._adult import METRICS, SHAPES
from shoal.papers.mauger2020.paper import TABLES, theirs
from shoal.table.encode import Domain

LEAVES = ("ncp", "llm", "nllm", "wllm", "wnllm")  # what they count does not depend on levels
ROUNDED = 0.5  # a printed whole number is at most so far from the true one


@dataclass(frozen=True, eq=False)
class Polytope:
    """All that a release can lose: one variable per column, its leaves lost, then one per level."""

    rows: Mapping[str, Floats]  # by metric: its percentage as a linear function of the variables
    equal: tuple[Floats, Floats]
    below: tuple[Floats, Floats]

    @staticmethod
    def of_figure_5() -> Polytope:
        """The constraints that follow from figure 5; every variable lies between 0 and 1."""
        trees = [Hierarchy.from_tree(tree).tree() for tree in hierarchies().values()]  # type: ignore[arg-type]
        assert [[int(tree.leaves[0]), tree.height] for tree in trees] == list(SHAPES.values())
        return Polytope.of([Domain("", tree, np.zeros(tree.size, np.int64)) for tree in trees])

    @staticmethod
    def of(domains: Sequence[Domain]) -> Polytope:
        """The constraints for trees with these numbers of values and heights."""
        heights = [domain.tree.height for domain in domains]
        q, n = len(domains), len(domains) + sum(heights)
        start = q + np.cumsum([0, *heights])  # of the shares of records by level
        sums, above, within = np.zeros((q, n)), np.zeros((q, n)), np.zeros((q, n))
        for j in range(q):
            levels = np.arange(start[j], start[j + 1])
            sums[j, levels] = 1.0  # every record is at one level
            above[j, levels[-1]], above[j, j] = 1.0, -1.0  # the root covers all leaves
            within[j, levels[1:]], within[j, j] = -1.0, 1.0  # level 0 covers no other leaf
        rows = {}
        for metric in METRICS:
            loss = catalog.losses[metric]()
            assert isinstance(loss, Loss)
            costs = [
                _by_level(domain.tree, cost)
                for domain, cost in zip(domains, loss.costs(domains), strict=True)
            ]
            whole = sum(cost[-1] for cost in costs)  # every value at the root
            row = np.zeros(n)
            for j, cost in enumerate(costs):
                if metric in LEAVES:
                    row[j] = cost[-1]
                else:
                    row[start[j] : start[j + 1]] = cost
            rows[metric] = 100.0 * row / whole
        return Polytope(
            rows,
            (sums, np.ones(q)),
            (np.concatenate([above, within]), np.zeros(2 * q)),
        )

    def span(
        self, metric: str, known: Mapping[str, float], slack: float = ROUNDED
    ) -> tuple[float, float] | None:
        """The lowest and the highest percentage, given those by other metrics; None: no release.

        The known ones may be off by the slack, up or down.
        """
        from scipy.optimize import linprog  # slow to import

        rows, bounds = self.below
        for other, percent in known.items():
            rows = np.concatenate([rows, [self.rows[other], -self.rows[other]]])
            bounds = np.concatenate([bounds, [percent + slack, slack - percent]])
        ends = []
        for sign in (1.0, -1.0):
            found = linprog(
                sign * self.rows[metric], rows, bounds, *self.equal, bounds=(0, 1), method="highs"
            )
            if found.status == 2:  # infeasible
                return None
            if found.status != 0:
                raise RuntimeError(f"the linear program was not solved: {found.message}")
            ends.append(sign * float(found.fun))
        return ends[0], ends[1]


def _by_level(tree: Tree, cost: Floats) -> Floats:
    """What a value loses at each level: along the longest path, which meets every level."""
    loss = np.full(tree.height, np.nan)
    for leaf in np.flatnonzero(tree.end == np.arange(tree.size) + 1):
        node = int(leaf)
        while True:
            loss[tree.level[node]] = cost[leaf] - cost[node]
            if not node:
                break
            node = int(tree.parent[node])
    return loss


@dataclass(frozen=True)
class Impossible:
    """A cell that cannot go with the others of its column, and what these would allow."""

    k: int
    guide: str
    metric: str
    printed: float
    low: float
    high: float


@cache
def contradictions(
    metrics: tuple[str, ...] = METRICS, slack: float = ROUNDED
) -> dict[tuple[int, str], list[Impossible]]:
    """The columns of figures 6 to 8 that cannot be, by k and guide, with the cells at fault.

    A cell is at fault if the rest of its column is possible. One of them must be wrong; if several
    are listed, the column does not say which.
    """
    polytope = Polytope.of_figure_5()
    found = {}
    for k in TABLES:
        for guide in METRICS:
            printed = {metric: float(theirs(k)[metric, guide]) for metric in metrics}
            if polytope.span(metrics[0], printed, slack) is None:
                found[k, guide] = _at_fault(polytope, k, guide, printed, slack)
    return found


def _at_fault(
    polytope: Polytope, k: int, guide: str, printed: Mapping[str, float], slack: float
) -> list[Impossible]:
    found = []
    for metric, percent in printed.items():
        others = {name: other for name, other in printed.items() if name != metric}
        span = polytope.span(metric, others, slack)
        if span is not None:
            found.append(Impossible(k, guide, metric, percent, *span))
    return found
