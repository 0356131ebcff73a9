"""Background knowledge."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import field_validator

from shoal.attacks import SensitiveAttack, distinct, toll
from shoal.base.arrays import Bools, Longs
from shoal.table.person_values import SEARCH_BUDGET, PersonValues
from shoal.table.sensitive import Histogram


class BackgroundKnowledge(SensitiveAttack):
    """How many sensitive values must somebody rule out before one remains?

    In a class with m different values it takes m - 1. The attack succeeds where `knows` are
    enough: one by default, such as that Carl has a low risk of heart disease. Where none has to
    be ruled out, homogeneity succeeds as well. (Machanavajjhala et al. 2006.)

    People with several values are ruled out with any value that they have, and who is left may
    have others besides the one that all of them have. Be H the smallest set of values of which
    everybody in the class has one (Theorem 3.1, Wang 2018): whoever has none of H but one value
    must have that one, and no fewer values do. So it takes |H| - 1, which is never more than m - 1.
    """

    name: ClassVar[str] = "background-knowledge"
    knows: int = 1

    @field_validator("knows")
    @classmethod
    def _not_negative(cls, knows: int) -> int:
        if knows < 0:
            raise ValueError(f"needs knows of 0 or more, got knows={knows}")
        return knows

    def victims(self, histogram: Histogram) -> Bools:
        """Classes in which as many values as the attacker can rule out leave one."""
        return distinct(histogram) - 1 <= self.knows

    def among_people(self, held: PersonValues) -> Bools:
        """Classes in which they leave people who all have some value."""
        return needed_by_people(held, self.knows) <= self.knows

    def details(
        self, histogram: Histogram, records: Longs | None = None, held: PersonValues | None = None
    ) -> dict[str, Any]:
        """The fewest values to rule out, and the records with none and with one.

        By people the fewest are told as far as they can be proven in about a second.
        """
        needed = distinct(histogram) - 1
        fewest = int(needed.min())
        if held is not None:
            needed = needed_by_people(held, 1)
            fewest = fewest_by_people(held, fewest)
        return {
            "fewest_to_rule_out": fewest,
            "records_with_none_to_rule_out": toll(histogram, needed == 0, records)["records"],
            "records_with_one_to_rule_out": toll(histogram, needed == 1, records)["records"],
        }


def needed_by_people(held: PersonValues, most: int) -> Longs:
    """How many values must be ruled out in each class, or `most` + 1 where it is more."""
    return held.hitting_sizes(np.full(len(held), most + 1)) - 1


def fewest_by_people(held: PersonValues, by_rows: int) -> int:
    """How many values must be ruled out in some class, of which `by_rows` are enough."""
    budget = np.array([SEARCH_BUDGET])
    every = np.argsort(held.people, kind="stable")  # small classes are quick
    for fewest in range(by_rows):
        sizes = held.hitting_sizes(np.full(len(held), fewest + 1), budget, every)
        if (sizes <= fewest + 1).any():  # one has a set of this size, or nobody knows
            return fewest
    return by_rows
