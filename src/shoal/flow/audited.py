"""Audited: the results of an audit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.attacks.matching import Matching
from shoal.base.errors import BadTable
from shoal.base.notebook import html_block
from shoal.base.wording import many, number, percent
from shoal.measures.analyses.analyses import Analyses
from shoal.measures.analyses.learning import Learning, learned_as_dict
from shoal.measures.breakdowns.attacker_view import AttackerView
from shoal.measures.breakdowns.dependencies import Dependencies
from shoal.measures.breakdowns.linked_members import LinkedMembers
from shoal.measures.breakdowns.view_source import ViewSource
from shoal.measures.column_disclosure import ColumnDisclosure
from shoal.measures.exposure import Exposure
from shoal.measures.findings import findings
from shoal.measures.information_loss import Quality
from shoal.measures.risks import Risks, people_outside, record_risks
from shoal.measures.samples.sample_risks import SampleRisks, sample_numbers
from shoal.measures.samples.special_uniques import SpecialUniques
from shoal.measures.utility import Utility
from shoal.measures.verdicts.verdict import Verdict
from shoal.models import Check, finite, requirement_rows
from shoal.table.encode import Table
from shoal.table.match_graph import MatchGraph
from shoal.table.published_table import Published


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """What a table guarantees and what it discloses."""

    exposure: Exposure
    levels: dict[str, float]
    checks: list[Check]
    quality: Quality | None  # None: no original
    utility: Utility | None  # None: no original, and no model with an enhanced version
    if_known: dict[str, ColumnDisclosure]  # disclosure by columns published unchanged, if known
    worrying: list[str]  # those columns that deserve a warning, the worst first
    dependency: Dependencies  # what those columns reveal of quasi-identifiers
    linked_members: LinkedMembers | None  # None: it is not known who the members are
    loss: str  # the metric of the plan
    notes: list[str]  # further remarks for the reader
    published: Published
    population: Table | None
    linkage: MatchGraph | None
    attackers: dict[str, Exposure]  # what each of several attackers learns, by their names
    limits: list[Verdict] = field(default_factory=list)  # of the plan, and what is reached
    at_most: list[Check] = field(default_factory=list)  # how general limited columns are
    analyses: Analyses | None = None  # None: no original
    learning: Learning | None = None  # None: no column to predict was named
    views: ViewSource | None = None  # of an attacker on single classes
    sample: SampleRisks | None = None  # risks in the population; None: the plan is about none
    weighted_losses: dict[str, float] | None = None  # None: there are no weights, or no original
    uniques: SpecialUniques | None = None  # records that are unique on few columns; None: not asked

    def __repr__(self) -> str:
        levels = ", ".join(f"{name} {number(level)}" for name, level in self.levels.items())
        return f"Audit of {many(self.rows, 'record')}: {levels}"

    def _repr_html_(self) -> str:
        """What a notebook shows: levels, requirements and risks."""
        facts = [
            ("people", f"{self.people:,}"),
            ("highest re-identification risk", percent(100 * self.risks.prosecutor)),
            ("average re-identification risk", percent(100 * self.risks.average)),
        ]
        if self.quality is not None:
            facts.append(
                (f"information loss ({self.loss})", percent(self.quality.losses[self.loss]))
            )
        if not self.dependency.holds:
            facts.append(("violated", f"the table reveals too much: {self.dependency.words}"))
        levels = ["model", "reached"], [[name, number(x)] for name, x in self.levels.items()]
        checks = [*self.checks, *self.at_most]
        table = requirement_rows(checks) if checks else levels
        return html_block(f"Audit of {many(self.rows, 'record')}", facts, [table])

    def record_risks(self) -> npt.NDArray[np.float64]:
        """The re-identification risk of each record, for the attacker who knows most.

        With linkage models it is the sampled probability of the most likely person.
        """
        if self.published.weight is not None:
            raise BadTable(
                "the records are not in memory, so that none of them has a risk of its own here; "
                "`risks` has the average and the highest one"
            )
        if self.linkage is not None and self.population is None:
            return Matching().of_rows(self.linkage)[self.linkage.classes.label]
        return record_risks(self.published, self.population)

    def record_table(self) -> dict[str, npt.NDArray[Any]]:
        """What is measured of each record, by name: its risk, and those in the population.

        `risk` is that of `record_risks`. With a sample or a table of the population there is
        `class_size`, the people of its class in the table. With a sample there are
        `estimated_in_population`, the estimated people of that class, `individual_risk`,
        `approximate_risk` and `household_risk`, with a table of the population
        `counted_in_population`, the people there who could be the person of the record (all of
        whose records its values cover), with special uniques
        `suda_score`, `dis_score` and `minimal_unique`, the smallest number of columns on which the
        record is unique (0: none was found).
        """
        found: dict[str, npt.NDArray[Any]] = {"risk": self.record_risks()}
        if self.sample is not None:
            found["class_size"] = self.sample.individual.class_size
            found["estimated_in_population"] = self.sample.individual.in_population
        if self.population is not None:
            classes = self.published.classes
            found.setdefault("class_size", classes.people[classes.label])
            found["counted_in_population"] = people_outside(self.published, self.population)
        if self.sample is not None:
            found["individual_risk"] = self.sample.individual.of_record
            found["approximate_risk"] = self.sample.individual.approximate
            if self.sample.individual.of_household is not None:
                found["household_risk"] = self.sample.individual.of_household
        if self.uniques is not None:
            found["suda_score"] = self.uniques.scores
            found["dis_score"] = self.uniques.dis_scores
            found["minimal_unique"] = self.uniques.smallest
        return found

    def attacker_view(
        self,
        *,
        row: int | None = None,
        class_: int | None = None,
        first: int = 0,
        attacker: str | None = None,
    ) -> AttackerView:
        """What an attacker sees of a class, who it could be, and what would tell them apart.

        The class is that of a `row` of the table, or one by its size, the smallest first; both
        count from `first`. Of several attackers of the plan it is the one with the highest risk,
        or the `attacker` of that name. With the original, knowledge of quasi-identifiers is counted
        among the people of the class, or if it is not sure who they are, among all people whom the
        published values fit. For the approver, not for publication.
        """
        assert self.views is not None
        linked = self.linkage is not None
        return self.views.of_attacker(attacker).asked(row, class_, linked, first)

    @property
    def rows(self) -> int:
        """Number of records."""
        return self.exposure.rows

    @property
    def people(self) -> int:
        """Number of people."""
        return self.exposure.people

    @property
    def classes(self) -> int:
        """Number of classes."""
        return self.exposure.classes

    @property
    def smallest_class(self) -> int:
        """Candidates of the most exposed person; without a person column, the smallest class."""
        return self.exposure.smallest_class

    @property
    def average_class_size(self) -> float:
        """Records per class."""
        return self.exposure.average_class_size

    @property
    def risks(self) -> Risks:
        """Re-identification risks."""
        return self.exposure.risks

    @property
    def attacks(self) -> dict[str, dict[str, Any]]:
        """What each attack finds."""
        return self.exposure.attacks

    @property
    def holds(self) -> bool:
        """Whether every requirement of the plan is satisfied, and no limit is exceeded."""
        within = all(one.verdict != "red" for one in self.limits)
        satisfied = all(check.holds for check in [*self.checks, *self.at_most])
        return within and satisfied and self.dependency.holds

    def as_dict(self) -> dict[str, Any]:
        """All numbers of the audit, by the names of the JSON file."""
        numbers: dict[str, Any] = {
            "rows": self.rows,
            "people": self.people,
            "classes": self.classes,
            "smallest_class": self.smallest_class,
            "average_class_size": self.average_class_size,
            "levels": {key: finite(level) for key, level in self.levels.items()},
            "checks": [check.as_dict() for check in self.checks],
            "limits": [one.as_dict() for one in self.limits],
            "at_most": [check.as_dict() for check in self.at_most],
            "holds": self.holds,
            "risks": self.exposure.all_risks(),
            "attacks": self.attacks,
            "findings": [one.as_dict() for one in findings(self.exposure, self.attackers)],
            "beliefs": {name: one.as_dict() for name, one in self.exposure.beliefs.items()},
            "attackers": {name: one.as_dict() for name, one in self.attackers.items()},
            "if_known": {name: one.as_dict() for name, one in self.if_known.items()},
            "dependency": self.dependency.as_dict(),
            "accepted": list(self.dependency.accepted),
            "linked_members": None
            if self.linked_members is None
            else self.linked_members.as_dict(),
            "notes": self.notes,
            **sample_numbers(self.sample, self.weighted_losses),
        }
        if self.uniques is not None:
            numbers["special_uniques"] = self.uniques.as_dict()
        if self.quality is not None:
            numbers["losses"] = self.quality.losses
            numbers["mean_loss"] = self.quality.mean_loss
            numbers["generalized_percent"] = self.quality.generalized_percent
            numbers["root_percent"] = self.quality.root_percent
        if self.utility is not None:
            numbers["utility"] = self.utility.as_dict()
        if self.analyses is not None:
            learned = [] if self.learning is None else [self.learning]
            numbers["utility"] |= self.analyses.as_dict() | learned_as_dict(learned)
        return numbers
