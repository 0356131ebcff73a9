"""Judge: whether a combination of levels satisfies the models, and what it is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.algorithms._shared.levels.goals import Found, Levels, make_goal
from shoal.algorithms._shared.requirements import all_satisfied, k_and_others, mean_risk, too_risky
from shoal.base.arrays import Bools, Ints, Longs
from shoal.kernels import lattice as kernels
from shoal.losses import Loss
from shoal.losses._integer_costs import exact_costs
from shoal.models import Model, TableModel, min_class_size
from shoal.table.encode import Table
from shoal.table.equivalence_classes import Classes, tally
from shoal.table.recoding import SUPPRESSED


@dataclass(frozen=True)
class Judgement:
    """What is known about a node.

    `dead`: the models are violated at all lower levels too. `beyond`: `at_most` is violated at all
    higher levels too. `above` and `below` are upper bounds on the worth of this node and of all
    nodes above or below it, if they are known.
    """

    worth: int | None  # None: a model is violated
    dead: bool = False
    beyond: bool = False
    above: int | None = None
    below: int | None = None


class Judge:
    """Decides whether a node of the lattice satisfies the models, and what it is worth."""

    def __init__(
        self,
        table: Table,
        models: Sequence[Model],
        loss: Loss,
        limit: int,
        objective: str = "loss",
    ) -> None:
        self.table, self.limit = table, limit
        self.of_table = [model for model in models if isinstance(model, TableModel)]
        _, others = k_and_others([m for m in models if not isinstance(m, TableModel)])
        self.k = min_class_size(models)
        # Without suppression the union of two classes that satisfy a model satisfies it too. So a
        # model that is violated at some levels is violated at all lower ones. The same holds for
        # models about the whole table: splitting classes never lowers their level.
        # Of models that count people of a population, only that of monotone ones is known.
        self.first = [
            model
            for model in others
            if model.is_monotone or (limit == 0 and not model.needs_population)
        ]
        self.later = [model for model in others if model not in self.first]
        self.outside = table.population is not None and any(m.needs_population for m in others)
        self.start = table.tally(bool(others))
        costs = exact_costs(loss, table.domains, table.rows, falling=True)
        both = list(zip(costs, table.domains, strict=True))
        possible = sum(int(cost @ domain.counts) for cost, domain in both)
        self.goal = make_goal(objective, loss.name, possible, table.rows, models)
        above = [kernels.lifted(tree.parent, tree.level, tree.height) for tree in table.trees]
        codes = table.unified[self.start.first]
        above = [self._allowed_levels(j, up, codes[:, j]) for j, up in enumerate(above)]
        self.shape = tuple(map(len, above))
        keeps = [cost[up] for cost, up in zip(costs, above, strict=True)]
        self.levels = Levels(codes, self.start.size, above, keeps)
        self.lattice = kernels.Lattice(
            code=np.ascontiguousarray(codes),
            size=self.start.size,
            people=self.start.people,
            start=np.append(0, np.cumsum([up.size for up in above]))[:-1],
            nodes=np.array([tree.size for tree in table.trees]),
            above=np.concatenate([up.ravel() for up in above]),
            keeps=np.concatenate([keep.ravel() for keep in keeps]),
        )
        self.group = kernels.empty_grouping(len(codes), len(table.trees))

    def _allowed_levels(self, j: int, above: Ints, codes: Ints) -> Ints:
        """The levels of a column at which not too many values are beyond `at_most`."""
        tops = self.table.tops[j] if self.table.tops else None
        if tops is None:
            return above
        beyond = [int(self.start.size[~tops.allowed[up[codes]]].sum()) for up in above]
        # On the way up ever more values are beyond it.
        levels = max(1, sum(records <= self.limit for records in beyond))
        return np.ascontiguousarray(above[:levels])

    def _complies(self, classes: int) -> Bools:
        """Which classes of the current node publish nothing beyond `at_most`."""
        fine = np.ones(classes, np.bool_)
        for j, tops in enumerate(self.table.tops):
            if tops is not None:
                fine &= tops.allowed[self.group.value[:classes, j]]
        return fine

    def __call__(self, level: Longs, enough: int | None = None) -> Judgement:
        """Judge a node; stop early if it is certainly worth less than `enough`."""
        classes = kernels.group_at(self.lattice, level, self.group)
        size = self.group.size[:classes]
        found = Found(size, self.group.people[:classes], self.group.keeps[:classes])
        above = self.goal.limit_above(found)
        stays = self.group.people[:classes] >= self.k
        if self.first and size[~stays].sum() <= self.limit:
            stays &= all_satisfied(self.first, self._merged(classes))
        if size[~stays].sum() > self.limit or not stays.any():
            return Judgement(None, dead=True, above=above)
        if self.limit == 0 and self._too_risky(stays):
            falls = all(model.falls_by_merging for model in self.of_table)
            return Judgement(None, dead=falls, above=above)
        below = self.goal.limit_below(found, stays)
        complies = self._complies(classes)
        if size[~complies].sum() > self.limit:
            return Judgement(None, beyond=True, above=above, below=below)
        stays &= complies
        if size[~stays].sum() > self.limit or not stays.any():
            return Judgement(None, above=above, below=below)
        if self.later or self.of_table:
            if enough is not None and self.goal.hope(found, stays) < enough:
                return Judgement(None, above=above, below=below)
            stays = self._suppressed(stays)
            if not stays.any() or size[~stays].sum() > self.limit:
                return Judgement(None, above=above, below=below)
        return Judgement(self.goal.worth(found, stays), above=above, below=below)

    def _too_risky(self, stays: Bools) -> bool:
        """Whether the classes that stay violate a model about the whole table."""
        people = self.group.people[: len(stays)][stays]
        return not all(model.holds(mean_risk(model, people)) for model in self.of_table)

    def _suppressed(self, stays: Bools) -> Bools:
        """The classes that stay when those that fail are suppressed, until none fails.

        Models about the whole table suppress the smallest classes, no more than are needed; of
        equally large ones those that keep least, then those whose first record comes first.
        """
        size, people = self.group.size[: len(stays)], self.group.people[: len(stays)]
        keeps, first = self.group.keeps[: len(stays)], self.group.first[: len(stays)]
        while stays.any() and size[~stays].sum() <= self.limit:
            fails = self._failing(stays) if self.later else ~stays
            if (fails & stays).any():
                stays = stays & ~fails
                continue
            if not self._too_risky(stays):
                break
            left = np.flatnonzero(stays)
            left = left[np.lexsort((first[left], (size * keeps)[left], people[left]))]
            stays = stays.copy()
            stays[left[: too_risky(self.of_table, people[left])]] = False
        return stays

    def published(self, level: Longs) -> tuple[Ints, Longs]:
        """The values of the classes of a node, and the class of each row (-1: suppressed)."""
        classes = kernels.group_at(self.lattice, level, self.group)
        stays = self.group.people[:classes] >= self.k
        if self.first:
            stays &= all_satisfied(self.first, self._merged(classes))
        stays &= self._complies(classes)
        if self.later or self.of_table:
            stays = self._suppressed(stays)
        number = np.where(stays, np.cumsum(stays) - 1, SUPPRESSED)
        vectors = self.group.value[:classes][stays].copy()
        return vectors, number[self.group.label[self.start.label]]

    def _merged(self, classes: int) -> Classes:
        """The classes of the current node, in the form that models check."""
        first = self.group.first[:classes]
        found = self.start.merged(first[self.group.label], first)
        return self._with_coverage(found, np.arange(classes))

    def _with_coverage(self, classes: Classes, numbers: Longs) -> Classes:
        """The classes with these numbers at the current node, and whom of a population they cover.

        Read by their published values, as in verify.
        """
        if not self.outside:
            return classes
        found = self.table.in_population.coverage(self.group.value[numbers])
        return replace(classes, coverage=found)

    def _failing(self, stays: Bools) -> Bools:
        """The classes that fail in the table of those that stay."""
        if stays.all():
            return ~all_satisfied(self.later, self._merged(len(stays)))
        label = self.group.label[self.start.label]
        rows = np.flatnonzero(stays[label])
        people, weight = self.table.people, self.table.weight
        if people is not None:
            people = np.unique(people[rows], return_inverse=True)[1]
        # As in verify: values that are no longer published are unknown to the reader.
        sensitive = [column.take(rows) for column in self.table.sensitive]
        left = None if weight is None else weight[rows]
        classes = tally(label[rows, None].astype(np.int32), people, sensitive, left)
        numbers = label[rows[classes.first]]
        fails = np.zeros(len(stays), np.bool_)
        fails[numbers] = ~all_satisfied(self.later, self._with_coverage(classes, numbers))
        return fails
