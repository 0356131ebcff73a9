"""Lost leaves metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from shoal.base.arrays import Floats
from shoal.losses import EdgeLoss, lost_leaves, w2
from shoal.table.encode import Domain


class LLM(EdgeLoss):
    """Leaves lost, weighted by w2 (Sec. 3.2.2, Mauger 2023)."""

    name: ClassVar[str] = "llm"
    counts: ClassVar[str] = (
        "the number of original values that a published value covers; it is not a share, so "
        "columns with many values, such as dates, outweigh the others"
    )
    place_in_mean: ClassVar[int] = 4

    def edges(self, domain: Domain, domains: Sequence[Domain]) -> Floats:
        """(nl(x') - nl(x)) × w2."""
        return lost_leaves(domain.tree) * w2(domain, domains)
