"""Identity-reserved (alpha, beta)-anonymity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.base.arrays import Floats
from shoal.base.wording import percent, short
from shoal.models._people import AlphaBetaModel
from shoal.table.equivalence_classes import Classes


class IRAlphaBetaAnonymity(AlphaBetaModel):
    """No person has more than alpha of a class's records, no value more than beta (Wang 2018).

    Def. 2.3. The level is the largest share of a value, at most 1. If a person's share is above
    alpha, the level is 1 + that share, which never satisfies the model. It does not count how many
    people have a value: everyone in a class may have the same disease among others.
    """

    name: ClassVar[str] = "ir-alpha-beta-anonymity"
    enhanced_by: ClassVar[str | None] = "eir-alpha-beta-anonymity"

    @property
    def value_limit(self) -> str:
        """What the model says about the values of a class."""
        return (
            f"no value of {short(self.column)} is in more than {percent(100 * self.beta)} of them"
        )

    def value_shares(self, classes: Classes) -> Floats:
        """The largest share that a value has of the records of each class."""
        histogram = classes.histograms[self.column]
        return np.asarray(np.maximum.reduceat(histogram.share, histogram.start[:-1]))
