"""Identity-reserved (alpha, beta)-anonymity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.base.arrays import Floats
from shoal.models import AlphaBetaModel
from shoal.table.equivalence_classes import Classes


class IRAlphaBetaAnonymity(AlphaBetaModel):
    """No person has more than alpha of a class's records, no value more than beta (Wang 2018).

    Def. 2.3. The level is the largest share of a value, at most 1. Where a person's share is
    above alpha it is 1 + that share, which is never enough. It does not look at how many people
    have a value: everybody in a class may have the same disease among others.
    """

    name: ClassVar[str] = "ir-alpha-beta-anonymity"

    def value_shares(self, classes: Classes) -> Floats:
        """The largest share that a value has of the records of each class."""
        histogram = classes.histograms[self.column]
        return np.asarray(np.maximum.reduceat(histogram.share, histogram.start[:-1]))
