"""The greedy anonymization algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.algorithms import Algorithm
from shoal.algorithms._shared.boxes import Space, merge_failing
from shoal.algorithms._shared.class_merge import Merging, Strategy, merge_classes
from shoal.algorithms._shared.layout import Layout
from shoal.algorithms._shared.requirements import check_reachable, judge_by, k_and_others
from shoal.base.arrays import Longs
from shoal.base.errors import BadPlan, did_you_mean
from shoal.base.progress import Progress, silent
from shoal.kernels import levels
from shoal.kernels.grouping import strategy as choosing
from shoal.losses import Loss
from shoal.losses._integer_costs import exact_costs
from shoal.models import Model
from shoal.table.encode import Table
from shoal.table.equivalence_classes import Classes
from shoal.table.recoding import Recoding

STRATEGIES = {
    "S2": (levels.DIVERSITY, choosing.FIRST_COST),
    "S3": (levels.DIVERSITY, choosing.FIRST_BADNESS),
    "S4": (levels.DIVERSITY, choosing.RATIO_OF_BOTH),
    "S5": (levels.CLOSENESS, choosing.FIRST_COST),
    "S6": (levels.CLOSENESS, choosing.FIRST_BADNESS),
    "S7": (levels.CLOSENESS, choosing.RATIO_OF_BOTH),
    "l-diversity": (levels.DIVERSITY, choosing.ONLY_BADNESS),
    "t-closeness": (levels.CLOSENESS, choosing.ONLY_BADNESS),
    "cost-then-k": (levels.SIZE, choosing.FIRST_COST),
    "k-then-cost": (levels.SIZE, choosing.FIRST_BADNESS),
    "cost-per-k": (levels.SIZE, choosing.RATIO_OF_BOTH),
}


class GAA(Algorithm):
    """Merges the smallest failing class with the class that costs least (Algorithm 1, Mauger 2023).

    `start` chooses the failing class: the `smallest`, as Mauger 2023 says; the `first`, as Mauger
    2020 did, which grows until it fails no more; or an `arbitrary` one, drawn with the seed.

    `strategy` (Def. 17, Mauger 2023) chooses the partner. Let l be the entropy l-diversity of the
    table after the merge, and t its distance in norm 1. S1 takes the lowest cost. S2 takes the
    highest l among those, S3 the lowest cost among those with the highest l, S4 the lowest
    cost / l. S5, S6 and S7 do the same with the lowest t and cost × t. `l-diversity` and
    `t-closeness` consider only l or t. They are computed for the sensitive `column`, in the whole
    table or only in the merged class (`scope`).

    `cost-then-k`, `k-then-cost` and `cost-per-k` do the same with k, the people of the smallest
    class after the merge, in the places of S2, S3 and S4. If only l-diversity or t-closeness is
    required, they may reach a higher k (the future work of Sec. 4.4, Mauger 2023).

    `weight`: the cost of each side counts `size` times (MC, Mauger 2020) or once (`unit`, Def. 6,
    Mauger 2023). `candidates`: partners are `all` classes, or only the `small` ones that still
    fail, as in Algorithm 1 of Mauger 2020; if none of those is left, all.
    """

    name: ClassVar[str] = "gaa"
    counts_together: ClassVar[bool] = True
    pace: ClassVar[float] = 0.1
    free_pace: ClassVar[float] = 10.0
    strategy: Literal[
        "S1",
        "S2",
        "S3",
        "S4",
        "S5",
        "S6",
        "S7",
        "l-diversity",
        "t-closeness",
        "cost-then-k",
        "k-then-cost",
        "cost-per-k",
    ] = Field(
        default="S1",
        description="how to choose the class to merge with: S1 by cost alone, S2 to S4 by cost "
        "and l-diversity, S5 to S7 by cost and t-closeness, by one of these alone, or by cost and "
        "the k of the table",
    )
    start: Literal["smallest", "first", "arbitrary"] = Field(
        default="smallest",
        description="which class that violates a requirement is merged next: the smallest, the "
        "first in an order that follows from the values, or a random one",
    )
    scope: Literal["table", "class"] = Field(
        default="table",
        description="where a strategy measures l-diversity, t-closeness or k: in the whole table "
        "or in the merged class",
    )
    column: str | None = Field(
        default=None,
        description="sensitive column that the strategies about l-diversity and "
        "t-closeness look at",
    )
    weight: Literal["size", "unit"] = Field(
        default="size",
        description="whether the cost of a class is multiplied by its size, or counts once",
    )
    candidates: Literal["all", "small"] = Field(
        default="all",
        description="classes to merge with: all, or first those that still violate a requirement",
    )
    free: ClassVar[bool] = True

    @property
    def reads_sensitive(self) -> bool:
        """The strategies about l-diversity and t-closeness do."""
        return self.strategy != "S1" and STRATEGIES[self.strategy][0] != levels.SIZE

    @property
    def has_random_choices(self) -> bool:
        """Only the class that is merged next may be random."""
        return self.start == "arbitrary"

    def for_sensitive(self, column: str) -> list[Algorithm]:
        """The strategies about a sensitive column, but S5: it differs from S1 only in ties."""
        return [
            GAA(**{**self.options(), "strategy": strategy, "column": column})
            for strategy in ("S2", "S3", "S4", "S6", "S7")
        ]

    def serves(self, model: Model) -> bool:
        """Whether the algorithm can satisfy this model: any model about classes."""
        return not model.linkage

    def recode(
        self,
        table: Table,
        models: Sequence[Model],
        loss: Loss,
        rng: np.random.Generator,
        progress: Progress = silent,
    ) -> Recoding:
        """Merge classes until none fails."""
        check_reachable(table, models)
        k, others = k_and_others(models)
        start = table.tally(bool(others) or self.reads_sensitive)
        merging = Merging(
            k,
            by_size=self.weight == "size",
            only_small=self.candidates == "small",
            judge=judge_by(others, start),
            strategy=self._strategy(start),
            draws=self._draws(start, rng),
        )
        if table.free:
            return self._merge_free(table, start, loss, merging, progress)
        layout = Layout.of(table, start, exact_costs(loss, table.domains, table.rows))
        return merge_classes(table, start, layout, merging, progress)

    def _merge_free(
        self, table: Table, start: Classes, loss: Loss, merging: Merging, progress: Progress
    ) -> Recoding:
        """Merge classes of a table with free ranges or sets."""
        if (self.strategy, self.candidates, self.start) != ("S1", "all", "smallest"):
            raise BadPlan(
                "gaa: with free ranges or sets only the strategy S1, all candidates and the "
                f"smallest class as the start are possible; give {', '.join(table.free)} a tree, "
                "or remove these settings"
            )
        space = Space.of(table, loss)
        size = start.size if merging.by_size else np.ones_like(start.size)
        codes = table.unified[start.first]
        boxes = space.found(space.boxes(codes, table.covers), size, start.first)
        into = merge_failing(space, boxes, start.people, merging, progress)
        alive, number = np.unique(into, return_inverse=True)
        vectors, covers = space.vectors(boxes.box[alive])
        return Recoding(vectors, number[start.label], covers)

    def _strategy(self, start: Classes) -> Strategy | None:
        """The strategy as the kernel takes it; None: lowest cost."""
        if self.strategy == "S1":
            return None
        kind, rule = STRATEGIES[self.strategy]
        chosen = np.array([rule, kind, self.scope == "table"], np.int64)
        if kind == levels.SIZE:
            return Strategy(chosen, levels.count_all(start.people))
        column = self.column
        if column is None:
            if len(start.histograms) != 1:
                raise BadPlan(
                    f"gaa: the strategy {self.strategy} uses one sensitive column, but the "
                    f"table has {len(start.histograms)}: {', '.join(start.histograms) or 'none'}; "
                    "name one as column"
                )
            (column,) = start.histograms
        if column not in start.histograms:
            hint = did_you_mean(column, start.histograms)
            raise BadPlan(f"gaa: no sensitive column {column!r}{hint}")
        seen = start.histograms[column]
        lists = levels.make_lists(
            seen.start, seen.value, seen.count, seen.overall, 2 * len(start) + 8
        )
        levels.judge_all(lists, kind, start.size)
        return Strategy(chosen, lists)

    def _draws(self, start: Classes, rng: np.random.Generator) -> Longs | None:
        """The turn of each class, and of the classes that merges make; None: the smallest first."""
        if self.start == "smallest":
            return None
        draws = np.zeros(2 * len(start), np.int64)  # all alike: the first record decides
        if self.start == "arbitrary":
            draws[:] = rng.permutation(len(draws))
            rank = np.argsort(np.argsort(start.first))  # records counted together keep their turn
            draws[: len(start)] = draws[rank]
        return draws
