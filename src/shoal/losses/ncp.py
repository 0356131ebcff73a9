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
        "how many original values a published one may stand for, as a share of all values of its "
        "column; all columns count alike"
    )

    def edges(self, domain: Domain, domains: Sequence[Domain]) -> Floats:  # noqa: ARG002
        """(nl(x') - nl(x)) / nl(root)."""
        return lost_share(domain.tree)
