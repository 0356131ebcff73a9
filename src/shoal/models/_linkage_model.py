"""What models about the graph of original and release have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.base.arrays import Floats
from shoal.models._model import ClassSize, Model
from shoal.table.equivalence_classes import Classes


class LinkageModel(Model):
    """A requirement about the graph of original and release (Def. 4 and 6, Tassa 2012).

    It counts the `people` in the view of the graph that it names. There are no classes, so
    `min_people` stays 1.
    """

    linkage: ClassVar[bool] = True
    size_option: ClassVar[str | None] = "k"
    loosest: ClassVar[Mapping[str, Any]] = {"k": 2}
    view: ClassVar[str]
    k: ClassSize = Field(description="how many records or people must match")

    @property
    def required(self) -> float:
        """The number of matches that is required."""
        return float(self.k)

    def levels(self, classes: Classes) -> Floats:
        """How many matches each record or person has."""
        return classes.people.astype(np.float64)

    def reached(self, classes: Classes) -> float:
        """The fewest matches."""
        return int(classes.people.min())
