"""max-belief."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Annotated, Any, ClassVar

from pydantic import Field

from shoal.base.settings import ProperShare, Usual
from shoal.base.wording import number, percent
from shoal.models import MANY, TOLERANCE
from shoal.models._beliefs import BeliefModel


class MaxBelief(BeliefModel):
    """No record is a person's with more than the probability rho, over the draw of the release.

    The attacker knows how the release was made and the quasi-identifiers of everybody, but not the
    random draw: k-belief with k = 1 / rho, rounded up. A k-factor of the graph of original and
    release exists, and if records were drawn such that each pair of it has the probability 1 / k,
    as the algorithm `freeform` draws them, no record is more likely a person's. `matching-belief`
    is about another attacker, to whom all complete assignments are equally likely. The tables show
    that such a draw is possible, and not that it took place.
    """

    name: ClassVar[str] = "max-belief"
    view: ClassVar[str] = "factor"
    needs_draw: ClassVar[bool] = True
    loosest: ClassVar[Mapping[str, Any]] = {"rho": 0.5}
    rho: Annotated[ProperShare, Usual(0.2, 0.01, 0.5, 0.01)] = Field(
        description="the highest probability that a record is a person's, over the random draw"
    )

    @property
    def required(self) -> float:
        """The highest probability."""
        return self.rho

    @property
    def k(self) -> int:
        """How many equally likely records everybody needs; a fifth is 5, in spite of rounding."""
        return ceil(min(1.0 / self.rho, float(MANY)) * (1.0 - TOLERANCE))

    @property
    def min_factor(self) -> int:
        """What the model requires."""
        return self.k

    def guarantee(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the model guarantees, in a sentence."""
        return (
            f"{number(self.k)} people fit each published record, and {number(self.k)} records fit "
            f"each person, such that no pair needs a probability above {percent(100 * self.rho)}. "
            "If the records were drawn so (by the algorithm freeform), an attacker who knows the "
            "algorithm and the quasi-identifiers of everyone, but nobody's record, believes of no "
            f"record with more than {percent(100 * self.rho)} that it is a given person's."
        )

    def is_possible(self, people: int) -> bool:
        """Whether there are k people."""
        return self.k <= people
