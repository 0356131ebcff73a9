"""The greedy anonymization algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from shoal.algorithms import Algorithm
from shoal.classes import Classes, tally
from shoal.columns import Table
from shoal.errors import CannotReach
from shoal.exact import exact_costs
from shoal.kernels import index as trie
from shoal.kernels import merge as merging
from shoal.losses import Loss
from shoal.models import Model
from shoal.models.k_anonymity import KAnonymity
from shoal.progress import Progress, silent
from shoal.recoding import Recoding
from shoal.tree import Tree

PATIENCE = 0.2  # seconds between two looks at progress and Ctrl-C, about


class GAA(Algorithm):
    """Merges the smallest failing class with the class that costs least (Algorithm 1, Mauger 2023).

    `weight`: each side's cost counts `size` times (MC, Mauger 2020) or once (`unit`, Def. 6,
    Mauger 2023). `candidates`: partners among `all` classes, or among the `small` ones that
    still fail, as in Algorithm 1 of Mauger 2020, and all when none of those is left.
    """

    name: ClassVar[str] = "gaa"
    strategy: Literal["S1"] = "S1"
    weight: Literal["size", "unit"] = "size"
    candidates: Literal["all", "small"] = "all"

    def serves(self, model: Model) -> bool:
        """Whether the algorithm can keep this promise."""
        return isinstance(model, KAnonymity)

    def recode(
        self,
        table: Table,
        models: Sequence[Model],
        loss: Loss,
        rng: np.random.Generator,  # noqa: ARG002 (the merge leaves nothing to chance)
        progress: Progress = silent,
    ) -> Recoding:
        """Merge classes until none fails."""
        k = max(int(model.required) for model in models)
        if table.crowd < k:
            raise CannotReach(
                "k-anonymity",
                table.crowd,
                f"k-anonymity with k={k} cannot be reached: the table has {table.crowd} people; "
                f"the best k possible is {table.crowd}",
            )
        start = tally(table.unified, table.people)
        costs = exact_costs(loss, table.domains, table.rows)
        order = _index_order(table, start, costs)
        vector, into = _merge(
            table, start, costs, order, k, self.weight == "size", self.candidates == "small",
            progress,
        )  # fmt: skip
        alive, number = np.unique(into, return_inverse=True)
        return Recoding(vectors=vector[alive], record=number[start.label])


def _index_order(
    table: Table, start: Classes, costs: Sequence[npt.NDArray[np.int64]]
) -> npt.NDArray[np.int64]:
    """The attributes in the order in which the index takes them.

    First those whose smallest step is dear, for they cut branches early; but an attribute with
    many values makes many branches, and in the worst case all of them have to be looked at.
    """
    worth = []
    for j, tree in enumerate(table.trees):
        used = np.unique(table.unified[start.first, j])
        steps = (costs[j] - costs[j][tree.parent])[used]
        least = int(steps[steps > 0].min()) if (steps > 0).any() else 0
        worth.append(least / np.log2(1 + len(used)))
    return np.argsort(-np.array(worth), kind="stable")


def _merge(
    table: Table,
    start: Classes,
    costs: Sequence[npt.NDArray[np.int64]],
    order: npt.NDArray[np.int64],
    k: int,
    by_size: bool,
    only_small: bool,
    progress: Progress,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Run the merge; the published values of each class, and the class each one ended up in."""
    n, q = len(start), len(order)
    trees = flat_trees(table, costs, order)
    fan = max(tree.size for tree in table.trees)
    classes = trie.Classes(
        np.ascontiguousarray(table.unified[start.first][:, order]),  # int32[classes, q]
        start.size.copy(),
        start.first.copy(),
        np.zeros(n, np.bool_),
    )
    state = merging.Merge(
        into=np.arange(n),
        crowd=start.people.copy(),
        heap=np.empty((n + 1, 3), np.int64),
        stack=np.empty((q + 1, 9), np.int64),
        rest=np.zeros(q + 1, np.int64),
        counts=np.zeros(4, np.int64),
        visits=np.zeros(1, np.int64),
    )
    index = trie.empty_index(n, len(trees.cost), 3 * n + 4 * q + 8, 4 * n + 2 * fan + 8 * q + 64)

    def more_room() -> trie.Index:
        room = 2 * len(index.node), 2 * len(index.pool) + 2 * fan
        grown: trie.Index = trie.grow_index(index, *room)
        return grown

    while merging.start_merge(index, trees, classes, state, k, fan) == merging.NEEDS_ROOM:
        index = more_room()
    failing = max(int(state.counts[2]), 1)
    progress("merging", 0.0)
    at_a_time = 200
    while True:
        begin = perf_counter()
        outcome = merging.go_on(
            index, trees, classes, state, k, by_size, only_small, fan, at_a_time
        )
        if outcome == merging.DONE:
            break
        if outcome == merging.NEEDS_ROOM:
            index = more_room()
        elif perf_counter() - begin < PATIENCE / 2:
            at_a_time *= 2
        elif perf_counter() - begin > PATIENCE:
            at_a_time = max(1, at_a_time // 2)
        progress("merging", 1.0 - int(state.counts[2]) / failing)
    progress("merging", 1.0)
    vector = np.empty_like(classes.vector)
    vector[:, order] = classes.vector
    return vector, merging.survivors(state.into)


def flat_trees(
    table: Table, costs: Sequence[npt.NDArray[np.int64]], order: npt.NDArray[np.int64]
) -> trie.Trees:
    """The hierarchies one after the other, in the order of the index."""
    trees = [table.trees[j] for j in order]
    return trie.Trees(
        start=np.concatenate([[0], np.cumsum([tree.size for tree in trees])]),
        parent=np.concatenate([tree.parent for tree in trees]),
        end=np.concatenate([tree.end for tree in trees]),
        cost=np.concatenate([costs[j] for j in order]),
        step=np.concatenate([cheapest_edges(table.trees[j], costs[j]) for j in order]),
    )


def cheapest_edges(tree: Tree, cost: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The cost of the cheapest edge below each node."""
    step = np.full(tree.size, trie.FAR, np.int64)
    np.minimum.at(step, tree.parent[1:], (cost - cost[tree.parent])[1:])
    return step
