"""Anatomy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from shoal.algorithms import Algorithm
from shoal.base.errors import BadPlan
from shoal.base.progress import Progress, silent
from shoal.losses import Loss
from shoal.models import Model
from shoal.table.encode import Table
from shoal.table.recoding import Recoding


class Anatomy(Algorithm):
    """Publishes exact quasi-identifiers and sensitive values in two tables, linked by groups.

    It generalizes nothing, so there is no recoding: `shoal anatomy` and `shoal.anatomize` form the
    groups and write both tables (Xiao and Tao 2006). A plan may name it all the same.
    """

    name: ClassVar[str] = "anatomy"
    own_command: ClassVar[str] = "shoal anatomy, or shoal.anatomize in Python"

    def serves(self, model: Model) -> bool:  # noqa: ARG002
        """Never by one table; `shoal.anatomize` says which models two tables can satisfy."""
        return False

    def recode(
        self,
        table: Table,  # noqa: ARG002
        models: Sequence[Model],  # noqa: ARG002
        loss: Loss,  # noqa: ARG002
        rng: np.random.Generator,  # noqa: ARG002
        progress: Progress = silent,  # noqa: ARG002
    ) -> Recoding:
        """Raise an error: nothing is generalized."""
        raise BadPlan(f"anatomy publishes two tables; use {self.own_command}")
