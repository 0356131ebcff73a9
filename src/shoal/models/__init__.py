"""Privacy models: the level that each class reached, and whether that is enough."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.classes import Classes
from shoal.settings import Setting


@dataclass(frozen=True)
class Check:
    """One promise, measured on the table that would be published."""

    model: str
    column: str | None
    required: float
    reached: float
    holds: bool


class Model(Setting):
    """A promise that every class of a table must keep."""

    @property
    @abstractmethod
    def required(self) -> float:
        """The level that is promised."""

    @abstractmethod
    def levels(self, classes: Classes) -> npt.NDArray[np.float64]:
        """The level that each class reached."""

    @abstractmethod
    def reached(self, classes: Classes) -> float:
        """The level of the whole table: that of its worst class."""

    @abstractmethod
    def holds(self, level: float) -> bool:
        """Whether a level is enough."""

    @property
    def about(self) -> str | None:
        """The sensitive column that the promise is about, if it is about one."""
        return None

    @property
    def key(self) -> str:
        """The name under which levels are reported."""
        return self.name if self.about is None else f"{self.name}[{self.about}]"

    def check(self, classes: Classes) -> Check:
        """Measure the promise."""
        reached = self.reached(classes)
        return Check(self.name, self.about, self.required, reached, self.holds(reached))
