"""Normalized certainty penalty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from shoal.base.arrays import Floats
from shoal.losses import EdgeLoss, lost_share
from shoal.table.encode import Domain


class NCP(EdgeLoss):
    """Leaves lost, as a share of all leaves (Sec. 3.2.1, Mauger 2023)."""

    name: ClassVar[str] = "ncp"
    counts: ClassVar[str] = (
        "the number of original values that a published value covers, as a share of all values "
        "of its column; all columns weigh the same"
    )
    place_in_mean: ClassVar[int] = 2

    def edges(self, domain: Domain, domains: Sequence[Domain]) -> Floats:  # noqa: ARG002
        """(nl(x') - nl(x)) / nl(root)."""
        return lost_share(domain.tree)
