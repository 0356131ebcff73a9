"""Homogeneity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.attacks import SensitiveAttack, distinct
from shoal.base.arrays import Bools
from shoal.table.person_values import PersonValues
from shoal.table.sensitive import Histogram


class Homogeneity(SensitiveAttack):
    """Where everybody in a class has the same value, knowing the class is knowing the value.

    A class of one record is such a class too. (Machanavajjhala et al. 2006.)
    """

    name: ClassVar[str] = "homogeneity"

    def victims(self, histogram: Histogram) -> Bools:
        """Classes with a single value."""
        single: Bools = distinct(histogram) == 1
        return single

    def among_people(self, held: PersonValues) -> Bools:
        """Classes in which everybody has some value, though not the same ones besides."""
        return np.asarray(held.most_people == held.people)
