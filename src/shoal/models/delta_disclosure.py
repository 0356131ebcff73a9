"""delta-disclosure privacy."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import field_validator

from shoal.base.arrays import Floats
from shoal.models import SensitiveModel
from shoal.table.equivalence_classes import Classes
from shoal.table.sensitive import Histogram


class DeltaDisclosure(SensitiveModel):
    """|ln(p / q)| < delta for each value's shares in class and table (Brickell, Shmatikov 2008).

    The level is the largest |ln(p / q)| over all values of the table. In a class that lacks one
    of them it is infinite: no delta is enough, as the class tells what somebody does not have.
    (JSON knows no infinity; there it is null.) A level equal to delta, within rounding, is not
    enough.
    """

    name: ClassVar[str] = "delta-disclosure"
    compares_shares: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False
    strict: ClassVar[bool] = True
    delta: float

    @field_validator("delta")
    @classmethod
    def _above_zero(cls, delta: float) -> float:
        if not 0 < delta < float("inf"):
            raise ValueError(f"needs delta above 0, got delta={delta:g}")
        return delta

    @property
    def required(self) -> float:
        """The bound that is promised."""
        return self.delta

    def levels_of(self, histogram: Histogram, classes: Classes) -> Floats:  # noqa: ARG002
        """The largest |ln(p / q)| in each class."""
        expected = histogram.total[histogram.value] * histogram.size[histogram.of_class]
        ratio = histogram.count * histogram.total.sum() / expected  # exactly 1 where p = q
        change = np.maximum.reduceat(np.abs(np.log(ratio)), histogram.start[:-1])
        complete = np.diff(histogram.start) == np.count_nonzero(histogram.total)
        return np.where(complete, change, np.inf)
