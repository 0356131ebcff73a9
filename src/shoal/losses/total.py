"""Total."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from shoal.base.arrays import Floats
from shoal.losses import EdgeLoss
from shoal.table.encode import Domain


class Total(EdgeLoss):
    """Levels climbed, as a share of all levels (Sec. 3.2.1, Mauger 2023)."""

    name: ClassVar[str] = "total"
    counts: ClassVar[str] = (
        "levels climbed in the hierarchy, as a share of all its levels: generalizing a date to "
        "a month is one level, however many days a month has"
    )
    place_in_mean: ClassVar[int] = 3

    def edges(self, domain: Domain, domains: Sequence[Domain]) -> Floats:  # noqa: ARG002
        """(lvl(x') - lvl(x)) / (h - 1)."""
        tree = domain.tree
        if tree.height == 1:
            return np.zeros(tree.size)
        climbed: Floats = (tree.level[tree.parent] - tree.level).astype(np.float64)
        return climbed / (tree.height - 1)
