"""Identity-reserved (alpha, beta)-anonymity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import field_validator

from shoal.classes import Classes
from shoal.models import TOLERANCE, PeopleModel, share_below_one


class IRAlphaBetaAnonymity(PeopleModel):
    """No person has more than alpha of a class's records, no value more than beta (Wang 2018).

    Def. 2.3. The level is the largest share of a value, at most 1. Where a person's share is
    above alpha it is 1 + that share, which is never enough. It does not look at how many people
    have a value: everybody in a class may have the same disease among others.
    """

    name: ClassVar[str] = "ir-alpha-beta-anonymity"
    higher_is_safer: ClassVar[bool] = False
    alpha: float
    beta: float

    @field_validator("alpha", "beta")
    @classmethod
    def _share(cls, share: float) -> float:
        return share_below_one("alpha and beta", share)

    @property
    def required(self) -> float:
        """The share that is promised."""
        return self.beta

    def levels(self, classes: Classes) -> npt.NDArray[np.float64]:
        """The largest share of a value in each class; 1 + that of a person where too large."""
        held = self.holdings(classes)
        person = held.most_records / held.size
        histogram = classes.histograms[self.column]
        value = np.maximum.reduceat(histogram.share, histogram.start[:-1])
        return np.where(person > self.alpha * (1 + TOLERANCE), 1 + person, value)
