"""Write the hierarchy of a column as a level table, as ARX and our own plans read it."""

from __future__ import annotations

from shoal.base.errors import BadHierarchy
from shoal.base.progress import Progress
from shoal.hierarchies.free_values import FreeTree
from shoal.hierarchies.level_text import rows_of_tree, text_of_rows
from shoal.plan import Plan
from shoal.studio.tasks._serving import Held
from shoal.studio.tasks.trees._column_tree import column_tree


def run(held: Held, progress: Progress, plan: str, column: str) -> str:
    """The lines of the table."""
    progress("encode", 0.0)
    asked = Plan.load(plan)
    found = column_tree(held, asked, column, asked.columns[column].hierarchy)
    if isinstance(found.tree, FreeTree):
        raise BadHierarchy("free ranges and sets have no levels, so that there is no table of them")
    return text_of_rows(rows_of_tree(found.tree))
