"""The greedy anonymization algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from shoal.algorithms import Algorithm
from shoal.algorithms._shared.boxes import Judge, Space, merge_failing
from shoal.base.arrays import Bools, Ints, Longs
from shoal.base.errors import BadPlan, CannotReach, did_you_mean
from shoal.base.pace import Pace
from shoal.base.progress import Progress, silent
from shoal.hierarchies.tree import Tree
from shoal.kernels import levels
from shoal.kernels.grouping import merge as merging
from shoal.kernels.grouping import strategy as choosing
from shoal.kernels.search import class_index as trie
from shoal.losses import Loss
from shoal.losses._integer_costs import exact_costs
from shoal.models import Model
from shoal.models.k_anonymity import KAnonymity
from shoal.table.encode import Table
from shoal.table.equivalence_classes import Classes, tally
from shoal.table.recoding import Recoding
from shoal.table.sensitive import Histogram

STRATEGIES = {
    "S2": (levels.DIVERSITY, choosing.FIRST_COST),
    "S3": (levels.DIVERSITY, choosing.FIRST_BADNESS),
    "S4": (levels.DIVERSITY, choosing.RATIO_OF_BOTH),
    "S5": (levels.CLOSENESS, choosing.FIRST_COST),
    "S6": (levels.CLOSENESS, choosing.FIRST_BADNESS),
    "S7": (levels.CLOSENESS, choosing.RATIO_OF_BOTH),
    "l-diversity": (levels.DIVERSITY, choosing.ONLY_BADNESS),
    "t-closeness": (levels.CLOSENESS, choosing.ONLY_BADNESS),
}

RARE = 0.02  # a column with more different values than this share of rows has many that are rare


class GAA(Algorithm):
    """Merges the smallest failing class with the class that costs least (Algorithm 1, Mauger 2023).

    `strategy` (Def. 17, Mauger 2023), where l is the entropy l-diversity of the table after the
    merge and t its distance in norm 1: S1 takes the least cost; S2 of those the greatest l, S3 the
    least cost among those with the greatest l, S4 the least cost / l; S5, S6 and S7 the same with
    the least t and cost × t; `l-diversity` and `t-closeness` take these alone. They look at the
    sensitive `column`, and at the whole table or only at the merged class (`scope`).

    `weight`: each side's cost counts `size` times (MC, Mauger 2020) or once (`unit`, Def. 6,
    Mauger 2023). `candidates`: partners among `all` classes, or among the `small` ones that
    still fail, as in Algorithm 1 of Mauger 2020, and all when none of those is left.
    """

    name: ClassVar[str] = "gaa"
    pace: ClassVar[float] = 0.1
    free_pace: ClassVar[float] = 10.0
    strategy: Literal["S1", "S2", "S3", "S4", "S5", "S6", "S7", "l-diversity", "t-closeness"] = "S1"
    scope: Literal["table", "class"] = "table"
    column: str | None = None
    weight: Literal["size", "unit"] = "size"
    candidates: Literal["all", "small"] = "all"
    free: ClassVar[bool] = True

    def serves(self, model: Model) -> bool:
        """Whether the algorithm can keep this promise: any that is about classes."""
        return not model.linkage

    def recode(
        self,
        table: Table,
        models: Sequence[Model],
        loss: Loss,
        rng: np.random.Generator,  # noqa: ARG002 (the merge leaves nothing to chance)
        progress: Progress = silent,
    ) -> Recoding:
        """Merge classes until none fails."""
        check_reachable(table, models)
        k, others = promised(models)
        watched = table.sensitive if others or self.strategy != "S1" else ()
        start = tally(table.unified, table.people, watched)
        rule, lists = self._rule(start)

        verdict = judge_by(others, start)
        if table.free:
            return self._merge_free(table, start, loss, k, verdict, progress)
        costs = exact_costs(loss, table.domains, table.rows)
        order = index_order(table, start, costs)
        vector, into = _merge(
            table, start, costs, order, k, self.weight == "size", self.candidates == "small",
            progress, verdict, rule, lists,
        )  # fmt: skip
        alive, number = np.unique(into, return_inverse=True)
        return Recoding(vectors=vector[alive], record=number[start.label])

    def _merge_free(
        self,
        table: Table,
        start: Classes,
        loss: Loss,
        k: int,
        judge: Judge | None,
        progress: Progress,
    ) -> Recoding:
        """Merge where some columns have free ranges or sets."""
        if self.strategy != "S1" or self.candidates != "all":
            raise BadPlan(
                "gaa: with free ranges or sets only the strategy S1 and all candidates are "
                f"possible; give {', '.join(table.free)} a tree, or leave these settings out"
            )
        space = Space.of(table, loss)
        by_size = self.weight == "size"
        size = start.size if by_size else np.ones_like(start.size)
        codes = table.unified[start.first]
        boxes = space.found(space.boxes(codes, table.covers), size, start.first)
        into = merge_failing(space, boxes, start.people, k, by_size, judge, progress)
        alive, number = np.unique(into, return_inverse=True)
        vectors, covers = space.vectors(boxes.box[alive])
        return Recoding(vectors, number[start.label], covers)

    def _rule(self, start: Classes) -> tuple[Longs, levels.Lists] | tuple[None, None]:
        """What the kernel has to know of the strategy."""
        if self.strategy == "S1":
            return None, None
        column = self.column
        if column is None:
            if len(start.histograms) != 1:
                raise BadPlan(
                    f"gaa: the strategy {self.strategy} looks at one sensitive column, but the "
                    f"table has {len(start.histograms)}: {', '.join(start.histograms) or 'none'}; "
                    "name one as column"
                )
            (column,) = start.histograms
        if column not in start.histograms:
            hint = did_you_mean(column, start.histograms)
            raise BadPlan(f"gaa: no sensitive column {column!r}{hint}")
        seen = start.histograms[column]
        kind, rule = STRATEGIES[self.strategy]
        lists = levels.make_lists(
            seen.start, seen.value, seen.count, seen.overall, 2 * len(start) + 8
        )
        levels.judge_all(lists, kind, start.size)
        return np.array([rule, kind, self.scope == "table"], np.int64), lists


def promised(models: Sequence[Model]) -> tuple[int, list[Model]]:
    """The k of k-anonymity, which kernels count by themselves, and the other promises."""
    k = max((model.k for model in models if isinstance(model, KAnonymity)), default=1)
    return k, [model for model in models if not isinstance(model, KAnonymity)]


def check_reachable(table: Table, models: Sequence[Model]) -> None:
    """Complain if even the whole table as one class breaks a promise: no partition does better."""
    _, others = promised(models)
    for model in models:
        k = getattr(model, "k", 0)
        if table.crowd < k:
            raise CannotReach(
                model.key,
                table.crowd,
                f"{model.key} with k={k} cannot be reached: the table has {table.crowd} "
                f"{'person' if table.crowd == 1 else 'people'}; {_instead(table.crowd)}",
            )
    if not others:
        return
    whole = tally(np.zeros((table.rows, 1), np.int32), table.people, table.sensitive)
    for model in others:
        if not model.satisfied(whole).all():
            best = model.reached(whole)
            raise CannotReach(model.key, best, model.out_of_reach(best))


def _instead(crowd: int) -> str:
    """What to ask of a table with too few people."""
    if crowd < 2:
        return "nobody can be hidden in it; add people"
    return f"the best k possible is {crowd}: ask for that, or add people"


def judge_by(models: Sequence[Model], start: Classes) -> Judge | None:
    """What says which merged classes keep these promises; None where there are none."""

    def judge(into: Longs, ids: Longs) -> Bools:
        classes = summaries(start, into, ids)
        passes = np.ones(len(ids), np.bool_)
        for model in models:
            passes &= model.satisfied(classes)
        return passes

    return judge if models else None


def summaries(start: Classes, into: Longs, ids: Longs) -> Classes:
    """The classes with these numbers, as models see them, when `start` was merged `into` them."""
    number = np.full(len(into), -1, np.int64)
    number[ids] = np.arange(len(ids))
    part = number[into]  # int64[starting classes]; -1: not asked for
    chosen = part >= 0
    size = np.bincount(part[chosen], start.size[chosen], len(ids)).astype(np.int64)
    people = np.bincount(part[chosen], start.people[chosen], len(ids)).astype(np.int64)
    histograms = {}
    for name, old in start.histograms.items():
        label = part[old.of_class]
        inside = label >= 0
        values = len(old.total)
        key = label[inside] * values + old.value[inside]
        pairs, place = np.unique(key, return_inverse=True)
        count = np.bincount(place, old.count[inside], len(pairs)).astype(np.int64)
        first = np.searchsorted(pairs, np.arange(len(ids) + 1) * values)
        value = (pairs % values).astype(np.int32)
        histograms[name] = Histogram(old.column, first, value, count, old.total)
    each = np.arange(len(ids))
    held = {name: old.merged(part, len(ids)) for name, old in start.holdings.items()}
    return Classes(each, start.first[ids], size, people, people, histograms, held)


def index_order(table: Table, start: Classes, costs: Sequence[Longs]) -> Longs:
    """The attributes in the order in which the index takes them.

    First those whose smallest step is dear, for they cut branches early; but an attribute with
    many values makes many branches, and in the worst case all of them have to be looked at.
    """
    worth = []
    for j, tree in enumerate(table.trees):
        used = np.unique(table.unified[start.first, j])
        steps = (costs[j] - costs[j][tree.parent])[used]
        least = int(steps[steps > 0].min()) if (steps > 0).any() else 0
        worth.append(least / np.log2(1 + len(used)))
    return np.argsort(-np.array(worth), kind="stable")


def _merge(
    table: Table,
    start: Classes,
    costs: Sequence[Longs],
    order: Longs,
    k: int,
    by_size: bool,
    only_small: bool,
    progress: Progress,
    judge: Judge | None = None,
    rule: Longs | None = None,
    lists: levels.Lists | None = None,
) -> tuple[Ints, Longs]:
    """Run the merge; the published values of each class, and the class each one ended up in."""
    n, q = len(start), len(order)
    more = judge is not None
    trees = flat_trees(table, costs, order)
    fan = max(tree.size for tree in table.trees)
    classes = trie.Classes(
        np.ascontiguousarray(table.unified[start.first][:, order]),  # int32[classes, q]
        start.size.copy(),
        start.first.copy(),
        np.zeros(n, np.bool_),
    )
    state = merging.Merge(
        into=np.arange(n),
        crowd=start.people.copy(),
        unjudged=np.zeros(n, np.bool_),
        heap=np.empty((n + 1, 3), np.int64),
        counts=np.zeros(5, np.int64),
    )
    work = trie.Work(
        np.empty((q + 1, 9), np.int64), np.zeros(q + 1, np.int64), np.zeros(2, np.int64)
    )
    go_on = merging.merge_by_cost if lists is None else merging.merge_by_rule
    index = trie.empty_index(n, len(trees.cost), 3 * n + 4 * q + 8, 4 * n + 2 * fan + 8 * q + 64)

    def more_room() -> trie.Index:
        room = 2 * len(index.node), 2 * len(index.pool) + 2 * fan
        grown: trie.Index = trie.grow_index(index, *room)
        return grown

    pace = Pace(1_000)
    while True:
        outcome = merging.start_merge(index, trees, classes, state, k, more, fan, pace.begin())
        progress("merging", 0.0)
        if outcome == merging.DONE:
            break
        if outcome == merging.NEEDS_ROOM:
            index = more_room()
        else:
            pace.end()
    waiting = max(int(state.counts[2] + state.counts[4]), 1)
    progress("merging", 0.0)
    pace = Pace(10_000)
    while True:
        outcome = go_on(
            index,
            trees,
            classes,
            lists,
            state,
            work,
            k,
            more,
            by_size,
            only_small,
            rule,
            fan,
            pace.begin(),
        )
        if outcome == merging.DONE:
            break
        if outcome == merging.NEEDS_ROOM:
            index = more_room()
        elif outcome == merging.JUDGE:
            assert judge is not None
            ids = np.flatnonzero(state.unjudged)
            passes = judge(merging.survivors(state.into.copy()), ids)
            merging.take_verdicts(index, classes, state, ids, passes)
        else:
            pace.end()
        progress("merging", max(0.0, 1.0 - int(state.counts[2] + state.counts[4]) / waiting))
    progress("merging", 1.0)
    vector = np.empty_like(classes.vector)
    vector[:, order] = classes.vector
    return vector, merging.survivors(state.into)


def flat_trees(table: Table, costs: Sequence[Longs], order: Longs) -> trie.Trees:
    """The hierarchies one after the other, in the order of the index."""
    trees = [table.trees[j] for j in order]
    return trie.Trees(
        start=np.concatenate([[0], np.cumsum([tree.size for tree in trees])]),
        parent=np.concatenate([tree.parent for tree in trees]),
        end=np.concatenate([tree.end for tree in trees]),
        cost=np.concatenate([costs[j] for j in order]),
        step=np.concatenate([cheapest_edges(table.trees[j], costs[j]) for j in order]),
        ahead=any(len(np.unique(table.unified[:, j])) > RARE * table.rows for j in order),
    )


def cheapest_edges(tree: Tree, cost: Longs) -> Longs:
    """The cost of the cheapest edge below each node."""
    step = np.full(tree.size, np.iinfo(np.int64).max)
    np.minimum.at(step, tree.parent[1:], (cost - cost[tree.parent])[1:])
    childless = np.bincount(tree.parent[1:], minlength=tree.size) == 0
    return np.where(childless, 0, step)
