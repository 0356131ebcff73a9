"""Identity-reserved k-anonymity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import field_validator

from shoal.base.arrays import Floats
from shoal.base.errors import BadPlan
from shoal.models import Model, no_person_column
from shoal.table.equivalence_classes import Classes


class IRKAnonymity(Model):
    """Every class holds at least k different people (Def. 2.3, Wang 2018).

    It counts the people of a class. k-anonymity asks for more where the rows of a person are
    spread over several classes: only those count who are in all of them.
    """

    name: ClassVar[str] = "ir-k-anonymity"
    is_monotone: ClassVar[bool] = True
    needs_person_column: ClassVar[bool] = True
    k: int

    @field_validator("k")
    @classmethod
    def _at_least_two(cls, k: int) -> int:
        if k < 2:
            raise ValueError(f"needs k of 2 or more, got k={k}")
        return k

    @property
    def required(self) -> float:
        """The number of people that is promised."""
        return self.k

    def levels(self, classes: Classes) -> Floats:
        """People of each class."""
        if classes.people is classes.size:  # so it is where nothing tells whose a row is
            raise BadPlan(no_person_column(self.name))
        return classes.people.astype(np.float64)
