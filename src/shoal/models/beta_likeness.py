"""beta-likeness."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import field_validator

from shoal.base.arrays import Floats
from shoal.models import SensitiveModel
from shoal.table.equivalence_classes import Classes
from shoal.table.sensitive import Histogram


class BetaLikeness(SensitiveModel):
    """No value's share grows from table to class by more than beta of itself (Cao, Karras 2012).

    With q the share of a value in the table and p its larger share in a class, the gain is
    (p - q) / q. `basic` bounds it by beta, and the level is the largest gain. `enhanced` bounds
    it by min(beta, -ln q), so that p stays below 1 for frequent values too. Its level is the
    largest gain in proportion to its bound, times beta: at most beta just where every gain is
    within its bound, and the gain itself where the bound is beta.
    """

    name: ClassVar[str] = "beta-likeness"
    compares_shares: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False
    beta: float
    kind: Literal["basic", "enhanced"] = "basic"

    @field_validator("beta")
    @classmethod
    def _above_zero(cls, beta: float) -> float:
        if not 0 < beta < float("inf"):
            raise ValueError(f"needs beta above 0, got beta={beta:g}")
        return beta

    @property
    def required(self) -> float:
        """The gain that is promised."""
        return self.beta

    def levels_of(self, histogram: Histogram, classes: Classes) -> Floats:  # noqa: ARG002
        """The largest gain in each class."""
        # In whole numbers as far as possible: a share that does not grow has a gain of exactly 0.
        expected = histogram.total[histogram.value] * histogram.size[histogram.of_class]
        extra = histogram.count * histogram.total.sum() - expected
        gain = np.maximum(extra, 0) / expected  # float64[pairs]
        if self.kind == "enhanced":
            # Where there is a gain q is below 1, so that the bound is above 0.
            bound = np.minimum(self.beta, -np.log(histogram.overall[histogram.value]))
            gain = np.divide(self.beta * gain, bound, out=np.zeros_like(gain), where=extra > 0)
        return np.maximum.reduceat(gain, histogram.start[:-1])
