"""Enhanced identity-reserved (alpha, beta)-anonymity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import field_validator

from shoal.classes import Classes
from shoal.models import TOLERANCE, PeopleModel, share_below_one


class EIRAlphaBetaAnonymity(PeopleModel):
    """No person has more than alpha of a class's records, no value beta of its people (Wang 2018).

    Def. 3.4, by Theorem 3.2: of one record of each person, as an attacker might pick them, no
    value is ever more than beta. The level is the largest share of people who have a value; where
    a person's share of the records is above alpha it is 1 + that share, which is never enough.
    """

    name: ClassVar[str] = "eir-alpha-beta-anonymity"
    higher_is_safer: ClassVar[bool] = False
    alpha: float
    beta: float

    @field_validator("alpha", "beta")
    @classmethod
    def _share(cls, share: float) -> float:
        return share_below_one("alpha and beta", share)

    @property
    def required(self) -> float:
        """The share that is promised."""
        return self.beta

    def levels(self, classes: Classes) -> npt.NDArray[np.float64]:
        """The largest share of people with one value; 1 + a person's share where too large."""
        held = self.holdings(classes)
        person = held.most_records / held.size
        value = held.most_people / held.people
        return np.where(person > self.alpha * (1 + TOLERANCE), 1 + person, value)
