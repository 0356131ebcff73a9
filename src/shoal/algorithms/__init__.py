"""Algorithms: they choose what is published of each record.

Internal: the catalog finds what stands here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from shoal.base.progress import Progress, silent
from shoal.base.settings import Setting
from shoal.losses import Loss
from shoal.models import Model
from shoal.table.encode import Table
from shoal.table.recoding import Recoding


class Algorithm(Setting):
    """A way from a table to a recoding that keeps the promises."""

    free: ClassVar[bool] = False  # whether it can publish free ranges and free sets
    # Whether `recode` takes a TableModel; otherwise classes are merged after it (`table_models`).
    judges_whole_table: ClassVar[bool] = False
    pace: ClassVar[float] = 1.0  # seconds that 10,000 rows take, about; `auto` weighs it

    free_pace: ClassVar[float] = 3.0  # times as long with free values, about

    @classmethod
    def work(cls, rows: int, free: bool = False) -> float:
        """How many seconds so many rows take, about: an estimate, the same on every machine."""
        return float(cls.pace * (cls.free_pace if free else 1.0) * (rows / 10_000) ** 1.1)

    @abstractmethod
    def serves(self, model: Model) -> bool:
        """Whether the algorithm can keep this promise."""

    def notes(self, seed: int | None) -> list[str]:  # noqa: ARG002
        """What the reader of a release should know about how it was made."""
        return []

    @abstractmethod
    def recode(
        self,
        table: Table,
        models: Sequence[Model],
        loss: Loss,
        rng: np.random.Generator,
        progress: Progress = silent,
    ) -> Recoding:
        """Choose what is published of each record."""
