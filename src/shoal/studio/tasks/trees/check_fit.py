"""Check that a hierarchy fits the values of a column, before it is put into the plan."""

from __future__ import annotations

from typing import Any

from shoal.base.progress import Progress
from shoal.hierarchies.base import Hierarchy
from shoal.plan import Plan
from shoal.studio.tasks._serving import Held
from shoal.studio.tasks.trees._column_tree import column_tree


def run(held: Held, progress: Progress, plan: str, column: str, setting: Any) -> int:
    """The number of its nodes; an error if it does not fit."""
    progress("encode", 0.0)
    hierarchy = None if setting is None else Hierarchy.of(setting)
    return column_tree(held, Plan.load(plan), column, hierarchy).tree.size
