"""Read a level table that was given, and check that it has the values of the column."""

from __future__ import annotations

from typing import Any

from shoal.base.errors import BadHierarchy
from shoal.base.progress import Progress
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.groups import Groups
from shoal.hierarchies.level_text import rows_of_file
from shoal.plan import Plan
from shoal.studio.tasks._serving import Held
from shoal.studio.tasks.trees._column_tree import column_tree
from shoal.studio.tasks.trees.regroup import MOST


def run(
    held: Held, progress: Progress, plan: str, column: str, content: bytes, title: str, fill: bool
) -> Any:
    """The setting of the hierarchy; with `fill`, values that the table lacks are in no group."""
    progress("encode", 0.0)
    asked = Plan.load(plan)
    hierarchy = _read(content, title)
    many = int((hierarchy.tree().level == 0).sum())
    if many > MOST:
        raise BadHierarchy(
            f"{title} has {many:,} values, and a plan lists up to {MOST:,}; name the file in the "
            'plan instead, as in hierarchy = "levels.csv"'
        )
    if fill:
        flat = Groups.of(column_tree(held, asked, column, None).tree)
        groups = Groups.of(hierarchy.tree()).with_values(sorted(flat.values))
        hierarchy = groups.hierarchy()
    column_tree(held, asked, column, hierarchy)  # an error if values are lacking
    return hierarchy.setting()


def _read(content: bytes, title: str) -> Hierarchy:
    """The hierarchy of a file that is not packed; errors name the file."""
    bare = title.removesuffix(".gz").removesuffix(".xz")
    rows = rows_of_file(content, bare)
    try:
        return Hierarchy.from_levels(rows)
    except BadHierarchy as error:
        raise BadHierarchy(f"{title}: {error}") from None
