"""The graph attack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from shoal.attacks import LinkageAttack
from shoal.attacks._words import Label, Severity
from shoal.base.progress import Progress, silent
from shoal.table.match_graph import MatchGraph


class Graph(LinkageAttack):
    """Which records remain for a person when those in no perfect matching are ruled out?

    The attacker knows the quasi-identifiers of all people. This is the attack on (k,k)-anonymity
    (Sec. 5.1, Tassa 2012). It succeeds on people with fewer remaining records than the smallest
    number of records that fit a person, or of people who fit a record.
    """

    name: ClassVar[str] = "graph"
    in_short: ClassVar[str] = "fewer records remain possible for them than fit anybody"
    severity: ClassVar[Severity | None] = None  # records are ruled out, but none becomes likely
    count_key: ClassVar[str] = "people_below"
    labels: ClassVar[Mapping[str, Label]] = {
        "fewest_that_fit": Label("fewest records that fit a person, or people who fit a record"),
        "fewest_left": Label("fewest records that remain for a person"),
        "pairs_ruled_out_percent_of_all": Label(
            "pairs of a person and a record that are ruled out", unit="percent"
        ),
        "people_below": Label("people with fewer remaining records than fit anybody"),
        "percent": Label("… as a share of all people", unit="percent"),
    }

    def run_on(
        self,
        linkage: MatchGraph,
        progress: Progress = silent,  # noqa: ARG002
    ) -> dict[str, Any]:
        """The records that remain, and how many people fall below k."""
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

    def about(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the attacker knows and does."""
        return (
            "The attacker knows the quasi-identifiers of all people, and rules out records that "
            "fit a person but are in no complete assignment of people to records."
        )

    def success(self, linked: bool = False, people: bool = False) -> str:  # noqa: ARG002
        """When the attack succeeds."""
        return "It succeeds where fewer records remain than the fewest that fit anybody."

    def detail(self, found: Mapping[str, Any]) -> str:
        """The fewest records before and after ruling out."""
        fit, left = found.get("fewest_that_fit"), found.get("fewest_left")
        if fit is None or left is None:
            return ""
        return f"at least {fit:,} records fit, at least {left:,} remain"
