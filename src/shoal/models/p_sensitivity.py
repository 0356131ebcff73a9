"""p-sensitivity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import field_validator

from shoal.base.arrays import Floats
from shoal.models import SensitiveModel
from shoal.table.equivalence_classes import Classes
from shoal.table.sensitive import Histogram


class PSensitivity(SensitiveModel):
    """Every class holds at least p different sensitive values (Truta and Vinay 2006).

    Together with k-anonymity in the same plan this is p-sensitive k-anonymity. The level is the
    number of different values; a missing one is a value of its own.
    """

    name: ClassVar[str] = "p-sensitivity"
    is_monotone: ClassVar[bool] = True
    p: int

    @field_validator("p")
    @classmethod
    def _at_least_two(cls, p: int) -> int:
        if p < 2:
            raise ValueError(f"needs p of 2 or more, got p={p}")
        return p

    @property
    def required(self) -> float:
        """The number of values that is promised."""
        return self.p

    def levels_of(self, histogram: Histogram, classes: Classes) -> Floats:  # noqa: ARG002
        """Different values in each class."""
        return np.diff(histogram.start).astype(np.float64)
