"""A plan in which columns without a hierarchy may be published as free ranges or sets.

A column without a hierarchy is flat: its values are published unchanged or suppressed. A free range
or set loses less and is measured by the same loss: the root loses all of a cell in both, and a free
value loses in proportion to its width (eq. 11 and 12, Wang 2018). A column with
`hierarchy = { flat = true }` in the plan does not change, nor do numbers with top, bottom or round.
"""

from __future__ import annotations

from shoal.base.errors import BadHierarchy
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.tree import Tree
from shoal.hierarchies.values import number_of
from shoal.plan import Plan
from shoal.table.encode import Table

FEWEST = 3  # values of a column; with two, a set of both is the root
MOST_VALUES = 1_000  # values of a column of sets; each takes a bit of every class


def freed(plan: Plan, table: Table) -> Plan | None:
    """The plan with free ranges or sets for columns without a hierarchy; None: there are none."""
    free = {}
    for name, tree in zip(table.names, table.trees, strict=True):
        column = plan.columns[name]
        if column.hierarchy is not None or column.at_most is not None or column.codes_numbers:
            continue
        if (hierarchy := _free(tree)) is not None:
            free[name] = plan.columns[name].changed(hierarchy=hierarchy)
    if not free or plan.loss.needs_trees:
        return None
    return plan.changed(columns=dict(plan.columns) | free)


def _free(tree: Tree) -> Hierarchy | None:
    """Ranges for a flat column of numbers, sets for others; None: neither is useful."""
    labels = tree.values
    if tree.size - 1 < FEWEST:
        return None
    numbers = not any(_code(label) for label in labels)
    if not numbers and len(labels) > MOST_VALUES:
        return None
    hierarchy = Hierarchy.free_ranges() if numbers else Hierarchy.free_sets()
    try:
        hierarchy.tree(labels)
    except BadHierarchy:  # values that look like sets already
        return None
    return hierarchy


def _code(label: str) -> bool:
    """Whether it is not a number, or a number with leading zeros, as codes have."""
    digits = label.strip().lstrip("+-")
    return number_of(label) is None or (digits[:1] == "0" and digits[1:2].isdigit())
