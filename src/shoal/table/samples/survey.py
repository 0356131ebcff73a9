"""Survey: what a table says about how its records were sampled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from shoal.base.arrays import Floats, Longs
from shoal.io.frames import Frame
from shoal.table.roles import Column
from shoal.table.samples.households import check_households, household_codes, own_persons
from shoal.table.samples.weights import sampling_weights


class Survey(NamedTuple):
    """The weight, the person and the household of each row; None: the table does not have them."""

    weights: Floats | None  # float64[n]
    people: Longs | None  # int64[n]
    households: Longs | None  # int64[n]
    rows: int

    def take(self, rows: Longs) -> Survey:
        """These rows; people and households are numbered again, without those who left."""
        weights, people, homes, _ = self
        return Survey(
            None if weights is None else weights[rows],
            None if people is None else np.unique(people[rows], return_inverse=True)[1],
            None if homes is None else np.unique(homes[rows], return_inverse=True)[1],
            len(rows),
        )


def survey_of(
    frame: Frame, columns: Mapping[str, Column], missing_values: Sequence[str] = ()
) -> Survey:
    """Read the columns of a survey; raise an error if they cannot be right."""
    check_households(frame, columns, missing_values)
    return Survey(
        sampling_weights(frame, columns, missing_values),
        own_persons(frame, columns, missing_values),
        household_codes(frame, columns, missing_values),
        frame.height,
    )
