"""The algorithm that tries others and uses the best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.algorithms import Algorithm
from shoal.base.errors import BadPlan
from shoal.base.progress import Progress, silent
from shoal.losses import Loss
from shoal.models import Model
from shoal.table.encode import Table
from shoal.table.recoding import Recoding


class Auto(Algorithm):
    """Tries several algorithms and uses the one with the lowest loss (Mauger 2023).

    `shoal.flow.auto_select` makes the choice. The default algorithm of the plan always runs on the
    whole table, and the result never has a higher loss than that run. In addition, all algorithms
    that can serve the plan are tried on a sample, and the best of them on the whole table. If a
    model requires something of a sensitive column, the strategies of gaa are tried too. Columns
    without a hierarchy are also tried as free ranges and free sets; `hierarchy = { flat = true }`
    prevents that.

    `seconds` limits the additional runs. The seconds are estimated work, not measured time, so
    every machine makes the same choice. A run is stopped by the clock only if it takes far longer
    than estimated, compared with the default algorithm on the same machine.
    """

    name: ClassVar[str] = "auto"
    is_auto: ClassVar[bool] = True
    free: ClassVar[bool] = True
    seconds: float = Field(
        default=30.0,
        gt=0,
        description="time for trying alternatives to the default, as estimated work",
    )

    def serves(self, model: Model) -> bool:  # noqa: ARG002
        """Always true: whether an algorithm can satisfy the model is checked during the choice."""
        return True

    def recode(
        self,
        table: Table,  # noqa: ARG002
        models: Sequence[Model],  # noqa: ARG002
        loss: Loss,  # noqa: ARG002
        rng: np.random.Generator,  # noqa: ARG002
        progress: Progress = silent,  # noqa: ARG002
    ) -> Recoding:
        """Raise an error: `shoal.anonymize` chooses an algorithm and runs that one."""
        raise BadPlan("auto stands for a choice; shoal.anonymize makes it, or name an algorithm")
