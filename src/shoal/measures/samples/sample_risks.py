"""Sample risks: what a sample discloses about people of its population."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isclose
from typing import Any

import numpy as np

from shoal.base.arrays import Ints
from shoal.base.errors import BadPlan, BadTable
from shoal.base.wording import number, percent, precise_percent
from shoal.hierarchies.values import text
from shoal.io.frames import Frame
from shoal.measures.samples.individual import (
    IndividualRisk,
    counts_in_classes,
    counts_with_any,
    individual_risks,
)
from shoal.plan import Plan
from shoal.plan.population import Population
from shoal.plan.sampling_fractions import fraction_of
from shoal.populations.class_sizes import ClassSizes
from shoal.populations.uniqueness import PopulationUniqueness, population_uniqueness
from shoal.table.published_table import Published
from shoal.table.roles import columns_with_role
from shoal.table.samples.survey import Survey, survey_of

FEWER = 0.9  # weights that add up to less than this share of the people cannot be right
NORMALIZED = 1.01  # the mean of weights that are scaled to 1 is at most this
OTHER = 1.25  # sampling fractions or populations that differ by more than this factor are noted
SAME = 0.005  # a sum of weights that differs by less from a stated population is not noted


@dataclass(frozen=True, eq=False)
class SampleRisks:
    """Risks in the population, estimated from a sample."""

    population: float  # people in it, given or estimated
    fraction: float  # of it that is in the table
    basis: str  # where that is known from: "weights", "size" or "fraction"
    people: int  # in the table
    individual: IndividualRisk
    uniqueness: PopulationUniqueness
    notes: tuple[str, ...] = ()
    # By requirement: that it assumes another sampling fraction.
    contradicted: Mapping[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The numbers of the JSON file."""
        found = self.uniqueness
        return {
            "population": self.population,
            "fraction": self.fraction,
            "basis": self.basis,
            "individual_risk": self.individual.as_dict(),
            "population_uniqueness": {
                "uniqueness": found.uniqueness,
                "estimator": found.chosen,
                "sample_uniqueness": found.sample,
                "estimates": {one.estimator: one.uniqueness for one in found.estimates},
                "not_estimated": {
                    one.estimator: one.reason for one in found.estimates if one.reason
                },
            },
        }


def check_sample(frame: Frame, plan: Plan) -> None:
    """Raise an error, before the work, if the population has fewer people than the whole table.

    Weights of a part of it, such as a release, may be smaller on average than those of the whole.
    """
    if frame.weight is not None:  # rows that stand for several records have no weights of their own
        return
    survey = survey_of(frame, plan.columns, plan.missing_values)
    many, added = _people_and_weights(survey)
    if plan.population:
        _population(plan.population, None, many)
        return
    if added is None or added >= FEWER * many:
        return
    [name] = [n for n in columns_with_role(plan.columns, "weight") if n in frame.names][:1]
    raise BadTable(
        f"column {name!r}: the weights are {number(added / many)} on average and add up to "
        f"{number(round(added))}, fewer than the {many:,} people of the table; a weight is the "
        "number of people in the population that a record stands for. If the weights were scaled, "
        "state size under [population], by which they are then multiplied; otherwise correct them, "
        "or give the column the role drop"
    )


def sample_risks(
    survey: Survey, plan: Plan, published: Published, whole: Survey | None = None
) -> SampleRisks | None:
    """Estimate risks in the population; None: the plan states neither weights nor a population.

    `whole` is the table of which some records may have been suppressed; None: it is not known. The
    population does not lose the people for whom those stand.
    """
    weights, people, homes, _ = survey
    if weights is None and not plan.population:
        return None
    label = published.class_of_row
    many = len(label) if people is None else int(people.max()) + 1
    if whole is None or (whole.weights is None) != (weights is None):
        whole = survey
    drawn, added = _people_and_weights(whole)
    total, basis = _population(plan.population, added, drawn)
    if weights is None or added is None:
        weights = np.full(len(label), total / drawn)
    elif basis != "weights":  # they say only how many more people one stands for than another
        weights = weights * (total / added)
    if plan.population.missing == "any":  # which a plan with a person column cannot have
        codes, unit = _open_codes(published, plan), published.unit
        counts = counts_with_any(codes if unit is None else codes[unit], weights)
    else:
        counts = counts_in_classes(label, weights, people)
    fraction = min(many / total, 1.0)
    sizes = _class_sizes(label, people)
    found = population_uniqueness(ClassSizes.of(sizes), fraction)
    contradicted = _model_notes(plan, basis, min(drawn / total, 1.0))
    return SampleRisks(
        population=total,
        fraction=fraction,
        basis=basis,
        people=many,
        individual=individual_risks(counts, people, homes),
        uniqueness=found,
        notes=(
            *_weight_notes(basis, added, total, drawn),
            *contradicted.values(),
            *_notes(found),
        ),
        contradicted=contradicted,
    )


def _open_codes(published: Published, plan: Plan) -> Ints:
    """The published values with -1 for each that may be any, int32[n, q].

    Those are empty cells and the words that mean missing: readers of a table see these as values
    of their own, but the plan says what they mean.
    """
    codes = published.codes.copy()
    for j, name in enumerate(published.names):
        words = set(plan.missing_of(name))
        missing = np.array([text(value) in words for value in published.values[j]] + [True])
        codes[missing[codes[:, j]], j] = -1
    return codes


def _people_and_weights(survey: Survey) -> tuple[int, float | None]:
    """The people, and the sum of their weights; a person with several records has their mean."""
    weights, people, _, rows = survey
    if people is None:
        return rows, None if weights is None else float(weights.sum())
    many = int(people.max()) + 1
    if weights is None:
        return many, None
    return many, float((np.bincount(people, weights) / np.bincount(people)).sum())


def _population(stated: Population, added: float | None, many: int) -> tuple[float, str]:
    """The people of the population, and where that is known from; `added` are the weights."""
    if stated.size is not None:
        if stated.size < many:
            raise BadPlan(
                f"[population] has size = {stated.size:,}, and the table has {many:,} people "
                "already; give the size of the whole population, including the table"
            )
        return float(stated.size), "size"
    if stated.fraction is not None:
        return many / stated.fraction, "fraction"
    assert added is not None
    return max(added, many), "weights"  # who is in the table is in the population


def _class_sizes(label: Any, people: Any) -> Any:
    """The people of each class."""
    if people is None:
        return np.bincount(label)
    size = int(people.max()) + 1
    return np.bincount(np.unique(label * size + people) // size)


def _weight_notes(basis: str, added: float | None, total: float, many: int) -> list[str]:
    """What the reader has to know about the sum of the weights."""
    if added is None:
        return []
    if basis != "weights":
        if isclose(added, total, rel_tol=SAME):
            return []
        return [
            f"the weights add up to {number(round(added))} people, and were multiplied by "
            f"{number(total / added)} to estimate risks among the {number(round(total))} people "
            "of [population]"
        ]
    if total / many > NORMALIZED:
        return []
    return [
        f"the weights are {number(added / many)} on average, so that the table counts as its whole "
        "population; if they were scaled to a mean of 1, multiply them by the population's "
        "size divided by the number of records, or state [population] size"
    ]


def _model_notes(plan: Plan, basis: str, fraction: float) -> dict[str, str]:
    """Models that assume another sampling fraction; one that the plan states is checked there."""
    if basis == "fraction":
        return {}
    known = "by the sum of the weights" if basis == "weights" else "by size under [population]"
    return {
        model.key: f"{model.key} assumes a sampling fraction of {_precise(share)}, "
        f"and {known} it is {_precise(fraction)}: one of them is wrong"
        for model in plan.models
        if (share := fraction_of(model)) is not None
        and max(share / fraction, fraction / share) > OTHER
    }


def _notes(found: PopulationUniqueness) -> list[str]:
    """What the reader has to know about the estimated uniqueness."""
    notes = []
    # A sample without uniques leaves nothing to choose: none is the estimate.
    failed = [one for one in found.estimates if one.reason and found.sample > 0]
    for one in failed:
        taken = "" if one.estimator != found.expected else f"; {_instead(found)}"
        notes.append(
            f"population uniqueness by {one.estimator} could not be estimated: {one.reason}{taken}"
        )
    return notes


def _instead(found: PopulationUniqueness) -> str:
    if found.chosen == "sample":
        share = _percent(100 * found.sample)
        return f"the share of the sample that is unique ({share}) stands in for it"
    return f"{found.chosen} stands in for it"


def _precise(share: float) -> str:
    return precise_percent(100 * share).replace("\xa0", " ")


def _percent(value: float) -> str:
    return percent(value).replace("\xa0", " ")


def sample_numbers(sample: SampleRisks | None, weighted: dict[str, float] | None) -> dict[str, Any]:
    """What the JSON of a release or an audit says of a sample."""
    return {
        "sample": None if sample is None else sample.as_dict(),
        "weighted_losses": weighted,
    }
