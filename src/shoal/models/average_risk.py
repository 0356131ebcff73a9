"""Average risk."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Annotated, Any, ClassVar

from pydantic import Field

from shoal.base.arrays import Floats, Longs
from shoal.base.settings import PositiveShare, Usual
from shoal.base.wording import percent
from shoal.models import MANY, TOLERANCE, TableModel


class AverageRisk(TableModel):
    """The average re-identification risk of the published people is at most r.

    The risk of a person is 1 / the number of people in the person's class (prosecutor risk, El Emam
    and Dankar 2008). Without a person column the average over records is the number of classes
    divided by the number of records, as in ARX. With one it is taken over people, and the people
    who are in all classes of a person count, as in k-anonymity. Suppressed records do not count.
    Some people may still be unique: add k-anonymity to limit the risk of each.
    """

    name: ClassVar[str] = "average-risk"
    loosest: ClassVar[Mapping[str, Any]] = {"r": 1.0}
    r: Annotated[PositiveShare, Usual(0.05, 0.01, 0.5, 0.01)] = Field(
        description="largest average of 1 / class size over people"
    )

    @property
    def required(self) -> float:
        """The largest average risk."""
        return self.r

    @property
    def sufficient_people(self) -> int:
        """In classes of 1 / r people or more no risk is above r."""
        return ceil(min(1 / self.r, MANY) - TOLERANCE)

    def risk(self, people: Longs) -> Floats:
        """1 / class size."""
        return 1.0 / people

    @property
    def level_words(self) -> str:
        """What the level is."""
        return "average re-identification risk"

    def meaning(self, level: float) -> str:
        """What a level means."""
        return f"The re-identification risk is {percent(100 * level)} on average over all people."

    def guarantee(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the model guarantees, in a sentence."""
        return (
            "An attacker who links each person to one of the people who look the same is right in "
            f"at most {percent(100 * self.r)} of all cases on average. Single people may have a "
            "higher risk."
        )
