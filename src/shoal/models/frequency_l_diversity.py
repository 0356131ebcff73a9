"""Frequency l-diversity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.base.arrays import Floats
from shoal.base.settings import AboveOne, Usual
from shoal.base.wording import number, short
from shoal.models import ClassNeeds, SensitiveModel
from shoal.table.equivalence_classes import Classes
from shoal.table.sensitive import Histogram


class FrequencyLDiversity(SensitiveModel):
    """No sensitive value has a share of more than 1/l of a class (Xiao and Tao 2006).

    The level is 1 / the share of the most frequent value: an attacker who guesses that value is
    right once in so many times.
    """

    name: ClassVar[str] = "frequency-l-diversity"
    of_people: ClassVar[bool] = True
    loosest: ClassVar[Mapping[str, Any]] = {"l": 2}
    l: Annotated[AboveOne, Usual(2, 1.1, 10, 0.1)] = Field(  # noqa: E741
        description="1 / largest share of a value in a class"
    )

    @property
    def required(self) -> float:
        """1 / the largest share of a value."""
        return self.l

    def class_needs(self, shares: Floats) -> ClassNeeds:
        """No value has a share above 1/l."""
        return ClassNeeds(limit=np.full(len(shares), 1 / self.l))

    def guarantee(self, linked: bool = False) -> str:
        """What the model guarantees, in a sentence."""
        # Records that could be a person's need not be equally likely: counts give no probability.
        guess = (
            ""
            if linked
            else ": an attacker who knows a person's class and guesses the value is right no more "
            "often"
        )
        return (
            f"{self.where(linked)} no value of {short(self.column)} is more frequent than once in "
            f"{number(self.l)} records{guess}."
        )

    def levels_of(self, histogram: Histogram, classes: Classes) -> Floats:  # noqa: ARG002
        """1 / the share of the most frequent value of each class."""
        return histogram.size / np.maximum.reduceat(histogram.count, histogram.start[:-1])
