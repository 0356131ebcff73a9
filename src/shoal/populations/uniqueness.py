"""Population uniqueness: three estimators, and the rule of Dankar et al. (2012) between them."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.populations.class_sizes import ClassSizes
from shoal.populations.estimate import Estimate
from shoal.populations.pitman import pitman
from shoal.populations.slide_negative_binomial import slide_negative_binomial
from shoal.populations.zayatz import zayatz

SMALL = 0.1  # Dankar et al. 2012: up to this sampling fraction Pitman's model


@dataclass(frozen=True)
class PopulationUniqueness:
    """What each estimator says, and which one the rule takes."""

    sample: float  # the share of the sample that is unique in it
    fraction: float  # of the population that is in the sample
    estimates: tuple[Estimate, ...]
    chosen: str  # the estimator that the rule takes; "sample": none gave an estimate
    expected: str  # the one that it would take if all gave an estimate

    @property
    def uniqueness(self) -> float:
        """The estimated share of the population that is unique, at most that of the sample."""
        if self.chosen == "sample":
            return self.sample
        found = self.by_name(self.chosen).uniqueness
        assert found is not None
        return min(found, self.sample)

    def by_name(self, estimator: str) -> Estimate:
        """The estimate of one estimator."""
        return next(one for one in self.estimates if one.estimator == estimator)


def population_uniqueness(sizes: ClassSizes, fraction: float) -> PopulationUniqueness:
    """Estimate the share of a population that is unique, from the class sizes of a sample.

    If a sampling fraction is at most 0.1, the rule takes Pitman's model, else the smaller one of
    the other two; if an estimator gives nothing, those of the others that do.

    >>> import numpy as np
    >>> found = population_uniqueness(ClassSizes.of(np.repeat([1, 2, 3, 30], [50, 10, 5, 2])), 0.1)
    >>> found.chosen, round(found.uniqueness, 3)
    ('pitman', 0.198)
    """
    sample = sizes.uniques / sizes.records
    if fraction == 1:  # the sample is the population
        whole = Estimate("zayatz", float(sizes.uniques), sizes.records)
        return PopulationUniqueness(sample, fraction, (whole,), "zayatz", "zayatz")
    first, *others = each = tuple(
        estimator(sizes, fraction) for estimator in (pitman, zayatz, slide_negative_binomial)
    )
    smaller = min(
        (one for one in others if one.uniqueness is not None),
        key=lambda one: one.uniqueness or 0.0,
        default=None,
    )
    small = first if first.uniqueness is not None else None
    wanted = (small, smaller) if fraction <= SMALL else (smaller, small)
    taken = next((one.estimator for one in wanted if one is not None), "sample")
    rule = first.estimator if fraction <= SMALL else taken
    return PopulationUniqueness(sample, fraction, each, taken, rule)
