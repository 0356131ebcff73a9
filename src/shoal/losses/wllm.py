"""Wid lost leaves metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from shoal.base.arrays import Floats
from shoal.losses import EdgeLoss, lost_leaves, w1
from shoal.table.encode import Domain


class WLLM(EdgeLoss):
    """Leaves lost, weighted by w1 (Sec. 3.2.2, Mauger 2023)."""

    name: ClassVar[str] = "wllm"
    counts: ClassVar[str] = (
        "the number of original values that a published value covers; it is not a share, and "
        "columns with a high hierarchy weigh less"
    )
    place_in_mean: ClassVar[int] = 6

    def edges(self, domain: Domain, domains: Sequence[Domain]) -> Floats:
        """(nl(x') - nl(x)) × w1."""
        return lost_leaves(domain.tree) * w1(domain, domains)
