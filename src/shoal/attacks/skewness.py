"""Skewness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from pydantic import Field

from shoal.attacks import SensitiveAttack
from shoal.attacks._words import Label
from shoal.base.arrays import Bools, Longs
from shoal.base.settings import Share
from shoal.base.wording import number, percent, short
from shoal.hierarchies.values import text
from shoal.table.person_values import PersonValues
from shoal.table.sensitive import Histogram

ROUNDING = 1e-9


class Gain(NamedTuple):
    """A value that is more frequent in one class than in the table."""

    of_class: int
    value: int  # a place in the column's values
    before: float  # B1, its share of the table
    after: float  # B2, its share of the class

    @property
    def gain(self) -> float:
        """How much the belief grows."""
        return self.after - self.before


class Skewness(SensitiveAttack):
    """How much does knowing a person's class raise the belief that the person has a value?

    The distribution of the whole table is public (belief B1); the class gives belief B2
    (Li, Li and Venkatasubramanian 2007). The attack succeeds in a class in which the belief in
    some value

    - grows by more than `gain`, by default 0.2: otherwise the whole table reveals it already.
      In a class without the virus, the belief in *negative* only grows from 0.99 to 1; and
    - reaches `belief`, by default one half: the value has become at least as likely as all
      others together, so it is the best guess. A gain alone is no success: in a class with three
      different values each has a share of one third, far from its share of a table with many
      values, and the attacker still has to guess among three.

    The largest gain is reported regardless of the two limits. With `belief=0` every large gain is
    a success.

    With a person column, the beliefs are also counted by people: the share of people who have the
    value, among other values. `counted_by` says how the largest gain was counted.
    """

    name: ClassVar[str] = "skewness"
    class_words: ClassVar[str] = "one value is much more likely than in the whole table"
    in_short: ClassVar[str] = "a value is much more likely in their class than in the whole table"
    labels: ClassVar[Mapping[str, Label]] = {
        **SensitiveAttack.labels,
        "value": Label("the value whose share grows most"),
        "counted_by": Label("… counted by"),
        "belief_before": Label("… its share of the whole table", unit="share"),
        "belief_after": Label(
            "… its share of that class", "… its share of that person's possible records", "share"
        ),
        "gain": Label("… the difference, in percentage points", unit="points"),
        "ratio": Label("… times as likely as before"),
        "class_records": Label("… records in that class", "… possible records of that person"),
        "class_people": Label("… people in that class"),
    }
    gain: Share = Field(default=0.2, description="the share of a value must grow by more than this")
    belief: Share = Field(
        default=0.5, description="the share that the value must reach in the class"
    )

    def victims(self, histogram: Histogram) -> Bools:
        """Classes in which the belief in a value grows by much and becomes large."""
        share = histogram.share
        grows = share - histogram.overall[histogram.value] > self.gain + ROUNDING
        return np.logical_or.reduceat(
            grows & (share >= self.belief - ROUNDING), histogram.start[:-1]
        )

    def among_people(self, person_values: PersonValues) -> Bools:
        """Classes in which the belief that a person has a value grows and becomes large."""
        return self.victims(person_values.histogram(of_people=True))

    def details(
        self,
        histogram: Histogram,
        records: Longs | None = None,  # noqa: ARG002
        person_values: PersonValues | None = None,
    ) -> dict[str, Any]:
        """The largest gain, as a difference of shares."""
        by_people = None if person_values is None else person_values.people
        largest, counted = self.largest(histogram, by_people), "rows"
        if person_values is not None:
            among = self.largest(person_values.histogram(of_people=True), person_values.size)
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
        if person_values is None:
            return found
        people = int(person_values.people[largest.of_class])
        return {"value": found.pop("value"), "counted_by": counted, **found, "class_people": people}

    def about(self, linked: bool = False) -> str:
        """What the attacker knows and does."""
        knowing = "the possible records of a person" if linked else "a person's class"
        return f"How much does knowing {knowing} raise the belief that the person has a value?"

    def success(self, linked: bool = False, people: bool = False) -> str:
        """When the attack succeeds."""
        by = ", counted by records or by people" if people and not linked else ""
        return (
            f"It succeeds where the share of a value is more than {number(100 * self.gain)} "
            "percentage points higher than in the whole table and at least "
            f"{percent(100 * self.belief)}{by}."
        )

    def headline(self, found: Mapping[str, Any], column: str | None, linked: bool = False) -> str:
        """The share of people or records, and the value whose share grows most."""
        share, name, most = self.share(found), short(column), self._largest_in_words(found)
        grown = f"much more likely than in the whole table, and at least {self._likely()}"
        if linked:
            return (
                f"For {share} of the people a value of {name} is {grown}, among their possible "
                f"records{most}."
            )
        return f"{self.those(found)} are in classes in which a value of {name} is {grown}{most}."

    def _likely(self) -> str:
        return "as likely as not" if self.belief == 0.5 else f"{percent(100 * self.belief)} likely"

    @staticmethod
    def _largest_in_words(found: Mapping[str, Any]) -> str:
        before, after = found.get("belief_before"), found.get("belief_after")
        if before is None or after is None:
            return ""
        value = found.get("value")
        name = "a missing value" if value is None else f"“{short(value)}”"
        return (
            f"; the largest increase is for {name}, from {percent(100 * before)} to "
            f"{percent(100 * after)}"
        )

    def detail(self, found: Mapping[str, Any]) -> str:
        """The largest gain."""
        before, after = found.get("belief_before"), found.get("belief_after")
        if before is None or after is None:
            return ""
        value = "missing" if found.get("value") is None else short(found["value"])
        of = " of the people" if found.get("counted_by") == "people" else ""
        return f"{value}: {percent(100 * before)} → {percent(100 * after)}{of}"

    def largest(self, histogram: Histogram, besides: Longs | None = None) -> Gain:
        """The value and the class with the largest gain.

        Ties go to the largest class, then to the value that is first as text, then to the class
        that is the largest when counted the other way: `besides`, int64[classes].
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
