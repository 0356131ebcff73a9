"""Interval disclosure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.attacks import Attack
from shoal.attacks._numbers import NumberColumn
from shoal.attacks._unchanged import Unchanged
from shoal.attacks._words import Criterion, Label, Severity
from shoal.base.arrays import Floats
from shoal.base.progress import Progress, silent
from shoal.base.settings import PositiveShare
from shoal.base.wording import short
from shoal.table.match_graph import MatchGraph
from shoal.table.published_table import Published

NEARLY = 1e-9  # of a rank: p times a number of records may be a little too small in floating point


class IntervalDisclosure(Attack):
    """How many original numbers lie in a narrow interval around the published ones?

    For columns of numbers that are microaggregated, rounded or cut off, compared with the original;
    a range states itself between which numbers the original lies. By rank: the ranks of both
    numbers among the originals differ by p times the number of records or less; numbers that occur
    several times have their mean rank. By standard deviation: the numbers differ by p times the
    standard deviation of the originals or less. As interval disclosure in Domingo-Ferrer and Torra
    2001 and Mateo-Sanz et al. 2004, but with ranks among the originals: among the published
    numbers a class would have one rank.
    """

    name: ClassVar[str] = "interval-disclosure"
    needs_original: ClassVar[bool] = True
    severity: ClassVar[Severity | None] = None  # exact data succeed too, and may be harmless
    criterion: ClassVar[Criterion] = "inference"
    in_short: ClassVar[str] = "the original number is near the published one"
    labels: ClassVar[Mapping[str, Label]] = {
        "numbers": Label("records with a number in the original"),
        "records": Label("records whose original is near by rank"),
        "percent": Label("… as a share of these records", unit="percent"),
        "records_by_deviation": Label("records whose original is near by standard deviation"),
        "percent_by_deviation": Label("… as a share of these records", unit="percent"),
    }
    p: PositiveShare = Field(
        default=0.05,
        description="half the width of the interval, as a share of all ranks, or of the standard "
        "deviation",
    )

    def run(
        self,
        published: Published,  # noqa: ARG002
        linkage: MatchGraph | None = None,  # noqa: ARG002
        progress: Progress = silent,  # noqa: ARG002
        unchanged: Unchanged | None = None,
    ) -> dict[str, Any]:
        """What the attack finds in each column of numbers; nothing without the original."""
        numbers = () if unchanged is None else unchanged.numbers
        return {one.name: self.finding(one) for one in numbers}

    def finding(self, column: NumberColumn) -> dict[str, Any]:
        """What the attack finds in one column."""
        known = ~np.isnan(column.original)
        original, released = column.original[known], column.published[known]
        many = len(original)
        shown = ~np.isnan(released)  # what is not published discloses nothing
        original_ranks, ranks = (_ranks(np.sort(original), one) for one in (original, released))
        by_rank = shown & (np.abs(original_ranks - ranks) <= self.p * many + NEARLY)
        deviation = float(original.std(ddof=1)) if many > 1 else 0.0
        by_deviation = shown & (np.abs(original - released) <= self.p * deviation)
        return {
            "numbers": many,
            "records": int(by_rank.sum()),
            "percent": 100.0 * int(by_rank.sum()) / many,
            "records_by_deviation": int(by_deviation.sum()),
            "percent_by_deviation": 100.0 * int(by_deviation.sum()) / many,
        }

    def about(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the attacker knows and does."""
        return "The attacker knows the record of a person and takes its published number as true."

    def success(self, linked: bool = False, people: bool = False) -> str:  # noqa: ARG002
        """When the attack succeeds."""
        return (
            "It succeeds where the original number is near the published one: within "
            f"{100 * self.p:g} % of all ranks, or, counted by itself, of the standard deviation. A "
            "table that is hardly changed is near everywhere."
        )

    def headline(self, found: Mapping[str, Any], column: str | None, linked: bool = False) -> str:  # noqa: ARG002
        """The share of the records whose number is near."""
        which = "numbers" if column is None else short(column)
        return (
            f"For {self.share(found)} of the records the original of {which} is within "
            f"{100 * self.p:g} % of all ranks around the published number."
        )

    def advice(self, column: str | None) -> str:  # noqa: ARG002
        """What to do about numbers that are too near."""
        return "a larger k, or coarser rounding, may lower it"


def _ranks(ordered: Floats, numbers: Floats) -> Floats:
    """The mean rank of numbers among sorted ones: those below, and half of the equal ones."""
    below = np.searchsorted(ordered, numbers, "left")
    upto = np.searchsorted(ordered, numbers, "right")
    ranks: Floats = (below + upto) / 2.0
    return ranks
