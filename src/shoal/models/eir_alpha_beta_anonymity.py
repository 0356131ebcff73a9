"""Enhanced identity-reserved (alpha, beta)-anonymity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.base.arrays import Floats
from shoal.base.wording import percent, short
from shoal.models._people import AlphaBetaModel
from shoal.table.equivalence_classes import Classes


class EIRAlphaBetaAnonymity(AlphaBetaModel):
    """No person has more than alpha of a class's records, no value beta of its people (Wang 2018).

    Def. 3.4, by Theorem 3.2: if an attacker picks one record per person, no value ever has a share
    above beta. The level is the largest share of people who have a value. If a person's share of
    the records is above alpha, the level is 1 + that share, which never satisfies the model.
    """

    name: ClassVar[str] = "eir-alpha-beta-anonymity"

    @property
    def value_limit(self) -> str:
        """What the model says about the values of a class."""
        limit = percent(100 * self.beta)
        return f"no more than {limit} of the people have the same value of {short(self.column)}"

    def value_shares(self, classes: Classes) -> Floats:
        """The largest share of people of each class who have one value."""
        person_values = self.person_values(classes)
        return np.asarray(person_values.most_people / person_values.people)
