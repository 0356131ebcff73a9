"""Equivalence classes: the tally of a table by its published values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.kernels.group import count_pairs, group_rows

Longs = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of a table, in the order in which they first appear."""

    label: Longs  # int64[n], the class of each row
    first: Longs  # int64[classes], its first row
    size: Longs  # int64[classes], its rows
    people: Longs  # int64[classes], its people

    def __len__(self) -> int:
        return len(self.size)

    @property
    def smallest(self) -> int:
        """People in the smallest class."""
        return int(self.people.min()) if len(self) else 0


def tally(codes: npt.NDArray[np.int32], people: Longs | None = None) -> Classes:
    """Group equal rows of int32[n, q] codes into classes.

    >>> tally(np.array([[1, 2], [0, 0], [1, 2]], np.int32)).size.tolist()
    [2, 1]
    """
    label, first, size = group_rows(np.ascontiguousarray(codes, np.int32))
    crowd = size if people is None else count_pairs(label, people, len(first))
    return Classes(label, first, size, crowd)
