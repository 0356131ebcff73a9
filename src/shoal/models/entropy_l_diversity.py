"""Entropy l-diversity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.base.arrays import Floats
from shoal.base.settings import AboveOne, Usual
from shoal.base.wording import number, short
from shoal.models import SensitiveModel
from shoal.table.equivalence_classes import Classes
from shoal.table.sensitive import Histogram


class EntropyLDiversity(SensitiveModel):
    """The entropy of every class's sensitive values is at least ln l (Def. 10, Mauger 2023).

    The level is exp(entropy), and is not rounded: l equally frequent values have the level l, and
    less even ones have less (Def. 11, Mauger 2023).
    """

    name: ClassVar[str] = "entropy-l-diversity"
    loosest: ClassVar[Mapping[str, Any]] = {"l": 2}
    l: Annotated[AboveOne, Usual(2, 1.1, 10, 0.1)] = Field(  # noqa: E741
        description="effective number of values in a class"
    )

    @property
    def required(self) -> float:
        """The smallest effective number of values."""
        return self.l

    def guarantee(self, linked: bool = False) -> str:
        """What the model guarantees, in a sentence."""
        return (
            f"{self.where(linked)} the values of {short(self.column)} are at least as mixed as "
            f"{number(self.l)} equally frequent values."
        )

    def levels_of(self, histogram: Histogram, classes: Classes) -> Floats:  # noqa: ARG002
        """The exponential of each class's entropy."""
        terms = histogram.share * np.log(histogram.share)
        levels: Floats = np.exp(-np.add.reduceat(terms, histogram.start[:-1]))
        return levels
