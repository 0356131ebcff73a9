"""δ-presence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from shoal.base.arrays import Floats
from shoal.base.settings import PositiveShare, Share, Usual
from shoal.base.wording import percent
from shoal.models import TOLERANCE, Model
from shoal.table.equivalence_classes import Classes


class DeltaPresence(Model):
    """Anybody of the population is in the table with a probability from low to high (Nergiz 2007).

    The plan names a table of the population under [population]. If a class has f people in the
    table and covers F people of the population, an attacker believes that each of these is in the
    table with the probability f / F. Somebody whom no class covers is not in the table. If somebody
    is covered by several classes, f / F is not that probability, and certainty is assumed.
    """

    name: ClassVar[str] = "delta-presence"
    higher_is_safer: ClassVar[bool] = False
    level_option: ClassVar[str] = "high"
    loosest: ClassVar[Mapping[str, Any]] = {"high": 1.0}
    high: Annotated[PositiveShare, Usual(0.5, 0.01, 1, 0.01)] = Field(
        description="largest probability that a person is in the table"
    )
    low: Annotated[Share, Usual(0, 0, 1, 0.01)] = Field(
        default=0.0, description="smallest probability that a person is in the table"
    )

    @model_validator(mode="after")
    def _ordered(self) -> DeltaPresence:
        if self.low > self.high:
            raise ValueError(f"needs low of at most high, got low={self.low:g}, high={self.high:g}")
        return self

    @property
    def required(self) -> float:
        """The largest probability."""
        return self.high

    @property
    def needs_population(self) -> bool:
        """It counts people of the population."""
        return True

    @property
    def needs_everybody(self) -> bool:
        """Somebody who is missing there makes a presence smaller than it looks."""
        return self.low > 0

    def guarantee(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the model guarantees, in a sentence."""
        least = "" if self.low == 0 else f" and at least {percent(100 * self.low)}"
        return (
            "An attacker who knows the quasi-identifiers of everybody in the population believes "
            "of each person that the person is in the table with a probability of at most "
            f"{percent(100 * self.high)}{least}."
        )

    def out_of_reach(self, best: float) -> str:
        """The error message if even the whole table as one class does not satisfy the model."""
        if np.isfinite(best):
            nearest = self.nearest(best)
            what = f"{self._gets(best)}; ask for {nearest:g}, or publish a smaller sample"
        else:
            what = f"has a presence below {self.low:g}; ask for less, or publish a larger sample"
        return (
            f"{self.key} from {self.low:g} to {self.high:g} cannot be reached: even the whole "
            f"table as one class {what}"
        )

    def levels(self, classes: Classes) -> Floats:
        """The presence in each class; infinite where it is, or could be, below `low`."""
        people, coverage = classes.people, classes.coverage
        if coverage is None:  # all that is known of it
            presence = np.ones(len(classes))
            return presence if self.low == 0 else np.full(len(classes), np.inf)
        presence = people / np.maximum(people, coverage.people)
        if self.low > 0:
            presence[(presence < self.low * (1 - TOLERANCE)) | coverage.shared] = np.inf
            if coverage.nobody or coverage.incomplete:
                presence[:] = np.inf
        presence[coverage.shared] = np.maximum(presence[coverage.shared], 1.0)
        return presence
