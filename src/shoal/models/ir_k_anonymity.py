"""Identity-reserved k-anonymity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.base.arrays import Floats
from shoal.base.errors import BadPlan
from shoal.base.wording import number
from shoal.models._class_sizes import ClassSizeModel
from shoal.models._people import no_person_column
from shoal.table.equivalence_classes import Classes


class IRKAnonymity(ClassSizeModel):
    """Every class has at least k different people (Def. 2.3, Wang 2018).

    It counts the people of a class. k-anonymity requires more if the records of a person are in
    several classes: there only people count who are in all of them.
    """

    name: ClassVar[str] = "ir-k-anonymity"
    is_monotone: ClassVar[bool] = True
    needs_person_column: ClassVar[bool] = True

    def guarantee(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the model guarantees, in a sentence."""
        return (
            f"Every class has records of at least {number(self.k)} different people, however many "
            "records each of them has."
        )

    def levels(self, classes: Classes) -> Floats:
        """People of each class."""
        if classes.people is classes.size:  # true only for a table without a person column
            raise BadPlan(no_person_column(self.name))
        return classes.people.astype(np.float64)
