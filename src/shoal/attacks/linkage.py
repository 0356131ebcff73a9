"""Linkage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from shoal.attacks import Attack
from shoal.attacks._unchanged import Unchanged
from shoal.attacks._words import Label, Severity
from shoal.base.progress import Progress, silent
from shoal.base.wording import many
from shoal.table.equivalence_classes import of_people
from shoal.table.match_graph import MatchGraph
from shoal.table.published_table import Published


class Linkage(Attack):
    """How many people could each record belong to, if all quasi-identifiers are known?"""

    name: ClassVar[str] = "linkage"
    severity: ClassVar[Severity | None] = "certain"
    in_short: ClassVar[str] = "only one record can be theirs"
    count_key: ClassVar[str] = "singled_out"
    share_key: ClassVar[str] = "singled_out_percent"
    people_share_key: ClassVar[str] = "people_singled_out_percent"
    labels: ClassVar[Mapping[str, Label]] = {
        "fewest_candidates": Label(
            "fewest people that a record could belong to", "fewest possible records of a person"
        ),
        "mean_candidates": Label(
            "people that a record could belong to, on average",
            "possible records of a person, on average",
        ),
        "singled_out": Label("unique records", "people with one possible record"),
        "singled_out_percent": Label(
            "… as a share of all records", "… as a share of all people", "percent"
        ),
        "mean_candidates_of_people": Label("people in a person's class, on average over people"),
        "people_singled_out": Label("unique people"),
        "people_singled_out_percent": Label("… as a share of all people", unit="percent"),
    }

    def run(
        self,
        published: Published,
        linkage: MatchGraph | None = None,
        progress: Progress = silent,  # noqa: ARG002
        unchanged: Unchanged | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Candidates of the most exposed record, the average over records, and unique records."""
        candidates, weight = published.classes.candidates, published.weight  # int64[n]
        if linkage is not None:
            candidates, weight = linkage.candidates, None
        alone = candidates == 1  # a record that stands for several is not alone
        found = {
            "fewest_candidates": int(candidates.min()),
            "mean_candidates": float(np.average(candidates, weights=weight)),
            "singled_out": int(alone.sum()),
            "singled_out_percent": 100.0 * float(np.average(alone, weights=weight)),
        }
        if linkage is None and published.people is not None:
            each = of_people(candidates, published.people)  # int64[people]
            often = published.person_weight
            found |= {
                "mean_candidates_of_people": float(np.average(each, weights=often)),
                "people_singled_out": int((each == 1).sum()),
                "people_singled_out_percent": 100.0 * float(np.average(each == 1, weights=often)),
            }
        return found

    def about(self, linked: bool = False) -> str:
        """What the attacker knows and does."""
        return "The attacker knows everybody's quasi-identifiers: " + (
            "which records are possible for each person?"
            if linked
            else "how many people could each record belong to?"
        )

    def success(self, linked: bool = False, people: bool = False) -> str:  # noqa: ARG002
        """When the attack succeeds."""
        return f"It succeeds where only one {'record' if linked else 'person'} is possible."

    def headline(self, found: Mapping[str, Any], column: str | None, linked: bool = False) -> str:  # noqa: ARG002
        """The share of people or records that are unique."""
        share = self.share(found)
        if linked:
            return (
                f"For {share} of the people only one record is possible: an attacker who knows "
                "everybody's quasi-identifiers finds it for certain."
            )
        return (
            f"{self.those(found)} are unique: an attacker who knows the quasi-identifiers of such "
            "a person finds the record for certain."
        )

    def detail(self, found: Mapping[str, Any]) -> str:
        """The fewest candidates."""
        fewest = found.get("fewest_candidates")
        return "" if fewest is None else f"at least {many(fewest, 'candidate')}"
