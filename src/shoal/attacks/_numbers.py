"""Columns of numbers in the original and in the release, record by record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from shoal.base.arrays import Floats, Longs
from shoal.io.frames import Frame
from shoal.table.roles import Column, missing_words
from shoal.table.written.coded_numbers import uncoded
from shoal.table.written.microaggregation import numbers_of_rows


class NumberColumn(NamedTuple):
    """A column of numbers that are published rounded, cut off, or as that of a class."""

    name: str
    original: Floats  # float64[rows of the release], nan where it is no number
    published: Floats  # the same; nan where nothing is published


def number_columns(
    frame: Frame,
    before: Frame,
    rows: Longs,
    columns: Mapping[str, Column],
    missing_values: Sequence[str],
) -> tuple[NumberColumn, ...]:
    """The columns of numbers that are not published as they are; `rows` are those of `before`."""
    found = []
    for name, column in columns.items():
        if column.microaggregate is None and not column.codes_numbers:
            continue  # a range states itself where the original is
        if name not in frame.names or name not in before.names or frame.weight is not None:
            continue
        words = missing_words(columns, name, missing_values)
        published = numbers_of_rows(frame, name, words)
        original = numbers_of_rows(uncoded(before, name), name, words)[rows]
        if not np.isnan(original).all():
            found.append(NumberColumn(name, original, published))
    return tuple(found)
