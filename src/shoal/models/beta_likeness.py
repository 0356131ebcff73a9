"""beta-likeness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.base.arrays import Floats
from shoal.base.settings import Positive, Usual
from shoal.base.wording import number, short
from shoal.models import SensitiveModel
from shoal.table.equivalence_classes import Classes
from shoal.table.sensitive import Histogram


class BetaLikeness(SensitiveModel):
    """No value's share grows from table to class by more than beta of itself (Cao, Karras 2012).

    With q the share of a value in the table and p its larger share in a class, the gain is
    (p - q) / q. `basic` bounds it by beta, and the level is the largest gain. `enhanced` bounds
    it by min(beta, -ln q), so that p stays below 1 for frequent values too. Its level is the
    largest gain in proportion to its bound, times beta: at most beta exactly if every gain is
    within its bound, and the gain itself if the bound is beta.
    """

    name: ClassVar[str] = "beta-likeness"
    compares_shares: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False
    loosest: ClassVar[Mapping[str, Any]] = {"beta": 99.0}
    beta: Annotated[Positive, Usual(1, 0.1, 10, 0.1)] = Field(
        description="largest relative gain of a value's share"
    )
    kind: Literal["basic", "enhanced"] = Field(
        default="basic", description="enhanced: frequent values may gain less"
    )

    @property
    def required(self) -> float:
        """The largest gain."""
        return self.beta

    def guarantee(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the model guarantees, in a sentence."""
        enhanced = ", and less if the value is frequent" if self.kind == "enhanced" else ""
        return (
            f"In no class is the share of a value of {short(self.column)} more than "
            f"{number(1 + self.beta)} times its share of the whole table{enhanced}."
        )

    def levels_of(self, histogram: Histogram, classes: Classes) -> Floats:  # noqa: ARG002
        """The largest gain in each class."""
        # In whole numbers as far as possible: a share that does not grow has a gain of exactly 0.
        expected = histogram.total[histogram.value] * histogram.size[histogram.of_class]
        extra = histogram.count * histogram.total.sum() - expected
        gain = np.maximum(extra, 0) / expected  # float64[pairs]
        if self.kind == "enhanced":
            # If there is a gain, q is below 1, so that the bound is above 0.
            bound = np.minimum(self.beta, -np.log(histogram.overall[histogram.value]))
            gain = np.divide(self.beta * gain, bound, out=np.zeros_like(gain), where=extra > 0)
        return np.maximum.reduceat(gain, histogram.start[:-1])
