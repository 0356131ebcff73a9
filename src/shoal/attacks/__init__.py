"""Attacks: what somebody who has the published table can still find out."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.histogram import Histogram
from shoal.published import Published
from shoal.settings import Setting

Flags = npt.NDArray[np.bool_]


class Attack(Setting):
    """A way to learn about people from a published table."""

    @abstractmethod
    def run(self, published: Published) -> dict[str, Any]:
        """What the attack finds: named numbers, and nothing that names a person."""


class SensitiveAttack(Attack):
    """A way to learn somebody's sensitive value without finding the row.

    A finding is kept for each sensitive column by its name: the `classes` in which the attack
    succeeds, their `records`, what `percent` of all records that is, and what is told about the
    way. Classes are not named: the table may be an original, whose values must not be shown.
    """

    def run(self, published: Published) -> dict[str, Any]:
        """What the attack finds in each sensitive column."""
        return {
            name: self.finding(histogram)
            for name, histogram in published.classes.histograms.items()
        }

    def finding(self, histogram: Histogram) -> dict[str, Any]:
        """What the attack finds in one sensitive column."""
        return {**toll(histogram, self.victims(histogram)), **self.details(histogram)}

    @abstractmethod
    def victims(self, histogram: Histogram) -> Flags:
        """In which classes the attack succeeds, bool[classes]."""

    def details(self, histogram: Histogram) -> dict[str, Any]:  # noqa: ARG002
        """What else is worth knowing about the column, by name."""
        return {}


def toll(histogram: Histogram, victims: Flags) -> dict[str, Any]:
    """How many classes and records these are."""
    records = int(histogram.size[victims].sum())
    return {
        "classes": int(victims.sum()),
        "records": records,
        "percent": 100.0 * records / int(histogram.size.sum()),
    }


def distinct(histogram: Histogram) -> npt.NDArray[np.int64]:
    """Different values of each class, int64[classes]; missing is a value like the others."""
    return np.diff(histogram.start)
