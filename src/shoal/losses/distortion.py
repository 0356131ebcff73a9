"""Distortion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from shoal.base.arrays import Floats
from shoal.losses import EdgeLoss, w1
from shoal.table.encode import Domain


class Distortion(EdgeLoss):
    """Levels climbed, dearer towards the root, weighted by w1 (Sec. 3.2.1, Mauger 2023)."""

    name: ClassVar[str] = "distortion"
    counts: ClassVar[str] = "steps up the hierarchy, where upper steps cost more than lower ones"

    def edges(self, domain: Domain, domains: Sequence[Domain]) -> Floats:
        """1 / (h - lvl) for each level passed, as a share of all levels, times w1."""
        tree = domain.tree
        steps = [1.0 / (tree.height - level) for level in range(1, tree.height)]
        climbed = np.concatenate([[0.0], np.cumsum(steps)])  # cost of reaching each level
        if tree.height == 1:
            return np.zeros(tree.size)
        # An edge that passes several levels costs all of them (Sec. 4, Mauger 2020).
        passed = climbed[tree.level[tree.parent]] - climbed[tree.level]
        weights: Floats = passed / climbed[-1] * w1(domain, domains)
        return weights
