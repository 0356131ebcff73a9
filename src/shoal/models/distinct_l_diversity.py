"""Distinct l-diversity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import field_validator

from shoal.base.arrays import Floats
from shoal.models import SensitiveModel
from shoal.table.equivalence_classes import Classes
from shoal.table.sensitive import Histogram


class DistinctLDiversity(SensitiveModel):
    """Every class holds at least l different sensitive values (Machanavajjhala 2006).

    The level is the number of different values; a missing one is a value of its own.
    """

    name: ClassVar[str] = "distinct-l-diversity"
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

    def levels_of(self, histogram: Histogram, classes: Classes) -> Floats:  # noqa: ARG002
        """Different values in each class."""
        return np.diff(histogram.start).astype(np.float64)
