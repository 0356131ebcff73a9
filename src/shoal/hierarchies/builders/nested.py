"""Nested mappings, from the root down to the values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from shoal.base.errors import BadHierarchy
from shoal.hierarchies.base import Rows
from shoal.hierarchies.given import Given
from shoal.hierarchies.tree import Label, Tree
from shoal.hierarchies.values import ROOT, text


class Nested(Given):
    """A tree in the plan: a nested mapping from the root down to the values."""

    name = "tree"
    takes = "the mapping, with values in lists"

    def __init__(self, nested: Mapping[Any, Any]) -> None:
        if not nested:
            raise BadHierarchy("the hierarchy is empty; give the root and what is below it")
        self._nested = nested if len(nested) == 1 else {ROOT: nested}
        rows: Rows = []
        try:
            _walk(self._nested, [], rows)
        except RecursionError:
            raise BadHierarchy(
                "the nested hierarchy is too deep; give each value its parent instead (parents)"
            ) from None
        self._tree = Tree.from_rows(rows)

    def setting(self) -> Any:
        """How a plan file writes it."""
        return {"tree": _plain_tree(self._nested)}


def _walk(nested: Any, above: list[Label], rows: Rows) -> None:
    """Collect the rows of a nested mapping, from each leaf up to the root."""
    items: Iterable[tuple[Any, Any]]
    if isinstance(nested, Mapping):
        items = nested.items()
    elif isinstance(nested, Iterable) and not isinstance(nested, str):
        items = ((leaf, None) for leaf in nested)
    else:
        items = ((nested, None),)
    for label, inside in items:
        path = [text(label), *above]
        if inside is None or (not isinstance(inside, int | float) and not inside):
            rows.append(path)
        else:
            _walk(inside, path, rows)


def _plain_tree(nested: Any) -> Any:
    """A nested mapping for a plan file: leaves in lists, or with an empty list."""
    if isinstance(nested, Mapping):
        if not any(nested.values()):
            return [text(label) for label in nested]
        return {
            text(label): _plain_tree(inside) if inside else [] for label, inside in nested.items()
        }
    return [text(nested)] if isinstance(nested, str) else [text(leaf) for leaf in nested]
