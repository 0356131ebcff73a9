"""Strict average risk."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.base.arrays import Floats, Longs
from shoal.base.settings import PositiveShare, Usual
from shoal.base.wording import many, percent
from shoal.models import MANY, TOLERANCE, ClassSize, TableModel


class StrictAverageRisk(TableModel):
    """The average re-identification risk is at most r, and nobody is in a class of fewer than k.

    That is average-risk and k-anonymity together, as ARX defines it (El Emam 2013). With smaller
    classes the level is infinite.
    """

    name: ClassVar[str] = "strict-average-risk"
    level_option: ClassVar[str] = "r"
    size_option: ClassVar[str | None] = "k"
    loosest: ClassVar[Mapping[str, Any]] = {"r": 1.0, "k": 2}
    r: Annotated[PositiveShare, Usual(0.05, 0.01, 0.5, 0.01)] = Field(
        description="largest average of 1 / class size over people"
    )
    k: ClassSize = Field(description="smallest class, in people")

    @property
    def required(self) -> float:
        """The largest average risk."""
        return self.r

    @property
    def min_people(self) -> int:
        """Every class has k people."""
        return self.k

    @property
    def sufficient_people(self) -> int:
        """In classes of 1 / r people or more no risk is above r."""
        return max(self.k, ceil(min(1 / self.r, MANY) - TOLERANCE))

    def risk(self, people: Longs) -> Floats:
        """1 / class size; infinite in a class that is too small."""
        return np.where(people < self.k, np.inf, 1.0 / people)

    @property
    def level_words(self) -> str:
        """What the level is."""
        return f"average re-identification risk, in classes of {self.k} or more"

    def meaning(self, level: float) -> str:
        """What a level means."""
        if not np.isfinite(level):
            return f"Some people are in a class of fewer than {self.k}."
        return (
            f"The re-identification risk is {percent(100 * level)} on average over all people, and "
            f"at most {percent(100 / self.k)} for each."
        )

    def guarantee(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the model guarantees, in a sentence."""
        return (
            "An attacker who links each person to one of the people who look the same is right in "
            f"at most {percent(100 * self.r)} of all cases on average, and each person looks the "
            f"same as at least {many(self.k - 1, 'other person', 'other people')}."
        )
