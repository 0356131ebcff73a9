"""Normalized lost leaves metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from shoal.base.arrays import Floats
from shoal.losses import EdgeLoss, lost_share, w2
from shoal.table.encode import Domain


class NLLM(EdgeLoss):
    """Leaves lost, as a share of all leaves, weighted by w2 (Sec. 3.2.2, Mauger 2023)."""

    name: ClassVar[str] = "nllm"
    counts: ClassVar[str] = (
        "the number of original values that a published value covers, as a share of all values "
        "of its column; columns with a flat hierarchy weigh more"
    )
    place_in_mean: ClassVar[int] = 5

    def edges(self, domain: Domain, domains: Sequence[Domain]) -> Floats:
        """(nl(x') - nl(x)) / nl(root) × w2."""
        return lost_share(domain.tree) * w2(domain, domains)
