"""The graph attack."""

from __future__ import annotations

from typing import Any, ClassVar

from shoal.attacks import LinkageAttack
from shoal.base.progress import Progress, silent
from shoal.table.match_graph import MatchGraph


class Graph(LinkageAttack):
    """Somebody knows all originals and rules out what is in no perfect matching: who is left?

    The attack on (k,k)-anonymity (Sec. 5.1, Tassa 2012). It succeeds on people who are left with
    fewer records than the k that the release has by counting what fits.
    """

    name: ClassVar[str] = "graph"

    def run_on(
        self,
        linkage: MatchGraph,
        progress: Progress = silent,  # noqa: ARG002
    ) -> dict[str, Any]:
        """What is left of the records that fit, and how many people fall below k by it."""
        k = int(min(linkage.neighbours.min(), linkage.preimages.min()))
        people = linkage.original.size
        below = int(people[linkage.matches < k].sum())
        weight = people[linkage.fits] * linkage.classes.size[linkage.of_class]
        ruled_out = 100.0 * float(weight[~linkage.match].sum()) / float(weight.sum())
        return {
            "fewest_that_fit": k,
            "fewest_left": int(linkage.matches.min()),
            "pairs_ruled_out_percent_of_all": ruled_out,
            "people_below": below,
            "percent": 100.0 * below / int(people.sum()),
        }
