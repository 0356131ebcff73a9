"""Frequency l-diversity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import field_validator

from shoal.base.arrays import Floats
from shoal.models import SensitiveModel
from shoal.table.equivalence_classes import Classes
from shoal.table.sensitive import Histogram


class FrequencyLDiversity(SensitiveModel):
    """No sensitive value is more frequent in a class than 1/l (Xiao and Tao 2006).

    The level is 1 / the share of the most frequent value: who guesses it is right once in so
    many times.
    """

    name: ClassVar[str] = "frequency-l-diversity"
    of_people: ClassVar[bool] = True
    l: float  # noqa: E741 (the papers' letter)

    @field_validator("l")
    @classmethod
    def _above_one(cls, given: float) -> float:
        if not 1 < given < float("inf"):
            raise ValueError(f"needs l above 1, got l={given:g}")
        return given

    @property
    def required(self) -> float:
        """The level that is promised."""
        return self.l

    def levels_of(self, histogram: Histogram, classes: Classes) -> Floats:  # noqa: ARG002
        """How many times rarer than all rows the most frequent value of each class is."""
        return histogram.size / np.maximum.reduceat(histogram.count, histogram.start[:-1])
