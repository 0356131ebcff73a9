"""Features: records as points of a space in which models are trained.

Numbers are standardized, categories are the shares of each category. A general value lies between
the original values that it covers, and a missing one is the mean of its column.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.base.arrays import Floats, Ints
from shoal.hierarchies.free_values import Covers
from shoal.measures.analyses.as_categories import Spread
from shoal.measures.analyses.variables import Forms, Variable


class Records(NamedTuple):
    """Some records, of the original or of the release."""

    quasi: list[tuple[Ints, Covers]]  # per quasi-identifier: its codes, and what free values cover
    unchanged: list[Ints]  # the places of the values of the other columns

    def __len__(self) -> int:
        return len(self.quasi[0][0])


class Feature(NamedTuple):
    """Some features of records: the shares of categories, or one number."""

    values: Floats  # float64[records, features]; NaN: missing
    within: Floats | None  # float64[records], the variance within each number; None: shares


class Encoder(NamedTuple):
    """What is learned from the training data: how to spread, center and scale values."""

    forms: Forms
    spreads: list[Spread | None]  # per quasi-identifier
    center: Floats  # float64[features]
    scale: Floats  # float64[features]

    @staticmethod
    def of(forms: Forms, records: Records) -> Encoder:
        """Learn from training data."""
        spreads = [
            None if form.category is None else form.spread(codes, None)
            for form, (codes, _) in zip(forms.quasi, records.quasi, strict=True)
        ]
        center, scale = [np.zeros(0)], [np.zeros(0)]
        for one in _features(forms, spreads, records):
            there = np.isfinite(one.values)
            many = np.maximum(there.sum(axis=0), 1)
            middle = np.where(there, one.values, 0.0).sum(axis=0) / many
            center.append(middle)
            if one.within is None:  # shares have a common scale
                scale.append(np.ones(len(middle)))
                continue
            # As in a variance, the numbers within a range count: ranges vary less than numbers.
            square = np.where(there, (one.values - middle) ** 2 + one.within[:, None], 0.0)
            variance = square.sum(axis=0) / many
            scale.append(np.sqrt(np.where(variance > 0, variance, 1.0)))
        return Encoder(forms, spreads, np.concatenate(center), np.concatenate(scale))

    def matrix(self, records: Records) -> Floats:
        """Records as points, float64[records, features]."""
        found = [one.values for one in _features(self.forms, self.spreads, records)]
        values = np.concatenate([np.zeros((len(records), 0)), *found], axis=1)
        return np.where(np.isfinite(values), (values - self.center) / self.scale, 0.0)


def _features(forms: Forms, spreads: list[Spread | None], records: Records) -> list[Feature]:
    """The features of all columns."""
    found = []
    for form, spread, (codes, covers) in zip(forms.quasi, spreads, records.quasi, strict=True):
        found += _of_column(form.variable(codes, covers, None, spread))
    for one, places in zip(forms.unchanged, records.unchanged, strict=True):
        found += _of_column(one.form.variable(places))
    return found


def _of_column(column: Variable) -> list[Feature]:
    """The shares of its categories, or else its number."""
    if column.categories is not None:
        share = column.categories.share
        known = np.where(share.sum(axis=1, keepdims=True) > 0, share, np.nan)
        return [Feature(known[column.categories.row[column.codes]], None)]
    if column.numbers is None:
        return []
    numbers = column.numbers
    return [Feature(numbers.mean[column.codes][:, None], numbers.variance[column.codes])]
