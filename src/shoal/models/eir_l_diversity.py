"""Enhanced identity-reserved l-diversity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import field_validator

from shoal.classes import Classes
from shoal.kernels.hitting import hitting_sizes, least_hitting_size
from shoal.models import PeopleModel


class EIRLDiversity(PeopleModel):
    """One record of each person, however picked, shows l different values (Def. 3.3, Wang 2018).

    Somebody who knows that a person is in a class thinks of one record of everybody there. The
    fewest values that this can show are those of a smallest hitting set: a set of values of which
    everybody in the class has one (Theorem 3.1). Its size is the level; it is exact.
    """

    name: ClassVar[str] = "eir-l-diversity"
    lasting: ClassVar[bool] = True
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

    def levels(self, classes: Classes) -> npt.NDArray[np.float64]:
        """The size of the smallest hitting set of each class."""
        return self._sizes(classes, len(self.holdings(classes).column.values))

    def satisfied(self, classes: Classes) -> npt.NDArray[np.bool_]:
        """Whether each class keeps the promise; the search ends where that is sure."""
        return np.asarray(self._sizes(classes, self.l - 1) >= self.l)

    def reached(self, classes: Classes) -> float:
        """The smallest of all classes; of each it is asked only whether it has a smaller one."""
        held = self.holdings(classes)
        return int(least_hitting_size(held.start, held.first, held.value, len(held.column.values)))

    def _sizes(self, classes: Classes, limit: int) -> npt.NDArray[np.float64]:
        held = self.holdings(classes)
        limits = np.minimum(held.people, limit)
        sizes = hitting_sizes(held.start, held.first, held.value, limits, len(held.column.values))
        # With few people the limit is their number, which no smallest hitting set passes.
        return np.asarray(sizes, np.float64)
