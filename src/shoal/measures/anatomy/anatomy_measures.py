"""All that is measured of the two tables of an anatomy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from shoal.measures.anatomy.anatomy_attacks import AnatomyAttacks
from shoal.measures.queries.answers import Answers
from shoal.models import Check
from shoal.models.frequency_l_diversity import FrequencyLDiversity
from shoal.plan import Plan


@dataclass(frozen=True)
class Generalized:
    """A release with generalized quasi-identifiers that satisfies the same requirements."""

    algorithm: str
    loss: str  # the name of the loss
    lost: float  # percent
    suppressed: float  # share of the records
    answers: Answers

    def as_dict(self) -> dict[str, Any]:
        """By the names of the JSON file."""
        return {
            "algorithm": self.algorithm,
            "loss": self.loss,
            "lost_percent": self.lost,
            "suppressed": self.suppressed,
            "queries": self.answers.as_dict(),
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class AnatomyMeasures:
    """What two tables guarantee, disclose and lose."""

    plan: Plan
    column: str  # the sensitive column
    records: int
    groups: int
    checks: list[Check]
    attacks: AnatomyAttacks
    reconstruction_error: float  # mean over records, from 0 to 2; 0: nothing was lost
    answers: Answers | None = None  # counting queries; None: the original is not known
    generalized: Generalized | None = None  # None: it was not asked for
    notes: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether all requirements are satisfied."""
        return all(check.holds for check in self.checks)

    @property
    def lowest_error(self) -> float | None:
        """A lower bound on the reconstruction error; None: the models say nothing about it.

        The mean error of a group is 1 - Σ p², over the shares p of its values. If none is above
        1 / l, the sum is 1 / l at the most (Xiao and Tao 2006).
        """
        asked = [one for one in self.plan.models if isinstance(one, FrequencyLDiversity)]
        return max((1 - 1 / one.required for one in asked), default=None)

    def as_dict(self) -> dict[str, Any]:
        """All that was measured, by the names of the JSON file."""
        return {
            "records": self.records,
            "groups": self.groups,
            "checks": [check.as_dict() for check in self.checks],
            "attacks": self.attacks.as_dict(),
            "reconstruction_error": self.reconstruction_error,
            "lowest_reconstruction_error": self.lowest_error,
            "queries": None if self.answers is None else self.answers.as_dict(),
            "generalized": None if self.generalized is None else self.generalized.as_dict(),
            "notes": self.notes,
        }
