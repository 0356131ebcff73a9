"""Full-domain generalization."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, prod
from time import perf_counter
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.algorithms import DEFAULT, Algorithm
from shoal.algorithms._shared.blocks.needed import AT_MOST, needed, records_of, share_for
from shoal.algorithms._shared.levels.judge import Judge
from shoal.algorithms._shared.requirements import check_reachable
from shoal.base.arrays import Longs
from shoal.base.errors import BadPlan, CannotReach, WayOut
from shoal.base.pace import INTERVAL
from shoal.base.progress import Progress, silent
from shoal.base.settings import Share
from shoal.base.wording import listed
from shoal.losses import Loss
from shoal.models import Model, TableModel
from shoal.table.encode import Table
from shoal.table.recoding import SUPPRESSED, Recoding

LARGEST = 2**24  # nodes of a lattice that fit into memory
PATIENCE = 300_000_000  # looks at tuples for the least that must be suppressed, for a message


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
    keeps_at_most: ClassVar[bool] = True
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

    def suppressing(self, share: float) -> FullDomain:
        """The same with this share, unless the option has one."""
        return self if self.suppression else self.model_copy(update={"suppression": share})

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
            raise self._out_of_reach(table, models, loss, limit, progress)
        return search.recoding()

    def _out_of_reach(
        self,
        table: Table,
        models: Sequence[Model],
        loss: Loss,
        limit: int,
        progress: Progress,
    ) -> CannotReach:
        """The error if no levels satisfy the models and `at_most`."""
        if not table.tops:
            return _out_of_reach(table, models, limit)
        gone = needed(table, models, table.tops)
        if gone == table.rows:
            check_reachable(table, models)
        every = Judge(table, models, loss, table.rows - 1, self.objective)
        least = LatticeSearch(every).fewest_suppressed(gone, progress)
        able, ways = "no levels comply, however many records are suppressed. Widen at_most", []
        if least is not None:
            ways.append(WayOut("suppression", value=share_for(table, least)))
            able = (
                f"with suppression = {share_for(table, least):g} there are levels that comply. "
                "Allow that, widen at_most"
            )
        other = ", or weaken the requirements"
        if gone < (table.rows if least is None else least):
            share = share_for(table, gone)
            ways.append(WayOut("algorithm", DEFAULT))
            other = f", or choose another algorithm, which needs suppression = {share:g}"
        return CannotReach(
            AT_MOST,
            (table.rows if least is None else least) / table.rows,
            f"at_most cannot be satisfied by full-domain with suppression = {self.suppression:g}, "
            f"as it publishes each column at one level in all records; {able}{other}",
        ).offering(*ways)


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
    ).offering(WayOut("algorithm", DEFAULT), WayOut("remove", model.key))


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
        if verdict.beyond:
            self.done[above] = True
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

    def fewest_suppressed(self, least: int, progress: Progress) -> int | None:
        """The fewest records that any levels suppress; None: nothing can be published at any.

        It is `least` or more. After `PATIENCE` looks at tuples, it is the fewest found so far. The
        limit of the judge changes: it falls whenever levels are found that comply.
        """
        fewest, done = None, self.done.ravel()
        left = PATIENCE // max(len(self.judge.start), 1)
        for i, node in enumerate(middles_first(self.nodes).tolist()):
            if left <= 0 or (fewest is not None and fewest <= least):
                break
            if done[node]:
                continue
            left -= 1
            progress("looking for levels that comply", i / self.nodes)
            if self.check(node) is not None:
                level = np.array(np.unravel_index(node, self.shape))
                _, record = self.judge.published(level)
                fewest = records_of(self.judge.table, record == SUPPRESSED)
                self.judge.limit = fewest - 1
                self.best = None  # otherwise levels that lose more would not be looked at
        return fewest

    def recoding(self) -> Recoding:
        """The best node as a recoding, with a note on how it was found."""
        assert self.best is not None
        level = np.array(np.unravel_index(self.best, self.shape))
        vectors, record = self.judge.published(level)
        table = self.judge.table
        where = ", ".join(
            f"{name} {at} of {tree.height - 1}"
            for name, at, tree in zip(table.names, level, table.trees, strict=True)
        )
        note = (
            f"full-domain: {self._condition()}the best of all {self.nodes:,} combinations of "
            f"levels{' within at_most' if table.tops else ''}, proven by looking at "
            f"{self.checked:,} of them; the objective {self.judge.goal.describe(self.worth)}; "
            f"the levels are {where}"
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
