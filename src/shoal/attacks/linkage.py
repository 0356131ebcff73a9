"""Linkage."""

from __future__ import annotations

from typing import Any, ClassVar

from shoal.attacks import Attack
from shoal.linkage import Linkage as Links
from shoal.progress import Progress, silent
from shoal.published import Published


class Linkage(Attack):
    """Somebody knows everybody's quasi-identifiers: how many candidates has each record?"""

    name: ClassVar[str] = "linkage"

    def run(
        self,
        published: Published,
        linkage: Links | None = None,
        progress: Progress = silent,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Candidates of the most exposed record, on average over records, and records found."""
        candidates = published.classes.candidates  # int64[n]
        if linkage is not None:
            candidates = linkage.candidates
        return {
            "fewest_candidates": int(candidates.min()),
            "mean_candidates": float(candidates.mean()),
            "singled_out": int((candidates == 1).sum()),
            "singled_out_percent": 100.0 * float((candidates == 1).mean()),
        }
