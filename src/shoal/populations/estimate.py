"""Estimate: how many people of a population are unique, or why that cannot be estimated."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.populations.class_sizes import ClassSizes


@dataclass(frozen=True)
class Estimate:
    """The estimate of one estimator."""

    estimator: str  # "pitman", "zayatz", "slide-negative-binomial"
    uniques: float | None  # people who are unique in the population; None: there is no estimate
    population: float  # people in it
    reason: str = ""  # why there is none

    @property
    def uniqueness(self) -> float | None:
        """The share of the population that is unique."""
        return None if self.uniques is None else self.uniques / self.population


def population_size(sizes: ClassSizes, fraction: float) -> float:
    """The people of a population of which this share was sampled."""
    return sizes.records / fraction


def estimated(
    estimator: str, uniques: float | None, population: float, reason: str = ""
) -> Estimate:
    """An estimate between none and all of the population."""
    if uniques is not None:
        uniques = min(max(uniques, 0.0), population)
    return Estimate(estimator, uniques, population, reason)
