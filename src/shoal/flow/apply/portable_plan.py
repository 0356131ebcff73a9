"""The plan in a recoding file: without a seed, and with hierarchies that need no other file."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.tree import Tree
from shoal.losses.weights import Weights
from shoal.plan import Plan


def portable(plan: Plan, trees: Mapping[str, Tree]) -> Plan:
    """The plan without seed, threads, notes and population; hierarchies need no file or column."""
    columns = {}
    for name, column in plan.columns.items():
        hierarchy = column.hierarchy
        if isinstance(plan.loss, Weights) and name in trees:
            hierarchy = _frozen(trees[name], plan.loss.edge_weights.get(name, {}))
        elif hierarchy is not None:
            hierarchy = hierarchy.settled(trees.get(name))
        columns[name] = column.changed(hierarchy=hierarchy)
    people = plan.population.without_data()
    settled = plan.changed(columns=columns, seed=None, threads=None, population=people)
    settled.notes.clear()
    settled.remarks.clear()
    return settled


def _frozen(tree: Tree, weights: Mapping[str, float]) -> Hierarchy:
    """A tree with exactly these nodes: the loss `weights` is defined for these values only.

    Words for missing need no weight. Those without one are added again where a table has them.
    """
    parents = {
        label: tree.labels[above]
        for label, above in zip(tree.labels[1:], tree.parent[1:], strict=True)
        if label is not None and (label not in tree.words or label in weights)
    }
    return Hierarchy.from_parents(parents) if parents else Hierarchy.flat()
