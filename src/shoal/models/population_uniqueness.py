"""Population uniqueness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.base.arrays import Floats, Longs
from shoal.base.settings import PositiveShare, Share, Usual
from shoal.base.wording import percent
from shoal.models import TableModel
from shoal.populations.class_sizes import ClassSizes
from shoal.populations.uniqueness import population_uniqueness


class PopulationUniqueness(TableModel):
    """The estimated share of the population that is unique in it is at most u (Dankar et al. 2012).

    The table is a random sample of the population with the sampling fraction that the plan states.
    How many people of the population nobody looks like is estimated from the class sizes of the
    table: by Pitman's model if the fraction is at most 0.1, else by that of Zayatz or the slide
    negative binomial model, whichever gives less, and never above the share of the table that is
    unique. Single people may still be unique: add k-map or k-anonymity to limit the risk of each.
    """

    name: ClassVar[str] = "population-uniqueness"
    level_option: ClassVar[str] = "u"
    falls_by_merging: ClassVar[bool] = False
    loosest: ClassVar[Mapping[str, Any]] = {"u": 1.0, "sampling_fraction": 1.0}
    u: Annotated[Share, Usual(0.05, 0, 1, 0.01)] = Field(
        description="largest share of the population that is unique"
    )
    sampling_fraction: Annotated[PositiveShare, Usual(0.1, 0.01, 1, 0.01)] = Field(
        description="share of the population that is in the table"
    )

    @property
    def required(self) -> float:
        """The largest share."""
        return self.u

    @property
    def sufficient_people(self) -> int:
        """Without uniques in the table, none are expected in the population."""
        return 2 if self.u < 1 else 1

    def risk(self, people: Longs) -> Floats:
        """1 for a person who is unique in the table: the mean is never below the level."""
        return np.asarray(people == 1, np.float64)

    def level_of(self, people: Longs, classes: Longs | None = None) -> float:
        """The estimate for classes of so many people."""
        if classes is None:
            people, classes = np.unique(people, return_counts=True)
        if not len(people) or people[0] > 1:
            return 0.0
        sizes = ClassSizes(people, classes.astype(np.int64))
        return float(population_uniqueness(sizes, self.sampling_fraction).uniqueness)

    @property
    def level_words(self) -> str:
        """What the level is."""
        return "of the population are unique, by estimate"

    def meaning(self, level: float) -> str:
        """What a level means."""
        return f"An estimated {percent(100 * level)} of the population are unique."

    def guarantee(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the model guarantees, in a sentence."""
        return (
            f"An estimated {percent(100 * self.u)} of the population or less are unique, if the "
            f"table is a random sample of {percent(100 * self.sampling_fraction)} of it. These "
            "people may be in the table."
        )
