"""k-anonymity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import field_validator

from shoal.base.arrays import Floats
from shoal.models import Model
from shoal.table.equivalence_classes import Classes


class KAnonymity(Model):
    """Everybody shares what is published of them with k - 1 others (Samarati, Sweeney 1998).

    In a table with a person column people are counted, not rows: ten rows of one person are no
    crowd. And as the rows of a person are linked, only those count who are in all classes that
    the person is in.
    """

    name: ClassVar[str] = "k-anonymity"
    is_monotone: ClassVar[bool] = True
    k: int

    @field_validator("k")
    @classmethod
    def _at_least_two(cls, k: int) -> int:
        if k < 2:
            raise ValueError(f"needs k of 2 or more, got k={k}")
        return k

    @property
    def required(self) -> float:
        """The crowd that is promised."""
        return self.k

    def levels(self, classes: Classes) -> Floats:
        """Candidates of the most exposed person in each class."""
        return classes.crowd.astype(np.float64)

    def reached(self, classes: Classes) -> float:
        """Candidates of the most exposed person: without persons, the smallest class."""
        return classes.smallest
