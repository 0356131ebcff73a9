"""Enhanced identity-reserved l-diversity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.base.arrays import Bools, Floats
from shoal.base.wording import number, short
from shoal.models import MANY, DistinctValues
from shoal.models._people import PeopleModel
from shoal.table.equivalence_classes import Classes
from shoal.table.person_values import SEARCH_BUDGET


class EIRLDiversity(PeopleModel):
    """One record per person, however picked, shows l different values (Def. 3.3, Wang 2018).

    An attacker who knows that a person is in a class may consider one record of each person there.
    The fewest values that this can show are those of a smallest hitting set: a set of values of
    which everyone in the class has one (Theorem 3.1). Its size is the level. Whether it is l or
    more is decided exactly; how much more, as far as it can be proven in about a second.
    """

    name: ClassVar[str] = "eir-l-diversity"
    is_monotone: ClassVar[bool] = True
    loosest: ClassVar[Mapping[str, Any]] = {"l": 2}
    l: DistinctValues = Field(description="fewest values that one record per person shows")  # noqa: E741

    @property
    def required(self) -> float:
        """The smallest number of values."""
        return self.l

    @property
    def min_people(self) -> int:
        """Each person needs at most one value of a hitting set, so l values need l people."""
        return self.l

    def guarantee(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the model guarantees, in a sentence."""
        return (
            "Pick one record of each person of a class: however you pick, at least "
            f"{number(self.l)} different values of {short(self.column)} remain."
        )

    def levels(self, classes: Classes) -> Floats:
        """The size of the smallest hitting set of each class, as far as it can be proven."""
        person_values = self.person_values(classes)
        levels = self._sizes(classes)  # those that fail are exact
        budget = np.array([SEARCH_BUDGET])
        unsure = np.arange(len(levels))[levels >= self.l]
        while len(unsure):  # one value more at a time
            limits = levels[unsure].astype(np.int64)
            sizes = person_values.hitting_sizes(limits, budget, unsure)
            unsure = unsure[sizes > limits]
            levels[unsure] += 1
        return levels

    def satisfied(self, classes: Classes) -> Bools:
        """Which classes satisfy the model; the search ends as soon as that is certain."""
        return np.asarray(self._sizes(classes) >= self.l)

    def reached(self, classes: Classes) -> float:
        """The smallest of all classes; each is only searched for a smaller one."""
        person_values = self.person_values(classes)
        least = self._sizes(classes).min()
        if least < self.l:
            return int(least)
        level, budget = self.l, np.array([SEARCH_BUDGET])
        # Small classes are fast, and often decide it.
        every = np.argsort(person_values.people, kind="stable")
        while True:
            sizes = person_values.hitting_sizes(np.full(len(every), level), budget, every)
            if (sizes <= level).any():
                return int(level)  # one has a set of this size, or it is unknown
            level += 1

    def _sizes(self, classes: Classes) -> Floats:
        """The smallest hitting sets, as far as the model needs them."""
        person_values = self.person_values(classes)
        enough = min(self.l, MANY) - 1
        return person_values.hitting_sizes(np.full(len(person_values), enough)).astype(float)
