"""Distortion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from shoal.base.arrays import Floats
from shoal.losses import EdgeLoss, w1
from shoal.table.encode import Domain


class Distortion(EdgeLoss):
    """Levels climbed, more expensive towards the root, weighted by w1 (Sec. 3.2.1, Mauger 2023)."""

    name: ClassVar[str] = "distortion"
    counts: ClassVar[str] = (
        "levels climbed in the hierarchy, where upper levels cost more than lower ones"
    )
    place_in_mean: ClassVar[int] = 1

    def edges(self, domain: Domain, domains: Sequence[Domain]) -> Floats:
        """1 / (h - lvl) for each level climbed, as a share of all levels, times w1."""
        tree = domain.tree
        steps = [1.0 / (tree.height - level) for level in range(1, tree.height)]
        climbed = np.concatenate([[0.0], np.cumsum(steps)])  # cost of reaching each level
        if tree.height == 1:
            return np.zeros(tree.size)
        # An edge that spans several levels costs all of them (Sec. 4, Mauger 2020).
        passed = climbed[tree.level[tree.parent]] - climbed[tree.level]
        weights: Floats = passed / climbed[-1] * w1(domain, domains)
        return weights
