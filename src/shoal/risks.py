"""Risks: how likely it is that a record is found to belong to somebody."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from shoal.published import Published


@dataclass(frozen=True)
class Risks:
    """Chances of re-identification, from 0 to 1.

    A record in a class of 5 people is found with a chance of 1/5. Averages are taken over
    records, not over classes: most classes are small, most records are not in them.
    """

    prosecutor: float  # the highest chance of any record
    average: float  # the mean chance over records
    unique: float  # the share of records that are alone in their class

    def as_dict(self) -> dict[str, float]:
        """The chances by name."""
        return asdict(self)


def risks(published: Published) -> Risks:
    """The chances in a table."""
    classes = published.classes
    chance = 1.0 / classes.candidates  # float64[n]
    return Risks(
        prosecutor=float(chance.max()),
        average=float(chance.mean()),
        unique=float(np.mean(chance == 1.0)),
    )
