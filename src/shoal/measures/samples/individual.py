"""Individual risk: how likely each record of a sample is re-identified in its population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from shoal.base.arrays import Floats, Ints, Longs
from shoal.kernels.fitting import count_fitting
from shoal.kernels.group import group_rows
from shoal.populations.individual_risk import approximate_risk, individual_risk


class ClassCounts(NamedTuple):
    """The people of each class: in the sample, and estimated in the population."""

    label: Longs  # int64[n], the class of each record
    sample: Longs  # int64[classes], f
    population: Floats  # float64[classes], F̂


@dataclass(frozen=True, eq=False)
class IndividualRisk:
    """The risks of all records and households of a sample."""

    of_record: Floats  # float64[n], by the exact formula
    approximate: Floats  # float64[n], by the common approximation
    of_household: Floats | None  # float64[n], of the household of each record; None: there is none
    # float64[people] and float64[households], each once.
    people: Floats
    households: Floats | None
    counts: ClassCounts

    @property
    def class_size(self) -> Longs:
        """The people of each record's class in the sample, int64[n]: f."""
        return self.counts.sample[self.counts.label]

    @property
    def in_population(self) -> Floats:
        """The estimated people of each record's class in the population, float64[n]: F̂.

        A class has at least as many people there as in the sample.
        """
        sample, people = self.counts.sample, self.counts.population
        found: Floats = np.maximum(people, sample)[self.counts.label]
        return found

    def as_dict(self) -> dict[str, Any]:
        """The numbers of the JSON file."""
        found: dict[str, Any] = {
            "highest": float(self.people.max()),
            "mean": float(self.people.mean()),  # the global risk
            "expected_reidentifications": float(self.people.sum()),
            "highest_approximate": float(self.approximate.max()),
            "household": None,
        }
        if self.households is not None:
            found["household"] = {
                "households": len(self.households),
                "highest": float(self.households.max()),
                "mean": float(self.households.mean()),
                "expected_reidentifications": float(self.households.sum()),
            }
        return found


def counts_in_classes(label: Longs, weights: Floats, people: Longs | None) -> ClassCounts:
    """f and F̂ of each class; a person with several records in it counts once.

    The weight of a person is the mean over the records.
    """
    classes = int(label.max()) + 1
    if people is None:
        total: Floats = np.bincount(label, weights, classes).astype(np.float64)
        return ClassCounts(label, np.bincount(label), total)
    mean = np.bincount(people, weights) / np.bincount(people)
    size = int(people.max()) + 1
    at, who = np.divmod(np.unique(label * size + people), size)
    total = np.bincount(at, mean[who], classes).astype(np.float64)
    return ClassCounts(label, np.bincount(at), total)


def counts_with_any(codes: Ints, weights: Floats) -> ClassCounts:
    """The same if a missing value (-1) could be any value, for both of two records.

    >>> codes = np.array([[1, 2], [1, -1], [0, 2]], np.int32)
    >>> counts_with_any(codes, np.array([10.0, 20.0, 5.0])).sample.tolist()
    [2, 2, 1]
    """
    label, first, size = group_rows(codes)
    total = np.bincount(label, weights, len(first)).astype(np.float64)
    return ClassCounts(label, *count_fitting(codes[first], size, total))


def individual_risks(
    counts: ClassCounts, people: Longs | None, households: Longs | None
) -> IndividualRisk:
    """The risk of each record, person and household.

    A person with several records has the highest of their risks, and a household of members with
    the risks r has 1 − Π (1 − r), the probability that at least one of them is found.
    """
    each = individual_risk(counts.sample, counts.population)[counts.label]
    near = approximate_risk(counts.sample, counts.population)[counts.label]
    risk = each
    if people is not None:
        each, near = _highest(each, people), _highest(near, people)[people]
        risk = each[people]
    if households is None:
        return IndividualRisk(risk, near, None, each, None, counts)
    home = households
    if people is not None:  # each member once
        home = np.zeros(len(each), np.int64)
        home[people] = households
    with np.errstate(divide="ignore"):
        safe = np.bincount(home, np.log1p(-np.minimum(each, 1.0)))  # −inf: a member is found
    together = -np.expm1(safe)
    return IndividualRisk(risk, near, together[households], each, together, counts)


def _highest(risk: Floats, people: Longs) -> Floats:
    """The highest risk of the records of each person, float64[people]."""
    found = np.zeros(int(people.max()) + 1)
    np.maximum.at(found, people, risk)
    return found
