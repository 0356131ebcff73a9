"""Distinct l-diversity."""

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


class DistinctLDiversity(SensitiveModel):
    """Every class has at least l different sensitive values (Machanavajjhala 2006).

    The level is the number of different values; a missing value is a value of its own.
    """

    name: ClassVar[str] = "distinct-l-diversity"
    is_monotone: ClassVar[bool] = True
    by_share: ClassVar[bool] = False
    loosest: ClassVar[Mapping[str, Any]] = {"l": 2}
    l: DistinctValues = Field(description="fewest different values in a class")  # noqa: E741

    @property
    def required(self) -> float:
        """The smallest number of values."""
        return self.l

    def class_needs(self, shares: Floats) -> ClassNeeds:  # noqa: ARG002
        """At least l values."""
        return ClassNeeds(distinct=self.l)

    def guarantee(self, linked: bool = False) -> str:
        """What the model guarantees, in a sentence."""
        values = f"{number(self.l)} different values of {short(self.column)}"
        return f"{self.where(linked)} there are at least {values}."

    def levels_of(self, histogram: Histogram, classes: Classes) -> Floats:  # noqa: ARG002
        """Different values in each class."""
        return np.diff(histogram.start).astype(np.float64)
