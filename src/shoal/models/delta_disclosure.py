"""delta-disclosure."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.base.arrays import Floats
from shoal.base.settings import Positive, Usual
from shoal.base.wording import number, short
from shoal.models import SensitiveModel
from shoal.table.equivalence_classes import Classes
from shoal.table.sensitive import Histogram


class DeltaDisclosure(SensitiveModel):
    """|ln(p / q)| < delta for each value's shares in class and table (Brickell, Shmatikov 2008).

    The level is the largest |ln(p / q)| over all values of the table. It is infinite for a class
    that lacks one of them: no delta is enough, as the class shows what its people do not have.
    (JSON has no infinity; there it is null.) A level equal to delta, within rounding, is not
    enough.
    """

    name: ClassVar[str] = "delta-disclosure"
    compares_shares: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False
    strict: ClassVar[bool] = True
    loosest: ClassVar[Mapping[str, Any]] = {"delta": 99.0}
    delta: Annotated[Positive, Usual(1.5, 0.1, 5, 0.1)] = Field(
        description="bound on |ln(share in class / share in table)|"
    )

    @property
    def required(self) -> float:
        """The bound."""
        return self.delta

    def guarantee(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the model guarantees, in a sentence."""
        factor = number(exp(self.delta)) if self.delta < 20 else "very many"
        return (
            f"In every class each value of {short(self.column)} is less than {factor} times as "
            f"frequent as in the whole table, and more than 1/{factor} as frequent."
        )

    def levels_of(self, histogram: Histogram, classes: Classes) -> Floats:  # noqa: ARG002
        """The largest |ln(p / q)| in each class."""
        expected = histogram.total[histogram.value] * histogram.size[histogram.of_class]
        ratio = histogram.count * histogram.total.sum() / expected  # exactly 1 if p = q
        change = np.maximum.reduceat(np.abs(np.log(ratio)), histogram.start[:-1])
        complete = np.diff(histogram.start) == np.count_nonzero(histogram.total)
        return np.where(complete, change, np.inf)
