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
        "how many original values a published one may stand for, as a share of all values of its "
        "column; columns whose hierarchy has few steps count more"
    )

    def edges(self, domain: Domain, domains: Sequence[Domain]) -> Floats:
        """(nl(x') - nl(x)) / nl(root) × w2."""
        return lost_share(domain.tree) * w2(domain, domains)
