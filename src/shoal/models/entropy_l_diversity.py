"""Entropy l-diversity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import field_validator

from shoal.base.arrays import Floats
from shoal.models import SensitiveModel
from shoal.table.equivalence_classes import Classes
from shoal.table.sensitive import Histogram


class EntropyLDiversity(SensitiveModel):
    """The entropy of every class's sensitive values is at least ln l (Def. 10, Mauger 2023).

    The level is exp(entropy), which is never cut down to a whole number: l values that are all
    equally frequent have the level l, and less even ones have less (Def. 11, Mauger 2023).
    """

    name: ClassVar[str] = "entropy-l-diversity"
    l: float  # noqa: E741 (the papers' letter)

    @field_validator("l")
    @classmethod
    def _above_one(cls, given: float) -> float:
        if not 1 < given < float("inf"):
            raise ValueError(f"needs l above 1, got l={given:g}")
        return given

    @property
    def required(self) -> float:
        """The level that is promised."""
        return self.l

    def levels_of(self, histogram: Histogram, classes: Classes) -> Floats:  # noqa: ARG002
        """The exponential of each class's entropy."""
        terms = histogram.share * np.log(histogram.share)
        levels: Floats = np.exp(-np.add.reduceat(terms, histogram.start[:-1]))
        return levels
