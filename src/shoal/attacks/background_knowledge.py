"""Background knowledge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.attacks import SensitiveAttack, distinct, toll
from shoal.attacks._words import Label, Severity
from shoal.base.arrays import Bools, Longs
from shoal.base.settings import NotNegative
from shoal.base.wording import many, short
from shoal.table.person_values import SEARCH_BUDGET, PersonValues
from shoal.table.sensitive import Histogram


class BackgroundKnowledge(SensitiveAttack):
    """How many sensitive values must an attacker rule out before one remains?

    In a class with m different values it takes m - 1. The attack succeeds where `knows` are
    enough: one by default, such as that Carl has a low risk of heart disease. Where none has to
    be ruled out, homogeneity succeeds as well. (Machanavajjhala et al. 2006.)

    People with several values are ruled out by any of their values, and the people who remain may
    have other values as well. Let H be the smallest set of values such that everybody in the class
    has one of them (Theorem 3.1, Wang 2018). A person who has none of H except one value must have
    that one, and no smaller set does this. So it takes |H| - 1, which is never more than m - 1.
    """

    name: ClassVar[str] = "background-knowledge"
    severity: ClassVar[Severity | None] = "if_more_is_known"
    in_short: ClassVar[str] = "an attacker who can rule out one value knows theirs"
    # With two values, ruling out one reveals the other in any table.
    min_values: ClassVar[int] = 3
    labels: ClassVar[Mapping[str, Label]] = {
        **SensitiveAttack.labels,
        "fewest_to_rule_out": Label(
            "fewest values to rule out, in any class", "fewest values to rule out, for any person"
        ),
        "records_with_none_to_rule_out": Label(
            "records with no value to rule out", "people with no value to rule out"
        ),
        "records_with_one_to_rule_out": Label(
            "records with one value to rule out", "people with one value to rule out"
        ),
    }
    knows: NotNegative = Field(
        default=1, description="how many sensitive values the attacker can rule out"
    )

    def victims(self, histogram: Histogram) -> Bools:
        """Classes in which one value remains after the attacker has ruled out others."""
        return distinct(histogram) - 1 <= self.knows

    def among_people(self, person_values: PersonValues) -> Bools:
        """Classes in which the people who remain have one value in common."""
        return needed_by_people(person_values, self.knows) <= self.knows

    def details(
        self,
        histogram: Histogram,
        records: Longs | None = None,
        person_values: PersonValues | None = None,
    ) -> dict[str, Any]:
        """The fewest values to rule out, and the records with none and with one.

        Counted by people, the fewest is a lower bound if a second is too short to prove it.
        """
        needed = distinct(histogram) - 1
        fewest = int(needed.min())
        if person_values is not None:
            needed = needed_by_people(person_values, 1)
            fewest = fewest_by_people(person_values, fewest)
        return {
            "fewest_to_rule_out": fewest,
            "records_with_none_to_rule_out": toll(histogram, needed == 0, records)["records"],
            "records_with_one_to_rule_out": toll(histogram, needed == 1, records)["records"],
        }

    def about(self, linked: bool = False) -> str:
        """What the attacker knows and does."""
        among = " among the possible records of a person" if linked else ""
        return f"How many sensitive values must an attacker rule out before one remains{among}?"

    def success(self, linked: bool = False, people: bool = False) -> str:
        """When the attack succeeds."""
        said = f"It succeeds where ruling out {many(self.knows, 'value')} is enough"
        if people and not linked:
            return f"{said}: one value remains, or all remaining people have a value in common."
        return f"{said}."

    def headline(self, found: Mapping[str, Any], column: str | None, linked: bool = False) -> str:
        """The share of people or records whose value is known after ruling out others."""
        attacker = (
            f"an attacker who can rule out {many(self.knows, 'value')} of {short(column)} knows "
            "the value"
        )
        share = self.share(found)
        if linked:
            return f"For {share} of the people {attacker}."
        return f"{self.those(found)} are in classes in which {attacker}."

    def detail(self, found: Mapping[str, Any]) -> str:
        """The fewest values to rule out."""
        fewest = found.get("fewest_to_rule_out")
        return "" if fewest is None else f"at least {fewest:,} to rule out"


def needed_by_people(person_values: PersonValues, most: int) -> Longs:
    """How many values must be ruled out in each class, or `most` + 1 where it is more."""
    return person_values.hitting_sizes(np.full(len(person_values), most + 1)) - 1


def fewest_by_people(person_values: PersonValues, by_rows: int) -> int:
    """The fewest values to rule out in any class; `by_rows` of them are enough."""
    budget = np.array([SEARCH_BUDGET])
    every = np.argsort(person_values.people, kind="stable")  # small classes are quick
    for fewest in range(by_rows):
        sizes = person_values.hitting_sizes(np.full(len(person_values), fewest + 1), budget, every)
        if (sizes <= fewest + 1).any():  # one has a set of this size, or it is unknown
            return fewest
    return by_rows
