"""Skewness."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from pydantic import field_validator

from shoal.attacks import SensitiveAttack
from shoal.base.arrays import Bools, Longs
from shoal.hierarchies.values import text
from shoal.table.person_values import PersonValues
from shoal.table.sensitive import Histogram

ROUNDING = 1e-9


class Gain(NamedTuple):
    """One value that is more frequent in one class than in the table."""

    of_class: int
    value: int  # a place in the column's values
    before: float  # B1, its share of the table
    after: float  # B2, its share of the class

    @property
    def gain(self) -> float:
        """By how much the belief grows."""
        return self.after - self.before


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

    Where the table tells whose each row is, both beliefs are also those that somebody has of a
    person rather than of a row: the shares of the people who have the value, whatever else they
    have. `counted_by` says which of the two the largest gain is.
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

    def victims(self, histogram: Histogram) -> Bools:
        """Classes in which the belief in some value grows a lot and becomes large."""
        share = histogram.share
        grows = share - histogram.overall[histogram.value] > self.gain + ROUNDING
        return np.logical_or.reduceat(
            grows & (share >= self.belief - ROUNDING), histogram.start[:-1]
        )

    def among_people(self, held: PersonValues) -> Bools:
        """Classes in which the belief that a person has some value grows and becomes large."""
        return self.victims(held.histogram(of_people=True))

    def details(
        self,
        histogram: Histogram,
        records: Longs | None = None,  # noqa: ARG002
        held: PersonValues | None = None,
    ) -> dict[str, Any]:
        """The largest gain, in absolute terms."""
        largest, counted = self.largest(histogram, None if held is None else held.people), "rows"
        if held is not None:
            among = self.largest(held.histogram(of_people=True), held.size)
            if among.gain >= largest.gain - ROUNDING:
                largest, counted = among, "people"
        value = histogram.column.values[largest.value]
        found = {
            "value": None if value is None else text(value),
            "belief_before": largest.before,
            "belief_after": largest.after,
            "gain": largest.gain,
            "ratio": largest.after / largest.before,
            "class_records": int(histogram.size[largest.of_class]),
        }
        if held is None:
            return found
        people = int(held.people[largest.of_class])
        return {"value": found.pop("value"), "counted_by": counted, **found, "class_people": people}

    def largest(self, histogram: Histogram, besides: Longs | None = None) -> Gain:
        """The value and the class with the largest gain.

        Of equal ones that with the largest class, then the value that comes first by its text, then
        the class that is also the largest counted the other way: `besides`, int64[classes].
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
        ties = ties[histogram.value[ties] == value]
        if besides is not None:
            ties = ties[[np.argmax(besides[histogram.of_class[ties]])]]
        pair = int(ties[0])
        of_class = int(histogram.of_class[pair])
        return Gain(of_class, value, float(before[pair]), float(after[pair]))
