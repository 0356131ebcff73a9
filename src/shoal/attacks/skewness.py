"""Skewness."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from pydantic import field_validator

from shoal.attacks import Flags, Longs, SensitiveAttack
from shoal.histogram import Histogram
from shoal.values import text

ROUNDING = 1e-9


class Gain(NamedTuple):
    """One value that is more frequent in one class than in the table."""

    of_class: int
    value: int  # a place in the column's values
    before: float  # B1, its share of the table
    after: float  # B2, its share of the class


class Skewness(SensitiveAttack):
    """How much does knowing somebody's class raise the belief that they have a value?

    The distribution of the whole table is public (belief B1); the class gives belief B2
    (Li, Li and Venkatasubramanian 2007). The attack succeeds in a class in which the belief in
    some value

    - grows by more than `gain`, by default 0.2: otherwise the table as a whole tells it already.
      In a class without the virus, the belief in *negative* only grows from 0.99 to 1; and
    - reaches `belief`, by default one half: the value has become at least as likely as all
      others together, so whoever has to guess would name it. A gain alone is no success: in a
      class of three different values each has a share of one third, far from its share of a
      table with many values, and the attacker still has to guess among three.

    The largest gain is told whatever the two limits are. With `belief=0` every large gain is
    a success.
    """

    name: ClassVar[str] = "skewness"
    gain: float = 0.2
    belief: float = 0.5

    @field_validator("gain", "belief")
    @classmethod
    def _share(cls, share: float) -> float:
        if not 0 <= share <= 1:
            raise ValueError(f"needs gain and belief from 0 to 1, got {share}")
        return share

    def victims(self, histogram: Histogram) -> Flags:
        """Classes in which the belief in some value grows a lot and becomes large."""
        share = histogram.share
        grows = share - histogram.overall[histogram.value] > self.gain + ROUNDING
        return np.logical_or.reduceat(
            grows & (share >= self.belief - ROUNDING), histogram.start[:-1]
        )

    def details(self, histogram: Histogram, records: Longs | None = None) -> dict[str, Any]:  # noqa: ARG002
        """The largest gain, in absolute terms."""
        largest = self.largest(histogram)
        value = histogram.column.values[largest.value]
        return {
            "value": None if value is None else text(value),
            "belief_before": largest.before,
            "belief_after": largest.after,
            "gain": largest.after - largest.before,
            "ratio": largest.after / largest.before,
            "class_records": int(histogram.size[largest.of_class]),
        }

    def largest(self, histogram: Histogram) -> Gain:
        """The value and the class with the largest gain.

        Of equal ones that with the largest class, then the value that comes first by its text.
        """
        before, after = histogram.overall[histogram.value], histogram.share  # float64[pairs]
        gain = after - before
        ties = np.flatnonzero(gain >= gain.max() - ROUNDING)
        size = histogram.size[histogram.of_class[ties]]
        ties = ties[size == size.max()]
        values = histogram.column.values
        value = min(
            set(histogram.value[ties].tolist()),
            key=lambda v: (values[v] is None, text(values[v])),
        )
        pair = int(ties[histogram.value[ties] == value][0])
        of_class = int(histogram.of_class[pair])
        return Gain(of_class, value, float(before[pair]), float(after[pair]))
