"""Background knowledge."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import field_validator

from shoal.attacks import Flags, Longs, SensitiveAttack, distinct, toll
from shoal.histogram import Histogram


class BackgroundKnowledge(SensitiveAttack):
    """How many sensitive values must somebody rule out before one remains?

    In a class with m different values it takes m - 1. The attack succeeds where `knows` are
    enough: one by default, such as that Carl has a low risk of heart disease. Where none has to
    be ruled out, homogeneity succeeds as well. (Machanavajjhala et al. 2006.)
    """

    name: ClassVar[str] = "background-knowledge"
    knows: int = 1

    @field_validator("knows")
    @classmethod
    def _not_negative(cls, knows: int) -> int:
        if knows < 0:
            raise ValueError(f"needs knows of 0 or more, got knows={knows}")
        return knows

    def victims(self, histogram: Histogram) -> Flags:
        """Classes in which as many values as the attacker can rule out leave one."""
        return distinct(histogram) - 1 <= self.knows

    def details(self, histogram: Histogram, records: Longs | None = None) -> dict[str, Any]:
        """The fewest values to rule out, and the records with none and with one."""
        needed = distinct(histogram) - 1
        return {
            "fewest_to_rule_out": int(needed.min()),
            "records_with_none_to_rule_out": toll(histogram, needed == 0, records)["records"],
            "records_with_one_to_rule_out": toll(histogram, needed == 1, records)["records"],
        }
