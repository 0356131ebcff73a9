"""An algorithm that is chosen by trying."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import field_validator

from shoal.algorithms import Algorithm
from shoal.columns import Table
from shoal.errors import BadPlan
from shoal.losses import Loss
from shoal.models import Model
from shoal.progress import Progress, silent
from shoal.recoding import Recoding


class Auto(Algorithm):
    """Whichever algorithm loses least: tried on a sample, the best on the table (Mauger 2023).

    The flow settles it, see `shoal.choose`: all algorithms that serve the plan, and the strategies
    of gaa where something is promised about a sensitive column, are tried on a sample; the best
    ones on the whole table, the quickest of them first, as far as there is time in `seconds`. That
    counts from the beginning of the search; compiling kernels on a first run does not count. Runs
    are ended when the time is over, but not the one that is to bring the first release: on a large
    table it can last longer than all of the `seconds`.
    """

    name: ClassVar[str] = "auto"
    undecided: ClassVar[bool] = True
    free: ClassVar[bool] = True
    seconds: float = 30.0

    @field_validator("seconds")
    @classmethod
    def _some_time(cls, seconds: float) -> float:
        if not seconds > 0:
            raise ValueError(f"needs seconds above 0, got seconds={seconds:g}")
        return seconds

    def serves(self, model: Model) -> bool:  # noqa: ARG002
        """Whether some algorithm keeps a promise is found out when one is chosen."""
        return True

    def recode(
        self,
        table: Table,  # noqa: ARG002
        models: Sequence[Model],  # noqa: ARG002
        loss: Loss,  # noqa: ARG002
        rng: np.random.Generator,  # noqa: ARG002
        progress: Progress = silent,  # noqa: ARG002
    ) -> Recoding:
        """Nothing to run: `shoal.anonymize` chooses an algorithm and runs that."""
        raise BadPlan("auto stands for a choice; shoal.anonymize makes it, or name an algorithm")
