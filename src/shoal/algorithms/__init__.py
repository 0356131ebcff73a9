"""Algorithms: each chooses what is published of every record; one algorithm per file.

Internal: the catalog finds the files in this folder.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from shoal.base.progress import Progress, silent
from shoal.base.settings import Setting
from shoal.losses import Loss
from shoal.models import Model
from shoal.table.encode import Table
from shoal.table.recoding import Recoding

DEFAULT = "peel"  # what plans use that name no algorithm


class Algorithm(Setting):
    """Finds a recoding of a table that satisfies the privacy models."""

    free: ClassVar[bool] = False  # whether it can publish free ranges and free sets
    # Whether `recode` takes a TableModel; otherwise classes are merged after it (`table_models`).
    judges_whole_table: ClassVar[bool] = False
    pace: ClassVar[float] = 1.0  # approximate seconds for 10,000 rows; used by `auto`
    free_pace: ClassVar[float] = 3.0  # how many times longer it takes with free values

    # Whether it takes a table in which equal records are counted together (`Table.weight`).
    counts_together: ClassVar[bool] = False

    # Whether a table may be cut into parts, each of which it recodes by itself.
    works_in_parts: ClassVar[bool] = True

    # Whether a large table is cut where that loses hardly anything: threads share the parts.
    shares_parts: ClassVar[bool] = False

    # Whether it forms classes by the loss; `auto`, which compares losses, tries no others.
    minimizes_loss: ClassVar[bool] = True

    # What usually loses less for the same certainty of an attacker, with other models.
    rather: ClassVar[str | None] = None

    random_choices: ClassVar[bool] = False  # whether it begins or breaks ties at random

    # Whether `recode` publishes nothing beyond `Table.tops`; otherwise it recodes block by block.
    keeps_at_most: ClassVar[bool] = False

    @classmethod
    def work(cls, rows: int, free: bool = False) -> float:
        """Estimated seconds for this number of rows; the same on every machine."""
        return float(cls.pace * (cls.free_pace if free else 1.0) * (rows / 10_000) ** 1.1)

    @property
    def has_random_choices(self) -> bool:
        """Whether two runs without a random seed may publish different values."""
        return self.random_choices or self.has_random_values

    @property
    def has_random_values(self) -> bool:
        """Whether the published values depend on random choices that hide people."""
        return False

    @property
    def reads_sensitive(self) -> bool:
        """Whether it looks at sensitive values even if no model does."""
        return False

    @property
    def largest_suppression(self) -> float | None:
        """The share of the records that may be suppressed, if an option says so."""
        return None

    def suppressing(self, share: float) -> Algorithm:  # noqa: ARG002
        """The same algorithm that may suppress this share, unless its option says how much."""
        return self

    def quick(self) -> Algorithm:
        """The same algorithm with less effort where that hardly changes the loss: for estimates."""
        return self

    @property
    def improves_longer(self) -> bool:
        """Whether it goes on improving a release as long as an option says."""
        return False

    @property
    def bound_effort(self) -> Literal["normal", "high"]:
        """How long a lower bound on the loss of its releases is searched for."""
        return "normal"

    def with_share(self, share: float) -> Algorithm:  # noqa: ARG002
        """The same algorithm for so large a part of the table: it gets that share of the time."""
        return self

    @property
    def objective_name(self) -> str | None:
        """What the algorithm minimizes, if an option says so; `loss` is the loss of the plan."""
        return None

    @abstractmethod
    def serves(self, model: Model) -> bool:
        """Whether the algorithm can satisfy this model."""

    def for_sensitive(self, column: str) -> list[Algorithm]:  # noqa: ARG002
        """The same algorithm with options about a sensitive column that `auto` tries as well."""
        return []

    def notes(self, seed: int | None) -> list[str]:  # noqa: ARG002
        """Remarks for the reader of a release about how it was made."""
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
