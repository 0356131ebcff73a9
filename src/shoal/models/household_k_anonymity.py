"""Household k-anonymity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.base.arrays import Floats
from shoal.base.wording import many, number
from shoal.models import ClassSize
from shoal.models._class_sizes import ClassSizeModel
from shoal.table.equivalence_classes import Classes


class HouseholdKAnonymity(ClassSizeModel):
    """No household has more than 1/k of a class: its members look like those of k - 1 others.

    The plan has a household column. If members are generalized each by itself (together = false),
    the level is 1 / the largest share that a household has of the records of a class, and of its
    people: an attacker who guesses from which household a record is, is right once in so many
    times. So many households have records in each class. Nothing may link the members in the
    release. Otherwise members are linked, households of a class have the same size, and the level
    is the number of households that look the same, as in k-anonymity.
    """

    name: ClassVar[str] = "household-k-anonymity"
    needs_household_column: ClassVar[bool] = True
    k: ClassSize = Field(description="1 / largest share of a household in a class")

    @property
    def required(self) -> float:
        """1 / the largest share; of linked members, the smallest number of households."""
        return self.k

    @property
    def only_class_size(self) -> bool:
        """Among k people a household can still have a larger share."""
        return False

    def guarantee(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the model guarantees, in a sentence."""
        others = many(self.k - 1, "other household", "other households")
        return (
            f"The members of a household look the same as members of at least {others}: of the "
            "records that have the same values in the quasi-identifiers, a household has at most "
            f"one in {number(self.k)}."
        )

    def in_short(self, linked: bool = False) -> str:  # noqa: ARG002
        """The same in fewer words."""
        return f"Members of a household look like those of at least {many(self.k - 1, 'other')}."

    def levels(self, classes: Classes) -> Floats:
        """1 / the largest share of a household in each class."""
        if not classes.households:  # households are counted in place of people
            return classes.fewest_candidates.astype(np.float64)
        each = [
            one.size / np.maximum.reduceat(one.count, one.start[:-1]) for one in classes.households
        ]
        return np.asarray(np.minimum.reduce(each))
