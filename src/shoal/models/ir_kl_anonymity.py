"""Identity-reserved (k, l)-anonymity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.base.arrays import Floats
from shoal.base.wording import number, short
from shoal.models import ClassSize, DistinctValues
from shoal.models._people import PeopleModel
from shoal.table.equivalence_classes import Classes


class IRKLAnonymity(PeopleModel):
    """Every class has at least k people and l different sensitive values (Def. 2.3, Wang 2018).

    The level is the number of different values. A class of fewer than k people never satisfies the
    model: its level is people / k, which is below 1.
    """

    name: ClassVar[str] = "ir-kl-anonymity"
    level_option: ClassVar[str] = "l"
    is_monotone: ClassVar[bool] = True
    enhanced_by: ClassVar[str | None] = "eir-l-diversity"
    size_option: ClassVar[str | None] = "k"
    loosest: ClassVar[Mapping[str, Any]] = {"k": 2, "l": 2}
    k: ClassSize = Field(description="smallest class, in people")
    l: DistinctValues = Field(description="fewest different values in a class")  # noqa: E741

    @property
    def required(self) -> float:
        """The smallest number of values."""
        return self.l

    @property
    def min_people(self) -> int:
        """Every class has k people."""
        return self.k

    def guarantee(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the model guarantees, in a sentence."""
        return (
            f"Every class has records of at least {number(self.k)} different people, and at least "
            f"{number(self.l)} different values of {short(self.column)}."
        )

    def levels(self, classes: Classes) -> Floats:
        """Different values of each class, or people / k if these are too few."""
        people = self.person_values(classes).people
        values = np.diff(classes.histograms[self.column].start)
        return np.where(people < self.k, people / self.k, values.astype(np.float64))
