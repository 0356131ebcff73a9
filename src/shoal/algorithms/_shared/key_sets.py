"""Key sets: attackers who know different columns, and every requirement holds for each of them.

A release that satisfies its requirements for an attacker who knows all columns does so for one who
knows some of them: their classes are unions of classes, and two classes that satisfy a model do so
together. But it loses more than necessary, as nobody knows all columns. So key sets are recoded one
after the other. Columns that an earlier set has decided stay as they are: a class of the next set
lies among records with the same published values of those. If they all belong to one earlier set,
these records are classes of that set, so that the next one can always be satisfied by generalizing
its own columns. The best of several orders, and of all columns at once, is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace

import numpy as np

from shoal.algorithms import Algorithm
from shoal.algorithms._shared.blocks.attacker_blocks import (
    KeySet,
    as_general_as_allowed,
    as_part,
    in_whole,
    publishable_rows,
)
from shoal.algorithms._shared.blocks.needed import (
    AT_MOST,
    allowed_records,
    needed,
    records_of,
    too_many,
)
from shoal.algorithms._shared.parts.cuts import WHOLE, Parting, taken
from shoal.algorithms._shared.population.satisfying import of_population
from shoal.algorithms._shared.recode import recode
from shoal.base.arrays import Bools, Floats, Ints, Longs
from shoal.base.errors import CannotReach
from shoal.base.progress import Progress, silent
from shoal.hierarchies.free_values import Covers
from shoal.hierarchies.tree import Tree
from shoal.kernels.group import group_rows
from shoal.losses import Loss, costs_of, know_costs, metric_costs
from shoal.losses._alterations import least_altered
from shoal.models import Model, TableModel
from shoal.table.allowed.at_most import if_any
from shoal.table.encode import Domain, Domains, Table
from shoal.table.equivalence_classes import tally
from shoal.table.recoding import MAY_DIFFER, NOT_USED, Recoding

BLOCK = "shoal block"  # the column that keeps records of different blocks apart
ORDERS = 4  # of key sets that are tried, at most


def recode_for(
    algorithm: Algorithm,
    table: Table,
    models: Sequence[Model],
    loss: Loss,
    rng: np.random.Generator,
    progress: Progress = silent,
    parting: Parting = WHOLE,
    known: Sequence[Sequence[str]] = (),
    suppression: float | None = None,
) -> Recoding:
    """Choose what is published of each record; `known` has the columns that each attacker knows.

    `suppression`: the share of the records that may be suppressed because of `at_most`; None: any.
    Classes that lose less may lose more in the end, where something else follows: then an algorithm
    that improves its classes does without that too, and what loses less is used.
    """
    follows = (
        known
        or of_population(table, models)
        or any(isinstance(model, TableModel) for model in models)
    )

    def find(algorithm: Algorithm, rng: np.random.Generator) -> Recoding:
        return _recode_for(
            algorithm, table, models, loss, rng, progress, parting, known, suppression
        )

    if not (algorithm.improves_longer and follows):
        return find(algorithm, rng)
    again = deepcopy(rng)
    better, plain = find(algorithm, rng), find(algorithm.with_share(0), again)
    if least_altered(table, [better, plain], loss) is better:
        return better
    ended = [note for note in better.notes if MAY_DIFFER in note]
    return replace(plain, notes=(*plain.notes, *ended, f"{algorithm.name}: {NOT_USED}"))


def _recode_for(
    algorithm: Algorithm,
    table: Table,
    models: Sequence[Model],
    loss: Loss,
    rng: np.random.Generator,
    progress: Progress,
    parting: Parting,
    known: Sequence[Sequence[str]],
    suppression: float | None,
) -> Recoding:
    """The same, with the effort of the algorithm."""
    if not known:
        return recode(algorithm, table, models, loss, rng, progress, parting, suppression)
    again = deepcopy(rng)  # all ways begin with the same random numbers
    found, beyond = [], None
    try:
        found.append(recode(algorithm, table, models, loss, rng, progress, parting, suppression))
    except CannotReach as error:
        if not table.tops:
            raise
        beyond = error  # who knows fewer columns may be kept away with less suppression
    sets = [frozenset(table.names.index(name) for name in names) for names in known]
    rows = _rows_within(table, models, sets, suppression)
    part = as_part(table, rows) if table.tops else table
    if rows.any():
        for one in _one_by_one(algorithm, part, models, loss, again, progress, parting, sets):
            found.append(in_whole(one, rows) if table.tops else one)
    if not found and beyond is not None:
        if algorithm.keeps_at_most or beyond.model != AT_MOST:
            raise beyond
        if not rows.any():
            share = 1.0 if suppression is None else suppression
            gone = needed(table, models, table.tops, sets)
            raise too_many(table, models, share, gone, sets)
        found.append(in_whole(as_general_as_allowed(part), rows))
    return least_altered(table, found, loss)


def _rows_within(
    table: Table, models: Sequence[Model], sets: Sequence[KeySet], suppression: float | None
) -> Bools:
    """The rows that `at_most` lets be published; none if too many would have to be suppressed."""
    if not table.tops:
        return np.ones(len(table.codes), np.bool_)
    rows = publishable_rows(table, models, table.tops, sets)
    most = table.rows if suppression is None else allowed_records(table, suppression)
    return rows if records_of(table, ~rows) <= most else np.zeros_like(rows)


def _one_by_one(
    algorithm: Algorithm,
    table: Table,
    models: Sequence[Model],
    loss: Loss,
    rng: np.random.Generator,
    progress: Progress,
    parting: Parting,
    sets: Sequence[KeySet],
) -> Iterator[Recoding]:
    """What several orders of the key sets find."""
    for steps in orders(sets):
        run = _OneByOne(algorithm, table, models, loss, progress, parting)
        try:
            one = run.recode(steps, deepcopy(rng))
        except CannotReach:  # an algorithm need not find what exists
            continue
        if one is not None and _satisfied(table, one, models, sets):
            yield one


def orders(sets: Iterable[KeySet]) -> list[list[KeySet]]:
    """Orders in which key sets can be recoded one after the other; none if that is one step.

    Sets within others are left out. Sets of which no order is possible are united, the two that
    share most columns first.

    >>> a, b, c = frozenset({0, 1}), frozenset({1, 2}), frozenset({0, 2})
    >>> [[sorted(step) for step in steps] for steps in orders([a, b])]
    [[[0, 1], [1, 2]], [[1, 2], [0, 1]]]
    >>> orders([a, b, c]), orders([a, frozenset({0, 1, 2})])
    ([], [])
    """
    largest = list(dict.fromkeys(one for one in sets if not any(one < other for other in sets)))
    while len(largest) > 1:
        found = [_order(largest, first) for first in range(min(len(largest), ORDERS))]
        if able := [steps for steps in found if steps is not None]:
            return able
        pairs = [(a, b) for i, a in enumerate(largest) for b in largest[:i]]
        most = max(pairs, key=lambda pair: len(pair[0] & pair[1]))
        united = [one for one in largest if one not in most] + [most[0] | most[1]]
        largest = [one for one in united if not any(one < other for other in united)]
    return []


def _order(sets: Sequence[KeySet], first: int) -> list[KeySet] | None:
    """All sets, each after those that it shares most with; None if one depends on several."""
    steps, left = [sets[first]], [one for i, one in enumerate(sets) if i != first]
    while left:
        decided = frozenset[int]().union(*steps)
        step = max(left, key=lambda one: len(one & decided))
        if not any(step & decided <= one for one in steps):
            return None
        steps.append(step)
        left.remove(step)
    return steps


def _satisfied(
    table: Table, recoding: Recoding, models: Sequence[Model], sets: Iterable[KeySet]
) -> bool:
    """Whether every requirement is satisfied for every attacker."""
    codes = recoding.codes()
    for one in sets:
        seen = np.ascontiguousarray(codes[:, sorted(one)])
        classes = tally(seen, table.people, table.sensitive, table.weight)
        if not all(model.check(classes).holds for model in models):
            return False
    return True


class _OneByOne:
    """Recodes key sets one after the other."""

    def __init__(
        self,
        algorithm: Algorithm,
        table: Table,
        models: Sequence[Model],
        loss: Loss,
        progress: Progress,
        parting: Parting,
    ) -> None:
        self.algorithm, self.table, self.models, self.loss = algorithm, table, models, loss
        self.progress, self.parting = progress, parting
        self.codes: Ints = np.zeros_like(table.codes)  # int32[n, q], what is published
        self.covers = [Covers(tree) for tree in table.trees]
        self.notes: list[str] = []
        self.levels: dict[int, int] = {}  # of columns that have the same for all records

    def recode(self, steps: Sequence[KeySet], rng: np.random.Generator) -> Recoding | None:
        """What is published of each record; None if this way is not possible."""
        decided: set[int] = set()
        for step in steps:
            own, fixed = sorted(step - decided), sorted(step & decided)
            if own and not self._decide(own, fixed, rng):
                return None
            decided |= step
        record, first, _ = group_rows(self.codes)
        covers = tuple(self.covers) if any(len(one) for one in self.covers) else ()
        every = len(self.levels) == len(self.covers)
        levels = tuple(self.levels[j] for j in sorted(self.levels)) if every else ()
        return Recoding(self.codes[first], record, covers, tuple(dict.fromkeys(self.notes)), levels)

    def _decide(self, own: list[int], fixed: list[int], rng: np.random.Generator) -> bool:
        """Publish these columns, within records with the same published values of the others."""
        block = _blocks(self.codes[:, fixed])
        part = only_columns(self.table, own, self.loss)
        if block is not None:
            part = _kept_apart(part, block, self.loss)
        found = recode(
            self.algorithm, part, self.models, self.loss, rng, self.progress, self.parting
        )
        if found.suppressed:  # then classes of other attackers would lose records
            return False
        self.notes += found.notes
        self.levels |= dict(zip(own, found.levels, strict=False))
        published = found.codes()
        for place, j in enumerate(own):
            self.codes[:, j] = published[:, place]
            if found.covers:
                self.covers[j] = found.covers[place]
        if block is None:
            return True
        torn = np.unique(block[published[:, -1] == 0])  # blocks with a class that has other records
        return self._each_alone(own, block, torn, rng)

    def _each_alone(
        self, own: list[int], block: Longs, torn: Longs, rng: np.random.Generator
    ) -> bool:
        """Recode blocks by themselves; False if that is not possible."""
        if not len(torn):
            return True
        free = any(self.table.names[j] in self.table.free for j in own)
        if self.table.people is not None or not self.algorithm.works_in_parts or free:
            return False
        part = only_columns(self.table, own, self.loss)
        for one in torn.tolist():
            rows = np.flatnonzero(block == one)
            found = recode(
                self.algorithm, taken(part, rows), self.models, self.loss, rng, self.progress
            )
            if found.suppressed:
                return False
            self.codes[rows[:, None], own] = found.codes()
        return True


def only_columns(table: Table, columns: Sequence[int], loss: Loss) -> Table:
    """The same records with these columns, which cost what they cost in the whole table."""
    costs = metric_costs(loss, table.domains)
    part = replace(
        table,
        names=tuple(table.names[j] for j in columns),
        trees=tuple(table.trees[j] for j in columns),
        codes=np.ascontiguousarray(table.codes[:, list(columns)]),
        exact=tuple(table.exact[j] for j in columns),
        importance=tuple(table.importance[j] for j in columns) if table.importance else (),
        tops=if_any(table.tops[j] for j in columns) if table.tops else (),
    )
    domains = Domains(table.domains[j] for j in columns)
    part.__dict__["domains"] = know_costs(loss, domains, [costs[j] for j in columns])
    return part


def _kept_apart(table: Table, block: Longs, loss: Loss) -> Table:
    """The same with the block of each record as a last column.

    To generalize it costs more than to generalize all others, so that algorithms avoid it.
    """
    whole = sum(float(np.abs(one).max()) for one in costs_of(loss, table.domains))
    tree = _flat(int(block.max()) + 1)
    node = (block + 1).astype(np.int32)
    high: Floats = np.full(tree.size, 2.0 * whole or 1.0)
    high[0] = 0.0
    counts = np.bincount(node, table.weight, tree.size).astype(np.int64)
    found = replace(
        table,
        names=(*table.names, BLOCK),
        trees=(*table.trees, tree),
        codes=np.concatenate([table.codes, node[:, None]], axis=1),
        exact=(*table.exact, True),
        importance=(*table.importance, 1.0) if table.importance else (),
        tops=(*table.tops, None) if table.tops else (),
    )
    domains = Domains([*table.domains, Domain(BLOCK, tree, counts)])
    found.__dict__["domains"] = know_costs(
        loss, domains, [*metric_costs(loss, table.domains), high]
    )
    return found


def _blocks(codes: Ints) -> Longs | None:
    """The number of each record's values, in their order; None: there are no columns."""
    if not codes.shape[1]:
        return None
    label, first, _ = group_rows(np.ascontiguousarray(codes))
    rank = np.empty(len(first), np.int64)
    rank[np.lexsort(codes[first].T[::-1])] = np.arange(len(first))
    found: Longs = rank[label]
    return found


def _flat(leaves: int) -> Tree:
    """A tree of a root and so many leaves, whose labels nobody reads."""
    size = leaves + 1
    end: Ints = np.arange(1, size + 1, dtype=np.int32)
    end[0] = size
    below = np.ones(size, np.int64)
    below[0] = leaves
    return Tree(tuple(map(str, range(size))), np.zeros(size, np.int32), end, below)
