"""Full-domain generalization."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, prod
from time import perf_counter
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.algorithms import Algorithm
from shoal.algorithms._shared.goals import Found, Levels, make_goal
from shoal.algorithms._shared.requirements import (
    all_satisfied,
    check_reachable,
    k_and_others,
    mean_risk,
)
from shoal.base.arrays import Bools, Ints, Longs
from shoal.base.errors import BadPlan, CannotReach
from shoal.base.pace import INTERVAL
from shoal.base.progress import Progress, silent
from shoal.base.settings import Share
from shoal.base.wording import listed
from shoal.kernels import lattice as kernels
from shoal.losses import Loss
from shoal.losses._integer_costs import exact_costs
from shoal.models import Model, TableModel, min_class_size
from shoal.table.encode import Table
from shoal.table.equivalence_classes import Classes, tally
from shoal.table.recoding import SUPPRESSED, Recoding

LARGEST = 2**24  # nodes of a lattice that fit into memory


class FullDomain(Algorithm):
    """Publishes each column at one level for the whole table, the best levels of all.

    The level of a value is the height of the subtree below it. At level L a value is published as
    its lowest ancestor, or itself, whose level is L or higher. Classes that fail are suppressed, up
    to a share `suppression` of the records: first those that violate a model whatever else is
    published (too few people, too few distinct values), then those that fail in the remaining
    table, repeatedly, until all remaining classes satisfy the models. Among all combinations of
    levels (the lattice of Samarati 2001) the best one is found and proven to be the best; among
    equals, the one with the lowest level in the first column, then in the second, and so on. If a
    model compares classes with the whole table, suppressing other classes than those that fail may
    lose less; that is not searched. For a model about the whole table the smallest classes are
    suppressed until it is satisfied; other choices are not searched either. The records of a person
    are generalized to common values first, so such a value may be above the level.

    `objective` defines the best combination: "loss", the lowest loss as reported (a suppressed
    record counts as fully lost); "discernibility", the lowest sum, over the records, of the size of
    the record's class (for a suppressed record, the size of the table); or "average-class-size",
    the lowest (records / classes) / k (the suppressed records count as one more class).
    """

    name: ClassVar[str] = "full-domain"
    judges_whole_table: ClassVar[bool] = True
    works_in_parts: ClassVar[bool] = False  # a column has one level in the whole table
    counts_together: ClassVar[bool] = True
    pace: ClassVar[float] = 0.3
    suppression: Share = Field(
        default=0.0, description="largest share of the records that may be suppressed"
    )
    objective: Literal["loss", "discernibility", "average-class-size"] = Field(
        default="loss", description="what to minimize"
    )

    @property
    def largest_suppression(self) -> float:
        """The share of the records that may be suppressed."""
        return self.suppression

    @property
    def objective_name(self) -> str:
        """What the search minimizes."""
        return self.objective

    def serves(self, model: Model) -> bool:
        """Whether the algorithm can satisfy this model: any about classes."""
        return not model.linkage

    def recode(
        self,
        table: Table,
        models: Sequence[Model],
        loss: Loss,
        rng: np.random.Generator,  # noqa: ARG002 (not random)
        progress: Progress = silent,
    ) -> Recoding:
        """Search the lattice."""
        limit = floor(self.suppression * table.rows + 1e-9)
        certain = [
            model
            for model in models
            if limit == 0 or model.is_monotone or isinstance(model, TableModel)
        ]
        check_reachable(table, certain)
        search = LatticeSearch(Judge(table, models, loss, limit, self.objective))
        search.descend(progress)
        search.prove(progress)
        if search.best is None:
            raise _out_of_reach(table, models, limit)
        return search.recoding()


def _out_of_reach(table: Table, models: Sequence[Model], limit: int) -> CannotReach:
    """The error for models that no node satisfies."""
    whole = table.as_one_class()
    failing = [model for model in models if not model.satisfied(whole).all()]
    model = next(iter(failing or models))  # if the whole table satisfies them all, so does the top
    return CannotReach(
        model.key,
        model.reached(whole),
        f"{model.key} with {model.required:g} cannot be reached by full-domain: no levels of the "
        f"columns satisfy it with at most {limit:,} rows suppressed; allow more suppression, relax "
        "the model, or choose another algorithm",
    )


@dataclass(frozen=True)
class Verdict:
    """What is known about a node.

    `dead`: the models are violated at all lower levels too. `above` and `below` are upper bounds on
    the worth of this node and of all nodes above or below it, if they are known.
    """

    worth: int | None  # None: a model is violated
    dead: bool = False
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
        self.first = [model for model in others if limit == 0 or model.is_monotone]
        self.later = [model for model in others if not (limit == 0 or model.is_monotone)]
        self.start = table.tally(bool(others))
        self.shape = tuple(tree.height for tree in table.trees)
        costs = exact_costs(loss, table.domains, table.rows, falling=True)
        both = list(zip(costs, table.domains, strict=True))
        possible = sum(int(cost @ domain.counts) for cost, domain in both)
        self.goal = make_goal(objective, loss.name, possible, table.rows, models)
        above = [kernels.lifted(tree.parent, tree.level, tree.height) for tree in table.trees]
        keeps = [cost[up] for cost, up in zip(costs, above, strict=True)]
        codes = table.unified[self.start.first]
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

    def __call__(self, level: Longs, enough: int | None = None) -> Verdict:
        """Judge a node; stop early if it is certainly worth less than `enough`."""
        classes = kernels.group_at(self.lattice, level, self.group)
        size = self.group.size[:classes]
        found = Found(size, self.group.people[:classes], self.group.keeps[:classes])
        above = self.goal.limit_above(found)
        stays = self.group.people[:classes] >= self.k
        if self.first and size[~stays].sum() <= self.limit:
            stays &= all_satisfied(self.first, self._merged(classes))
        if size[~stays].sum() > self.limit or not stays.any():
            return Verdict(None, dead=True, above=above)
        if self.limit == 0 and self._too_risky(stays):
            return Verdict(None, dead=True, above=above)
        below = self.goal.limit_below(found, stays)
        if self.later or self.of_table:
            if enough is not None and self.goal.hope(found, stays) < enough:
                return Verdict(None, above=above, below=below)
            stays = self._suppressed(stays)
            if not stays.any() or size[~stays].sum() > self.limit:
                return Verdict(None, above=above, below=below)
        return Verdict(self.goal.worth(found, stays), above=above, below=below)

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
            stays[left[: self._too_many(people[left])]] = False
        return stays

    def _too_many(self, people: Longs) -> int:
        """How many classes, which are sorted by size, must go until the others are not too risky.

        The smallest have the highest risk, so that the mean falls with each that goes.
        """
        rest = np.cumsum(people[::-1])[::-1]
        most = 0
        for model in self.of_table:
            level = np.cumsum(model.total(people)[::-1])[::-1] / rest
            fine = model.holds_each(level)
            most = max(most, int(np.argmax(fine)) if fine.any() else len(people))
        return most

    def published(self, level: Longs) -> tuple[Ints, Longs]:
        """The values of the classes of a node, and the class of each row (-1: suppressed)."""
        classes = kernels.group_at(self.lattice, level, self.group)
        stays = self.group.people[:classes] >= self.k
        if self.first:
            stays &= all_satisfied(self.first, self._merged(classes))
        if self.later or self.of_table:
            stays = self._suppressed(stays)
        number = np.where(stays, np.cumsum(stays) - 1, SUPPRESSED)
        vectors = self.group.value[:classes][stays].copy()
        return vectors, number[self.group.label[self.start.label]]

    def _merged(self, classes: int) -> Classes:
        """The classes of the current node, in the form that models check."""
        first = self.group.first[:classes]
        return self.start.merged(first[self.group.label], first)

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
        fails = np.zeros(len(stays), np.bool_)
        fails[label[rows[classes.first]]] = ~all_satisfied(self.later, classes)
        return fails


class LatticeSearch:
    """The state of a search: which nodes are decided, and the best one so far.

    An upper bound on the worth of every node is known from the start, and may decrease when a node
    below is checked. Nothing else is assumed, not even that a node above loses more.
    """

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.shape = judge.shape
        self.nodes = prod(self.shape)
        if self.nodes > LARGEST:
            raise BadPlan(
                f"full-domain: the lattice has {self.nodes:,} nodes, and at most "
                f"{LARGEST:,} can be searched; use fewer quasi-identifiers or hierarchies with "
                "fewer levels, or choose another algorithm"
            )
        self.most = judge.goal.limits(judge.levels, self.shape, judge.limit)
        self.done = np.zeros(self.shape, np.bool_)
        self.best: int | None = None
        self.worth = 0  # of the best node
        self.checked = 0

    def check(self, node: int) -> int | None:
        """Judge a node, and remember it if it is the best so far; returns its worth."""
        level = np.array(np.unravel_index(node, self.shape))
        self.done.flat[node] = True
        verdict = self.judge(level, None if self.best is None else self.worth)
        self.checked += 1
        above = tuple(slice(at, None) for at in level)
        below = tuple(slice(0, at + 1) for at in level)
        if verdict.dead:
            self.done[below] = True
        for where, most in ((above, verdict.above), (below, verdict.below)):
            if most is not None:
                part = self.most[where]
                np.minimum(part, most, out=part)
        if verdict.worth is not None and self._better(verdict.worth, node):
            self.best, self.worth = node, verdict.worth
        return verdict.worth

    def _better(self, worth: int, node: int) -> bool:
        if self.best is None or worth > self.worth:
            return True
        return worth == self.worth and node < self.best

    def descend(self, progress: Progress) -> None:
        """Find a good node: from the top, lower the column that gains most, while it gains."""
        progress("descending the lattice", 0.0)
        steps = np.cumprod([1, *self.shape[::-1]])[-2::-1]
        here, worth = self.nodes - 1, self.check(self.nodes - 1)
        while True:
            level = np.unravel_index(here, self.shape)
            lower = [here - int(step) for step, at in zip(steps, level, strict=True) if at > 0]
            found = []
            for node in lower:
                if not self.done.flat[node]:
                    progress("descending the lattice", 1 - sum(level) / max(sum(self.shape), 1))
                    reached = self.check(node)
                    if reached is not None:
                        found.append((reached, -node))
            if not found or (worth is not None and max(found)[0] < worth):
                return
            worth, here = max(found)[0], -max(found)[1]

    def prove(self, progress: Progress) -> None:
        """Check every node that could be better.

        In the order of their upper bounds, so roughly from high levels to low: where too many
        records are suppressed, the nodes below need no check. If every check also limits the nodes
        above, the middle goes first, then the middles of both halves.
        """
        most, done = self.most.ravel(), self.done.ravel()
        left = np.flatnonzero(~done if self.best is None else ~done & (most >= self.worth))
        left = left[np.lexsort((-left, most[left]))]
        if self.judge.goal.both_ways:
            left = left[middles_first(len(left))]
        last = perf_counter()
        for i, node in enumerate(left):
            if not done[node] and self._better(int(most[node]), int(node)):
                self.check(int(node))
            if perf_counter() - last > INTERVAL:
                last = perf_counter()
                progress("searching the lattice", i / len(left))
        progress("searching the lattice", 1.0)

    def recoding(self) -> Recoding:
        """The best node as a recoding, with a note on how it was found."""
        assert self.best is not None
        level = np.array(np.unravel_index(self.best, self.shape))
        vectors, record = self.judge.published(level)
        table = self.judge.table
        where = ", ".join(
            f"{name} {at} of {most - 1}"
            for name, at, most in zip(table.names, level, self.shape, strict=True)
        )
        note = (
            f"full-domain: {self._condition()}the best of all {self.nodes:,} combinations of "
            f"levels, proven by looking at {self.checked:,} of them; the objective "
            f"{self.judge.goal.describe(self.worth)}; the levels are {where}"
        )
        return Recoding(vectors, record, notes=(note,), levels=tuple(level.tolist()))

    def _condition(self) -> str:
        """What the proof depends on: which records are suppressed at a combination of levels."""
        rules, judge = [], self.judge
        if judge.later and judge.limit:
            keys = dict.fromkeys(model.key for model in judge.later)
            rules.append(
                f"the classes that violate {listed(list(keys))} are suppressed until none does, "
                "which depends on what else is published"
            )
        if judge.of_table and judge.limit:
            keys = dict.fromkeys(model.key for model in judge.of_table)
            rules.append(
                f"the smallest classes are suppressed until {listed(list(keys))} "
                f"{'is' if len(keys) == 1 else 'are'} satisfied"
            )
        if not rules:
            return ""
        return (
            f"given that at each combination {', and then '.join(rules)} (other choices of what to "
            "suppress were not searched), "
        )


def middles_first(many: int) -> Longs:
    """The numbers from 0 up in bit-reversed order, so that every prefix is evenly spread.

    >>> middles_first(8).tolist()
    [0, 4, 2, 6, 1, 5, 3, 7]
    """
    digits = max(many - 1, 1).bit_length()
    number, backwards = np.arange(many), np.zeros(many, np.int64)
    for i in range(digits):
        backwards |= ((number >> i) & 1) << (digits - 1 - i)
    return np.argsort(backwards)
