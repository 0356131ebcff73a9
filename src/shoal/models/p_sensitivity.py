"""p-sensitivity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.base.arrays import Floats
from shoal.base.wording import number, short
from shoal.models import ClassNeeds, DistinctValues, SensitiveModel
from shoal.table.equivalence_classes import Classes
from shoal.table.sensitive import Histogram


class PSensitivity(SensitiveModel):
    """Every class has at least p different sensitive values (Truta and Vinay 2006).

    Together with k-anonymity in the same plan this is p-sensitive k-anonymity. The level is the
    number of different values; a missing value is a value of its own.
    """

    name: ClassVar[str] = "p-sensitivity"
    is_monotone: ClassVar[bool] = True
    by_share: ClassVar[bool] = False
    loosest: ClassVar[Mapping[str, Any]] = {"p": 2}
    p: DistinctValues = Field(description="fewest different values in a class")

    @property
    def required(self) -> float:
        """The smallest number of values."""
        return self.p

    def class_needs(self, shares: Floats) -> ClassNeeds:  # noqa: ARG002
        """At least p values."""
        return ClassNeeds(distinct=self.p)

    def guarantee(self, linked: bool = False) -> str:
        """What the model guarantees, in a sentence."""
        values = f"{number(self.p)} different values of {short(self.column)}"
        return f"{self.where(linked)} there are at least {values}."

    def levels_of(self, histogram: Histogram, classes: Classes) -> Floats:  # noqa: ARG002
        """Different values in each class."""
        return np.diff(histogram.start).astype(np.float64)
