"""Wid normalized lost leaves metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from shoal.base.arrays import Floats
from shoal.losses import EdgeLoss, lost_share, w1
from shoal.table.encode import Domain


class WNLLM(EdgeLoss):
    """Leaves lost, as a share of all leaves, weighted by w1 (Sec. 3.2.2, Mauger 2023)."""

    name: ClassVar[str] = "wnllm"
    counts: ClassVar[str] = (
        "the number of original values that a published value covers, as a share of all values "
        "of its column; columns with a high hierarchy weigh less"
    )
    place_in_mean: ClassVar[int] = 7

    def edges(self, domain: Domain, domains: Sequence[Domain]) -> Floats:
        """(nl(x') - nl(x)) / nl(root) × w1."""
        return lost_share(domain.tree) * w1(domain, domains)
