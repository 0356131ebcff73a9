"""k-anonymity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.base.arrays import Floats
from shoal.base.wording import many
from shoal.models._class_sizes import ClassSizeModel
from shoal.table.equivalence_classes import Classes


class KAnonymity(ClassSizeModel):
    """Each person's published values are shared by k - 1 other people (Samarati, Sweeney 1998).

    In a table with a person column people are counted, not records: ten records of one person do
    not hide that person. As the records of a person are linked, only people who are in all classes
    of that person count.
    """

    name: ClassVar[str] = "k-anonymity"
    is_monotone: ClassVar[bool] = True

    def guarantee(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the model guarantees, in a sentence."""
        return (
            "In the columns that the plan calls quasi-identifiers, each person looks the same as "
            f"at least {many(self.k - 1, 'other person', 'other people')} in the table."
        )

    def in_short(self, linked: bool = False) -> str:  # noqa: ARG002
        """The same in fewer words."""
        return f"Each person looks like at least {many(self.k - 1, 'other')}."

    def levels(self, classes: Classes) -> Floats:
        """Candidates of the most exposed person in each class."""
        return classes.fewest_candidates.astype(np.float64)

    def reached(self, classes: Classes) -> float:
        """Candidates of the most exposed person: without a person column, the smallest class."""
        return classes.smallest
