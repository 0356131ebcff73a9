"""Linkage."""

from __future__ import annotations

from typing import Any, ClassVar

from shoal.attacks import Attack
from shoal.base.progress import Progress, silent
from shoal.table.match_graph import MatchGraph
from shoal.table.published_table import Published, of_people


class Linkage(Attack):
    """Somebody knows everybody's quasi-identifiers: how many candidates has each record?"""

    name: ClassVar[str] = "linkage"

    def run(
        self,
        published: Published,
        linkage: MatchGraph | None = None,
        progress: Progress = silent,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Candidates of the most exposed record, on average over records, and records found."""
        candidates = published.classes.candidates  # int64[n]
        if linkage is not None:
            candidates = linkage.candidates
        found = {
            "fewest_candidates": int(candidates.min()),
            "mean_candidates": float(candidates.mean()),
            "singled_out": int((candidates == 1).sum()),
            "singled_out_percent": 100.0 * float((candidates == 1).mean()),
        }
        if linkage is None and published.people is not None:
            each = of_people(candidates, published.people)  # int64[people]
            found |= {
                "mean_candidates_of_people": float(each.mean()),
                "people_singled_out": int((each == 1).sum()),
                "people_singled_out_percent": 100.0 * float((each == 1).mean()),
            }
        return found
