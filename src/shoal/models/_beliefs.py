"""What models about the belief of an attacker have in common."""

from __future__ import annotations

from typing import ClassVar

from shoal.base.arrays import Floats
from shoal.base.wording import number
from shoal.models import Model
from shoal.table.equivalence_classes import Classes


class BeliefModel(Model):
    """A requirement on the highest probability with which a record is a person's."""

    linkage: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False

    def levels(self, classes: Classes) -> Floats:
        """1 / the records of a class, or of a k-factor, all of which are equally likely."""
        return 1.0 / classes.people

    def is_possible(self, people: int) -> bool:
        """Whether a release of so many people satisfies it if all its records are alike."""
        return self.holds(1.0 / people)

    def out_of_reach(self, best: float) -> str:
        """The error message if the table has too few people."""
        return (
            f"{self.name} with {self._level_option}={number(self.required)} cannot be reached: "
            "even if all records were published alike, each would be a person's with the "
            f"probability {best:.4g}; {self._advice(best)}"
        )
