"""Suppression only."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.hierarchies.base import Hierarchy, Placed, check_true
from shoal.hierarchies.sorting import sorted_order
from shoal.hierarchies.tree import Labels, Tree, flat_tree
from shoal.hierarchies.values import ROOT, text


class Flat(Hierarchy):
    """Publishes a value unchanged or suppresses it."""

    name = "flat"
    takes = "true"
    is_ordered = False

    def tree(self, values: Iterable[object] = ()) -> Tree:
        """Every value that occurs, directly below the root."""
        labels = sorted({text(value) for value in values} - {ROOT})
        return Tree.from_rows([[label, ROOT] for label in labels] or [[ROOT]])

    def placed(self, texts: pa.Array) -> Placed | None:
        """The same for values other than the root."""
        order = sorted_order(texts)
        count = len(texts)
        if not count or pc.any(pc.equal(texts, ROOT)).as_py():
            return None
        labels = Labels(
            pa.concat_arrays([texts, pa.array([ROOT], texts.type)]),
            pa.array(np.append(count, order)),
        )
        return Placed.of(Tree(labels, *flat_tree(count + 1)), np.arange(1, count + 1), order)

    def level_of(self, label: str) -> int:
        """There is one step, to the root."""
        return int(label == ROOT)

    def setting(self) -> Any:
        """How a plan file writes it."""
        return {"flat": True}

    @classmethod
    def from_setting(cls, value: Any, folder: Path, **options: Any) -> Hierarchy:  # noqa: ARG003
        """It takes only true."""
        check_true(cls.name, value)
        return cls(**options)

    def describe(self) -> str:
        """How values are published."""
        return "unchanged, or suppressed"
