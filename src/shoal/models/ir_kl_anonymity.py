"""Identity-reserved (k, l)-anonymity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import field_validator

from shoal.base.arrays import Floats
from shoal.models import PeopleModel
from shoal.table.equivalence_classes import Classes


class IRKLAnonymity(PeopleModel):
    """Every class holds at least k people and l different sensitive values (Def. 2.3, Wang 2018).

    The level is the number of different values. A class of fewer than k people keeps no promise:
    its level is people / k, which is below 1.
    """

    name: ClassVar[str] = "ir-kl-anonymity"
    is_monotone: ClassVar[bool] = True
    k: int
    l: int  # noqa: E741 (the papers' letter)

    @field_validator("k", "l")
    @classmethod
    def _at_least_two(cls, given: int) -> int:
        if given < 2:
            raise ValueError(f"needs k and l of 2 or more, got {given}")
        return given

    @property
    def required(self) -> float:
        """The number of values that is promised."""
        return self.l

    def levels(self, classes: Classes) -> Floats:
        """Different values of each class, or people / k where these are too few."""
        people = self.holdings(classes).people
        values = np.diff(classes.histograms[self.column].start)
        return np.where(people < self.k, people / self.k, values.astype(np.float64))
