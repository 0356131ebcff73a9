"""Enhanced identity-reserved l-diversity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import field_validator

from shoal.base.arrays import Bools, Floats
from shoal.models import PeopleModel
from shoal.table.equivalence_classes import Classes
from shoal.table.person_values import SEARCH_BUDGET


class EIRLDiversity(PeopleModel):
    """One record of each person, however picked, shows l different values (Def. 3.3, Wang 2018).

    Somebody who knows that a person is in a class thinks of one record of everybody there. The
    fewest values that this can show are those of a smallest hitting set: a set of values of which
    everybody in the class has one (Theorem 3.1). Its size is the level. Whether it is l or more is
    decided exactly; how much more is told as far as it can be proven in about a second.
    """

    name: ClassVar[str] = "eir-l-diversity"
    is_monotone: ClassVar[bool] = True
    l: int  # noqa: E741 (the papers' letter)

    @field_validator("l")
    @classmethod
    def _at_least_two(cls, given: int) -> int:
        if given < 2:
            raise ValueError(f"needs l of 2 or more, got l={given}")
        return given

    @property
    def required(self) -> float:
        """The number of values that is promised."""
        return self.l

    def levels(self, classes: Classes) -> Floats:
        """The size of the smallest hitting set of each class, as far as it can be proven."""
        held = self.holdings(classes)
        levels = self._sizes(classes)  # those that fail are exact
        budget = np.array([SEARCH_BUDGET])
        unsure = np.arange(len(levels))[levels >= self.l]
        while len(unsure):  # one value more at a time
            limits = levels[unsure].astype(np.int64)
            sizes = held.hitting_sizes(limits, budget, unsure)
            unsure = unsure[sizes > limits]
            levels[unsure] += 1
        return levels

    def satisfied(self, classes: Classes) -> Bools:
        """Whether each class keeps the promise; the search ends where that is sure."""
        return np.asarray(self._sizes(classes) >= self.l)

    def reached(self, classes: Classes) -> float:
        """The smallest of all classes; of each it is asked only whether it has a smaller one."""
        held = self.holdings(classes)
        least = self._sizes(classes).min()
        if least < self.l:
            return int(least)
        level, budget = self.l, np.array([SEARCH_BUDGET])
        every = np.argsort(held.people, kind="stable")  # small ones are quick, and often settle it
        while True:
            sizes = held.hitting_sizes(np.full(len(every), level), budget, every)
            if (sizes <= level).any():
                return int(level)  # one has a set of this size, or nobody knows
            level += 1

    def _sizes(self, classes: Classes) -> Floats:
        """The smallest hitting sets, as far as the promise needs them."""
        held = self.holdings(classes)
        return held.hitting_sizes(np.full(len(held), self.l - 1)).astype(float)
