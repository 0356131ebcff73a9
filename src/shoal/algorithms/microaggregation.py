"""Microaggregation."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.algorithms._shared.points.square_clusters import best_cut, mdav_clusters, path_through
from shoal.algorithms._shared.points.standardized import Standardized
from shoal.algorithms._shared.pool import Pool, Pooled
from shoal.base.arrays import Longs


class Microaggregation(Pooled):
    """Puts near numbers into one class, by their squared distance in standard deviations.

    MDAV (Domingo-Ferrer and Torra 2005) forms classes of k around the most distant people. With
    `shortest-path` (Hansen and Mukherjee 2003) people are sorted along a path, which is cut into
    classes of k to 2k - 1 where that gives the lowest sum of squares. For one column of numbers
    the path is their order, and no classes of k or more have a lower sum. For several columns it
    goes through the classes of MDAV, from each to the nearest, as in Domingo-Ferrer et al. 2006,
    and the sum is never above theirs. A different category is as far apart as two numbers are on
    average, and more so if categories rarely differ. Among equals, the person with the first record
    wins. A person with several records has the mean of their numbers. The loss is not looked at
    until classes are merged for other models.
    """

    name: ClassVar[str] = "microaggregation"
    pace: ClassVar[float] = 0.1
    minimizes_loss: ClassVar[bool] = False
    works_in_parts: ClassVar[bool] = False
    method: Literal["shortest-path", "mdav"] = Field(
        default="shortest-path",
        description="how classes are formed: shortest-path has k to 2k - 1 people in each, mdav k",
    )

    def gather(self, pool: Pool, rng: np.random.Generator) -> Longs:  # noqa: ARG002 (not random)
        """Number the cluster of each unit."""
        found = Standardized.of(pool.space.table, pool.units)
        if self.method == "mdav":
            return mdav_clusters(found, pool.k, pool.progress)
        if found.is_sorted_by_one_column:
            path = np.argsort(found.x[:, 0], kind="stable")
        else:
            path = path_through(found, mdav_clusters(found, pool.k, pool.progress), pool.progress)
        return best_cut(found, path, pool.k, pool.progress)
