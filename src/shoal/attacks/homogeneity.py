"""Homogeneity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from shoal.attacks import SensitiveAttack, distinct
from shoal.attacks._words import Severity
from shoal.base.arrays import Bools
from shoal.base.wording import short
from shoal.table.person_values import PersonValues
from shoal.table.sensitive import Histogram


class Homogeneity(SensitiveAttack):
    """In which classes do all people have the same value, so that the class reveals it?

    A class with one record is such a class too. (Machanavajjhala et al. 2006.)
    """

    name: ClassVar[str] = "homogeneity"
    severity: ClassVar[Severity | None] = "certain"
    class_words: ClassVar[str] = "everybody has the same value"
    in_short: ClassVar[str] = "everybody in their class has the same value"

    def victims(self, histogram: Histogram) -> Bools:
        """Classes with a single value."""
        single: Bools = distinct(histogram) == 1
        return single

    def among_people(self, person_values: PersonValues) -> Bools:
        """Classes in which all people have one value in common, among other values."""
        return np.asarray(person_values.most_people == person_values.people)

    def about(self, linked: bool = False) -> str:
        """What the attacker knows and does."""
        if linked:
            return "If all possible records of a person have the same value, it is revealed."
        return "If all people in a class have the same value, the class reveals it."

    def success(self, linked: bool = False, people: bool = False) -> str:
        """When the attack succeeds."""
        if people and not linked:
            return "It also succeeds where all people in a class have the value among others."
        return ""

    def headline(self, found: Mapping[str, Any], column: str | None, linked: bool = False) -> str:
        """The share of people or records whose value is known for certain."""
        share = self.share(found)
        if linked:
            return (
                f"For {share} of the people all possible records have the same value of "
                f"{short(column)}: the attacker knows it for certain."
            )
        same = f"the same value of {short(column)}"
        if self.people_share_key in found:  # a person has several values
            same = f"a value of {short(column)} in common"
        return (
            f"{self.those(found)} are in classes in which everybody has {same}: an attacker who "
            "knows such a person's class knows the value for certain."
        )

    def advice(self, column: str | None) -> str:
        """The requirement with which it succeeds on nobody."""
        about = "the sensitive columns" if column is None else repr(column)
        return (
            f"distinct-l-diversity with l = 2 about {about} keeps to it, or eir-l-diversity if "
            "people have several records"
        )
