"""Loss metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from shoal.base.arrays import Floats
from shoal.losses import Loss
from shoal.table.encode import Domain


class LM(Loss):
    """Number of values that the published one covers, from 0 to 1 (eq. 1, Tassa 2012)."""

    name: ClassVar[str] = "lm"
    counts: ClassVar[str] = (
        "the number of other values that a published value covers, as a share of all other "
        "values of its column"
    )

    def costs(self, domains: Sequence[Domain]) -> list[Floats]:
        """((|root| - 1) - (|node| - 1)) / (|root| - 1), divided by the number of columns."""
        return [
            (tree.leaves[0] - tree.leaves) / max(int(tree.leaves[0]) - 1, 1) / len(domains)
            if tree.leaves[0] > 1
            else np.zeros(tree.size)
            for tree in (domain.tree for domain in domains)
        ]
