"""Share at risk."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.base.arrays import Floats, Longs
from shoal.base.errors import WayOut
from shoal.base.settings import PositiveShare, Share, Usual
from shoal.base.wording import number, percent
from shoal.models import MANY, TOLERANCE, TableModel


class ShareAtRisk(TableModel):
    """At most a share of the published people has a re-identification risk above a threshold.

    The risk of a person is 1 / the number of people in the person's class, counted as in
    average-risk (El Emam and Dankar 2008: the share of records at risk). Without a person column
    every record is a person. Suppressed records do not count. With `share` 0 this is k-anonymity
    with k = 1 / threshold, rounded up.
    """

    name: ClassVar[str] = "share-at-risk"
    level_option: ClassVar[str] = "share"
    loosest: ClassVar[Mapping[str, Any]] = {"share": 1.0, "threshold": 1.0}
    share: Annotated[Share, Usual(0.05, 0, 1, 0.01)] = Field(
        description="largest share of people whose risk is above the threshold"
    )
    threshold: Annotated[PositiveShare, Usual(0.2, 0.01, 1, 0.01)] = Field(
        description="risk, as 1 / class size, that is acceptable"
    )

    @property
    def required(self) -> float:
        """The largest share of people at risk."""
        return self.share

    @property
    def sufficient_people(self) -> int:
        """The smallest class whose people are not at risk."""
        few = max(1, floor(min(1 / self.threshold, MANY)))
        return few if self.risk(np.array([few]))[0] == 0 else few + 1

    def risk(self, people: Longs) -> Floats:
        """1 if 1 / class size is above the threshold, otherwise 0."""
        return (1.0 / people > self.threshold * (1 + TOLERANCE)).astype(np.float64)

    @property
    def level_words(self) -> str:
        """What the level is."""
        return f"of the people have a risk above {percent(100 * self.threshold)}"

    def meaning(self, level: float) -> str:
        """What a level means."""
        return (
            f"{percent(100 * level)} of the people have a re-identification risk above "
            f"{percent(100 * self.threshold)}."
        )

    def guarantee(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the model guarantees, in a sentence."""
        return (
            f"At most {percent(100 * self.share)} of the people have a re-identification risk "
            f"above {percent(100 * self.threshold)}, as their class has fewer than "
            f"{number(self.sufficient_people)} people. These people may even be unique."
        )

    def ways_out(self, best: float) -> tuple[WayOut, ...]:  # noqa: ARG002
        """Only another threshold helps: the share is 0 or 1 for the table as one class."""
        return (WayOut("remove", self.key),)

    def _advice(self, best: float) -> str:  # noqa: ARG002
        """What to ask for instead: a threshold that the whole table as one class stays below."""
        return "ask for a higher threshold: it is below 1 / the number of people in the table"
