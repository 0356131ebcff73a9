"""Class sizes: how many classes of a sample have each size."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.base.arrays import Longs


class ClassSizes(NamedTuple):
    """The sizes that occur, ascending, and how many classes have each.

    >>> sizes = ClassSizes.of(np.array([1, 3, 1, 2]))
    >>> sizes.records, sizes.classes, sizes.uniques, sizes.pairs
    (7, 4, 2, 1)
    """

    size: Longs  # int64[distinct sizes]
    classes_of_size: Longs  # int64[distinct sizes]

    @staticmethod
    def of(sizes: Longs) -> ClassSizes:
        """The sizes of all classes, counted."""
        size, count = np.unique(np.asarray(sizes, np.int64), return_counts=True)
        return ClassSizes(size, count.astype(np.int64))

    @property
    def records(self) -> int:
        """Records of the sample."""
        return int(self.size @ self.classes_of_size)

    @property
    def classes(self) -> int:
        """Classes of the sample."""
        return int(self.classes_of_size.sum())

    @property
    def uniques(self) -> int:
        """Classes of one record: the sample uniques."""
        return self._with(1)

    @property
    def pairs(self) -> int:
        """Classes of two records."""
        return self._with(2)

    def _with(self, size: int) -> int:
        return int(self.classes_of_size[self.size == size].sum())
