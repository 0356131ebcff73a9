"""(alpha, k)-anonymity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.base.arrays import Floats
from shoal.base.settings import PositiveShare, Usual
from shoal.base.wording import many, percent, short
from shoal.models import ClassNeeds, ClassSize, SensitiveModel
from shoal.table.equivalence_classes import Classes
from shoal.table.sensitive import Histogram


class AlphaKAnonymity(SensitiveModel):
    """Every class has k people and no sensitive value's share exceeds alpha (Wong 2006).

    The level is the share of the most frequent value, at most 1. A class of fewer than k people
    never satisfies the model: its level is k / people, which is above 1. People are counted as in
    k-anonymity.
    """

    name: ClassVar[str] = "alpha-k-anonymity"
    level_option: ClassVar[str] = "alpha"
    of_people: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False
    size_option: ClassVar[str | None] = "k"
    loosest: ClassVar[Mapping[str, Any]] = {"alpha": 1.0, "k": 2}
    alpha: Annotated[PositiveShare, Usual(0.5, 0.05, 1, 0.05)] = Field(
        description="largest share of a value in a class"
    )
    k: ClassSize = Field(description="smallest class, in people")

    @property
    def required(self) -> float:
        """The largest share of a value."""
        return self.alpha

    @property
    def min_people(self) -> int:
        """Every class has k people."""
        return self.k

    def class_needs(self, shares: Floats) -> ClassNeeds:
        """No value has a share above alpha."""
        return ClassNeeds(limit=np.full(len(shares), self.alpha))

    def guarantee(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the model guarantees, in a sentence."""
        return (
            "Each person looks the same as at least "
            f"{many(self.k - 1, 'other person', 'other people')}, and in no class does one value "
            f"of {short(self.column)} make up more than "
            f"{percent(100 * self.alpha)} of the records."
        )

    def levels_of(self, histogram: Histogram, classes: Classes) -> Floats:
        """The largest share in each class, or k / people if these are too few."""
        people = classes.fewest_candidates
        share = np.maximum.reduceat(histogram.share, histogram.start[:-1])
        return np.where(people < self.k, self.k / np.maximum(people, 1), share)
