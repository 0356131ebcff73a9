"""matching-belief."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor
from typing import Annotated, Any, ClassVar

from pydantic import Field

from shoal.base.arrays import Floats
from shoal.base.settings import ProperShare, Usual
from shoal.base.wording import percent
from shoal.models import MANY, TOLERANCE
from shoal.models._beliefs import BeliefModel
from shoal.table.equivalence_classes import Classes
from shoal.table.match_graph import Believed


class MatchingBelief(BeliefModel):
    """No record is a person's with more than this probability, over all complete assignments.

    The attacker knows the quasi-identifiers of everybody and finds all complete assignments of
    people to records equally likely, as the attack `matching` does (Sec. 5.2, Tassa 2012).
    Assignments are counted in small components. In others they are sampled, and the level is an
    upper bound that holds for all people together with a confidence of 99 %, if the samples are
    independent enough, which is not proven.
    """

    name: ClassVar[str] = "matching-belief"
    loosest: ClassVar[Mapping[str, Any]] = {"belief": 0.99}
    belief: Annotated[ProperShare, Usual(0.5, 0.01, 0.99, 0.01)] = Field(
        description="the highest probability that a record is a person's"
    )

    @property
    def required(self) -> float:
        """The highest probability."""
        return self.belief

    @property
    def min_factor(self) -> int:
        """The probabilities of all pairs are a factor: those of a person, or a record, add to 1."""
        return floor(min(1.0 / self.belief, float(MANY)) * (1.0 + TOLERANCE))

    def guarantee(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the model guarantees, in a sentence."""
        return (
            f"Of no record an attacker believes with more than {percent(100 * self.belief)} that "
            "it is a given person's, even with the quasi-identifiers of everyone, if all complete "
            "assignments of people to records are equally likely to them (where there are too many "
            "to count, sampled, with a confidence of 99 % for everybody together if the samples "
            "are independent)."
        )

    def levels(self, classes: Classes) -> Floats:
        """The probability of the most likely record of each original."""
        if isinstance(classes, Believed):
            return classes.belief
        return super().levels(classes)
