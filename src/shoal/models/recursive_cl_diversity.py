"""Recursive (c, l)-diversity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import field_validator

from shoal.base.arrays import Floats
from shoal.models import TOLERANCE, SensitiveModel
from shoal.table.equivalence_classes import Classes
from shoal.table.sensitive import Histogram


class RecursiveCLDiversity(SensitiveModel):
    """In every class r1 < c (rl + ... + rm), r1 the most frequent value (Machanavajjhala 2006).

    r1 >= r2 >= ... >= rm are the rows of each value of a class. The level is the largest l for
    which the inequality holds in the class with this c, and 1 where it does not even hold for 2.
    It is strict: if both sides are equal, within rounding, it does not hold.
    """

    name: ClassVar[str] = "recursive-cl-diversity"
    c: float
    l: int  # noqa: E741 (the papers' letter)

    @field_validator("c")
    @classmethod
    def _above_zero(cls, c: float) -> float:
        if not 0 < c < float("inf"):
            raise ValueError(f"needs c above 0 and finite, got c={c:g}")
        return c

    @field_validator("l")
    @classmethod
    def _at_least_two(cls, given: int) -> int:
        if given < 2:
            raise ValueError(f"needs l of 2 or more, got l={given}")
        return given

    @property
    def required(self) -> float:
        """The l that is promised."""
        return self.l

    def levels_of(self, histogram: Histogram, classes: Classes) -> Floats:  # noqa: ARG002
        """The largest l for which each class is (c, l)-diverse."""
        begin, size = histogram.start[:-1], histogram.size
        count = histogram.count[np.lexsort((-histogram.count, histogram.of_class))]
        before = np.cumsum(count) - count  # int64[pairs], rows of more frequent values …
        before -= before[begin][histogram.of_class]  # … in the same class
        rest = size[histogram.of_class] - before  # rl + … + rm
        most = count[begin][histogram.of_class]  # r1
        fine = most < self.c * rest * (1 - TOLERANCE)
        fine[begin] = True  # l = 1 says nothing
        # The rest only shrinks as l grows, so the inequality holds up to some l and not beyond.
        return np.add.reduceat(fine, begin, dtype=np.float64)
