"""Parent links: each value and the value above it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.base.errors import BadHierarchy, preview
from shoal.hierarchies.base import Rows
from shoal.hierarchies.given import Given
from shoal.hierarchies.tree import Label, Tree
from shoal.hierarchies.values import text


class Parents(Given):
    """A tree in the plan: a mapping from each value to its parent."""

    name = "parents"
    takes = "the mapping"

    def __init__(self, parents: Mapping[Any, Any]) -> None:
        self._parents = {text(child): text(above) for child, above in parents.items()}
        if not self._parents:
            raise BadHierarchy("the hierarchy is empty; give each value its parent")
        inner = set(self._parents.values())
        rows: Rows = []
        for leaf in self._parents:
            if leaf in inner:
                continue
            row: list[Label] = [leaf]
            while (above := self._parents.get(str(row[-1]))) is not None:
                if above in row:
                    raise BadHierarchy(f"the values {preview(row)} form a cycle; break it")
                row.append(above)
            rows.append(row)
        lost = set(self._parents) - {label for row in rows for label in row}
        if lost:
            raise BadHierarchy(f"the values {preview(sorted(lost))} form a cycle; break it")
        self._tree = Tree.from_rows(rows)

    def setting(self) -> Any:
        """How a plan file writes it."""
        return {"parents": dict(self._parents)}
