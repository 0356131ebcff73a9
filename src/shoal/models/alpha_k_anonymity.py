"""(alpha, k)-anonymity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import field_validator

from shoal.base.arrays import Floats
from shoal.models import SensitiveModel
from shoal.table.equivalence_classes import Classes
from shoal.table.sensitive import Histogram


class AlphaKAnonymity(SensitiveModel):
    """Every class is a crowd of k and no sensitive value's share exceeds alpha (Wong 2006).

    The level is the share of the most frequent value, at most 1. A class of fewer than k people
    keeps no promise about shares: its level is k / people, which is above 1 and so never enough.
    People are counted as in k-anonymity.
    """

    name: ClassVar[str] = "alpha-k-anonymity"
    of_people: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False
    alpha: float
    k: int

    @field_validator("alpha")
    @classmethod
    def _a_share(cls, alpha: float) -> float:
        if not 0 < alpha <= 1:
            raise ValueError(f"needs alpha above 0 and at most 1, got alpha={alpha:g}")
        return alpha

    @field_validator("k")
    @classmethod
    def _at_least_two(cls, k: int) -> int:
        if k < 2:
            raise ValueError(f"needs k of 2 or more, got k={k}")
        return k

    @property
    def required(self) -> float:
        """The share that is promised."""
        return self.alpha

    def levels_of(self, histogram: Histogram, classes: Classes) -> Floats:
        """The largest share in each class, or k / people where these are too few."""
        crowd = classes.crowd
        share = np.maximum.reduceat(histogram.share, histogram.start[:-1])
        return np.where(crowd < self.k, self.k / np.maximum(crowd, 1), share)
