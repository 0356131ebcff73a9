"""An algorithm that is chosen by trying."""

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
    """Whichever algorithm loses least: the default, or what is better (Mauger 2023).

    The flow settles it, see `shoal.flow.auto_select`. What the plan would run by default runs on
    the whole table, however long it takes, and nothing that loses more is returned. Besides, all
    algorithms that serve the plan, and the strategies of gaa where something is required about a
    sensitive column, are tried on a sample, and the best ones on the whole table. Columns without a
    hierarchy are tried as free ranges and sets too; `hierarchy = { flat = true }` prevents that.

    `seconds` limits what is tried besides the default. They are counted as estimated work, so that
    every machine chooses the same, however busy it is; a slow one takes longer. The clock ends
    only what lasts far longer than estimated, compared with the default on the same machine.
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
