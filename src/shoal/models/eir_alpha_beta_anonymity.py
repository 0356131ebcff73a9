"""Enhanced identity-reserved (alpha, beta)-anonymity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.base.arrays import Floats
from shoal.models import AlphaBetaModel
from shoal.table.equivalence_classes import Classes


class EIRAlphaBetaAnonymity(AlphaBetaModel):
    """No person has more than alpha of a class's records, no value beta of its people (Wang 2018).

    Def. 3.4, by Theorem 3.2: of one record of each person, as an attacker might pick them, no
    value is ever more than beta. The level is the largest share of people who have a value; where
    a person's share of the records is above alpha it is 1 + that share, which is never enough.
    """

    name: ClassVar[str] = "eir-alpha-beta-anonymity"

    def value_shares(self, classes: Classes) -> Floats:
        """The largest share of people of each class who have one value."""
        held = self.holdings(classes)
        return np.asarray(held.most_people / held.people)
