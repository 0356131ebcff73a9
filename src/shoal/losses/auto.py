"""A guiding loss that is chosen by trying."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from shoal.base.arrays import Floats
from shoal.losses import Loss
from shoal.losses._mean_costs import mean_costs
from shoal.table.encode import Domain


class Auto(Loss):
    """The guiding metric with the lowest mean of the seven metrics (Sec. 5, Mauger 2023).

    The flow chooses it: it tries the seven metrics and their mean, see `shoal.flow.auto_select`.
    Where nothing is chosen, as in an audit, it is the mean.
    """

    name: ClassVar[str] = "auto"
    is_auto: ClassVar[bool] = True
    reported: ClassVar[bool] = False

    def costs(self, domains: Sequence[Domain]) -> list[Floats]:
        """The mean of the costs of the seven metrics."""
        return mean_costs(domains)
