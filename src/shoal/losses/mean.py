"""Mean of the seven metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from shoal.base.arrays import Floats
from shoal.losses import Loss
from shoal.losses._mean_costs import mean_costs
from shoal.table.encode import Domain


class Mean(Loss):
    """The mean of seven metrics, each relative to its largest possible loss (Mauger 2023).

    An alteration is a sum of costs divided by the largest possible sum (Def. 7). So the mean of
    seven alterations (Def. 9) is a sum of costs as well, and can guide an algorithm.
    """

    name: ClassVar[str] = "mean"
    counts: ClassVar[str] = (
        "the mean of the seven metrics of Mauger et al. (2023), each in percent of the "
        "largest possible loss"
    )
    reported: ClassVar[bool] = False  # every release has it as mean_loss

    def costs(self, domains: Sequence[Domain]) -> list[Floats]:
        """The mean of the costs of the seven metrics."""
        return mean_costs(domains)
