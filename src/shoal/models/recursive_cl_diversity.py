"""Recursive (c, l)-diversity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.base.arrays import Floats
from shoal.base.settings import Positive, Usual
from shoal.base.wording import number, short
from shoal.models import TOLERANCE, DistinctValues, SensitiveModel
from shoal.table.equivalence_classes import Classes
from shoal.table.sensitive import Histogram


class RecursiveCLDiversity(SensitiveModel):
    """In every class r1 < c (rl + ... + rm), r1 the most frequent value (Machanavajjhala 2006).

    r1 >= r2 >= ... >= rm are the records of each value of a class. The level is the largest l for
    which the inequality holds in the class with this c, and 1 if it does not even hold for 2. The
    inequality is strict: if both sides are equal, within rounding, it does not hold.
    """

    name: ClassVar[str] = "recursive-cl-diversity"
    level_option: ClassVar[str] = "l"
    loosest: ClassVar[Mapping[str, Any]] = {"c": 99.0, "l": 2}
    c: Annotated[Positive, Usual(3, 0.5, 10, 0.5)] = Field(
        description="how often the most frequent value may outweigh the rest"
    )
    l: DistinctValues = Field(description="rank from which values count as the rest")  # noqa: E741

    @property
    def required(self) -> float:
        """The required l."""
        return self.l

    def guarantee(self, linked: bool = False) -> str:
        """What the model guarantees, in a sentence."""
        return (
            f"{self.where(linked)} the most frequent value of {short(self.column)} has fewer than "
            f"{number(self.c)} times the records of all values from rank {number(self.l)} on."
        )

    def levels_of(self, histogram: Histogram, classes: Classes) -> Floats:  # noqa: ARG002
        """The largest l for which each class is (c, l)-diverse."""
        begin, size = histogram.start[:-1], histogram.size
        count = histogram.count[np.lexsort((-histogram.count, histogram.of_class))]
        before = np.cumsum(count) - count  # int64[pairs], records of more frequent values …
        before -= before[begin][histogram.of_class]  # … in the same class
        rest = size[histogram.of_class] - before  # rl + … + rm
        most = count[begin][histogram.of_class]  # r1
        with np.errstate(over="ignore"):  # a huge c: the product is infinite, and large enough
            fine = most < self.c * rest * (1 - TOLERANCE)
        fine[begin] = True  # l = 1 requires nothing
        # The rest only shrinks as l grows, so the inequality holds up to some l and not beyond.
        return np.add.reduceat(fine, begin, dtype=np.float64)
