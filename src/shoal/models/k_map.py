"""k-map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.base.arrays import Floats
from shoal.base.settings import PositiveShare, Usual
from shoal.base.wording import many
from shoal.models import Check, ClassSize, Model
from shoal.populations.poisson import accepted_sizes, sample_size_needed
from shoal.table.equivalence_classes import Classes


class KMap(Model):
    """The published values of each class cover k people of the population (Sweeney 2002).

    The plan names a table of the population under [population]. An attacker who does not know
    whether a person is in the table has to tell apart all people of the population whom the
    published values cover. They may be many more than those in the table, so that k-map loses less
    than k-anonymity. Somebody with several records, or a household, is covered if all of these are,
    as they are published linked. It does not protect people of whom the attacker knows that they
    are in the table: add k-anonymity for these.

    Without such a table, `sampling_fraction` and `estimator` say how many people a class probably
    has in the population (El Emam and Dankar 2008). A class of k people has Poisson(k π) people in
    a sample with the sampling fraction π, or, by the zero-truncated estimator, so many given that
    it has any. A class of the sample is taken to have k people if a class of k would have so many
    in the sample with a probability of at most `significance`. If π is wrong, or the sample was not
    drawn at random, that may be too many.
    """

    name: ClassVar[str] = "k-map"
    is_monotone: ClassVar[bool] = True
    loosest: ClassVar[Mapping[str, Any]] = {"k": 2}
    level_option: ClassVar[str] = "k"
    k: ClassSize = Field(description="fewest people of the population that a class covers")
    sampling_fraction: Annotated[PositiveShare, Usual(0.1, 0.01, 1, 0.01)] | None = Field(
        default=None,
        description="share of the population that is in the table; then class sizes are estimated",
    )
    estimator: Literal["zero-truncated-poisson", "poisson"] = Field(
        default="zero-truncated-poisson", description="how class sizes are estimated"
    )
    significance: Annotated[float, Field(gt=0, le=0.5), Usual(0.01, 0.01, 0.1, 0.01)] = Field(
        default=0.01, description="largest probability of taking a class for larger than it is"
    )

    @property
    def required(self) -> float:
        """The fewest people."""
        return self.k

    @property
    def needs_population(self) -> bool:
        """It counts people of the population, unless it estimates how many there are."""
        return self.sampling_fraction is None

    @property
    def min_people(self) -> int:
        """The people that every class of the sample has, if it is estimated."""
        if self.sampling_fraction is None:
            return 1
        truncated = self.estimator == "zero-truncated-poisson"
        return sample_size_needed(
            self.k, self.sampling_fraction, self.significance, truncated=truncated
        )

    @property
    def only_class_size(self) -> bool:
        """An estimate requires nothing else."""
        return not self.needs_population

    def guarantee(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the model guarantees, in a sentence."""
        if self.sampling_fraction is not None:
            return (
                "The values that are published of a person are estimated to fit at least "
                f"{many(self.k, 'person', 'people')} of the population, as each class of the table "
                f"has at least {self.min_people} and the sampling fraction is "
                f"{self.sampling_fraction:g}."
            )
        return (
            "The values that are published of a person also fit at least "
            f"{many(self.k - 1, 'other person', 'other people')} of the population, who may or may "
            "not be in the table."
        )

    def in_short(self, linked: bool = False) -> str:  # noqa: ARG002
        """The same in fewer words."""
        if self.sampling_fraction is not None:
            return (
                f"Each person is estimated to look like at least {many(self.k - 1, 'other')} of "
                "the population."
            )
        return f"Each person looks like at least {many(self.k - 1, 'other')} of the population."

    def levels(self, classes: Classes) -> Floats:
        """People of the population whom each class covers; without a table, those of the class."""
        own = classes.fewest_candidates
        if self.sampling_fraction is not None:
            truncated = self.estimator == "zero-truncated-poisson"
            size, place = np.unique(own, return_inverse=True)
            people = accepted_sizes(size, self.sampling_fraction, self.significance, truncated)
            return people[place].astype(np.float64)
        if classes.coverage is None:  # the people of the table are people of the population
            return own.astype(np.float64)
        return np.maximum(own, classes.coverage.people).astype(np.float64)

    def check(self, classes: Classes) -> Check:
        """Measure the requirement; how it would be estimated matters only if it is."""
        found = super().check(classes)
        return replace(found, besides=()) if self.needs_population else found
