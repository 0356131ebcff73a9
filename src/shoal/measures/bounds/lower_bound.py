"""A proven lower bound on the loss of every k-anonymous release of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from shoal.algorithms._shared.blocks.blocks import Blocks, BlockTables
from shoal.algorithms._shared.cells import (
    NONE,
    ceilings,
    cheapest_cells,
    common_falls,
    make_lattice,
    no_cells,
)
from shoal.algorithms._shared.layout import Layout
from shoal.algorithms._shared.relaxation.pricing import Pricing
from shoal.algorithms._shared.relaxation.solver import is_installed
from shoal.base.arrays import Longs
from shoal.base.errors import preview
from shoal.base.progress import Progress, silent
from shoal.kernels.group import group_rows
from shoal.kernels.search.cells import Lattice
from shoal.kernels.sorting import sort_rows
from shoal.losses import Loss, costs_of
from shoal.losses._integer_costs import LARGEST, exact_costs
from shoal.measures.bounds.model_bound import Caps, covered_by_bound, loss_with_model
from shoal.measures.bounds.relaxed_caps import relaxed_caps
from shoal.models import Model
from shoal.table.encode import Table
from shoal.table.equivalence_classes import tally

# Work is counted in looks at tuples; a core does about 120 million per second. A release gets LEAST
# and EACH: on 1,000,000 records resampled from Adult (224,123 tuples) that takes about as long as
# the whole run. There 190 million looks find what each record loses alone (0.880 %), 424 million
# more raise it to 1.151 %, the next 648 million to 1.262 %; `peel` loses 1.620 %.
MOST_LOOKS = 1_500_000_000
IN_PROPORTION = None  # LEAST looks, and EACH per distinct tuple
LEAST = 400_000_000
EACH = 4_000
HIGH = 20_000_000_000  # looks for the linear program: about two minutes on two cores
FEWEST = 100_000  # looks for a block of a table with `at_most`
GAIN = 0.01  # smallest relative gain that is worth another pass over all cells

NO_SOLVER = (
    "the solver HiGHS of scipy cannot be loaded, so that the linear program was solved "
    "approximately; reinstall scipy for its optimum"
)

Effort: TypeAlias = Literal["normal", "high"]


@dataclass(frozen=True)
class Bound:
    """A loss that no k-anonymous release can go below, in percent of alteration."""

    percent: float | None  # None: skipped
    reason: str = ""  # why it was skipped, or why it may be lower than it could be
    k: int = 0  # the smallest class, in people
    covers: tuple[str, ...] = ()  # the requirements that it accounts for, by key
    # Those of which it accounts for the class size alone, or for shares in fractions of records.
    covers_partly: tuple[str, ...] = ()
    does_not_cover: tuple[str, ...] = ()  # those that it does not account for
    beyond_size: tuple[str, ...] = ()  # those about sensitive values that it accounts for
    without_classes: bool = False  # whether it is for k people per record instead of classes

    @property
    def complete(self) -> bool:
        """Whether it accounts for everything that is required."""
        return not (self.covers_partly or self.does_not_cover)

    @property
    def accounted(self) -> list[str]:
        """The requirements that it accounts for, and those of which it does so in part."""
        return [*self.covers, *(f"{name} (in part)" for name in self._in_part)]

    @property
    def lacks(self) -> list[str]:
        """The requirements, or what of them, that it does not account for at all."""
        return [*self.does_not_cover, *(f"the rest of {name}" for name in self._by_size)]

    @property
    def releases(self) -> str:
        """Which releases it is about, in words.

        >>> Bound(0.9, k=5, beyond_size=("t-closeness[pay]",)).releases
        'with at least 5 people in every class and with t-closeness[pay]'
        >>> Bound(0.9, k=5).releases
        'with at least 5 people in every class'
        >>> Bound(0.9, k=5, without_classes=True).releases
        "in which no record has to be a person's with a probability above 1 / 5"
        """
        if self.without_classes:
            return (
                f"in which no record has to be a person's with a probability above 1 / {self.k:,}"
            )
        size = [f"at least {self.k:,} people in every class"] if self.k > 1 else []
        more = [_list(self.beyond_size)] if self.beyond_size else []
        return "with " + " and with ".join(size + more or ["classes"])

    @property
    def _in_part(self) -> list[str]:
        return [name for name in self.covers_partly if name in self.beyond_size]

    @property
    def _by_size(self) -> list[str]:
        return [name for name in self.covers_partly if name not in self.beyond_size]

    @property
    def scope(self) -> str:
        """Which requirements it accounts for and which not, in words that go next to the number.

        >>> Bound(0.9, k=5, covers=("k-anonymity",), does_not_cover=("t-closeness[pay]",)).scope
        'for k-anonymity (k = 5) alone; it does not account for t-closeness[pay]'
        """
        return self._scope() if self.percent is not None else ""

    @property
    def scope_of_each_k(self) -> str:
        """The same without class sizes, where it is said of several k.

        >>> bound = Bound(0.9, k=5, covers=("k-anonymity",), does_not_cover=("t-closeness[pay]",))
        >>> bound.scope_of_each_k
        'for k-anonymity alone; it does not account for t-closeness[pay]'
        """
        return self._scope(sizes=False)

    def _scope(self, sizes: bool = True) -> str:
        sizes = sizes and (self.k > 1 or not self.accounted)  # one person is no size to state
        accounted = [f"{name} (k = {self.k:,})" if sizes else name for name in self.covers]
        if (
            len(self.covers) > 1 and not self.without_classes
        ):  # each has its own k, or none; the bound is for the largest
            accounted = [*self.covers]
            accounted[-1] += f" (classes of at least {self.k:,} people)" if sizes else ""
        if self._by_size:
            whole = [name for name in self.covers if name in self.beyond_size]
            both = [*(name for name in self.covers if name not in whole), *self._by_size]
            size = f"the class size that {_list(both)} require{'s' * (len(both) == 1)}"
            accounted = [size + (f" (at least {self.k:,} people)" if sizes else ""), *whole]
        accounted += self.accounted[len(self.covers) :]
        if not accounted:
            accounted = [f"classes of at least {self.k:,} people" if sizes else "the class size"]
        lacking = f" alone; it does not account for {_list(self.lacks)}" if self.lacks else ""
        return f"for {_list(accounted)}{lacking}"

    def as_dict(self) -> dict[str, Any]:
        """By the names of the JSON file; `percent` is the older name of `value`."""
        found = {"value": self.percent, **asdict(self), "scope": self.scope}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in found.items()}


def _list(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def scoped(bound: Bound, models: Sequence[Model]) -> Bound:
    """The same bound, with which of these requirements it accounts for; of none if skipped.

    Of what `beyond_size` names, numbers of values are covered, and shares are in part.
    """
    if bound.percent is None:
        return bound
    whole, partly, none = [], [], []
    for model in models:
        beyond = model.class_needs(np.ones(1)) if model.key in bound.beyond_size else None
        by_factor = bound.without_classes and model.min_factor > 1
        if by_factor or model.only_class_size or (beyond is not None and beyond.distinct):
            whole.append(model.key)
        elif beyond is not None or model.min_people > 1:
            partly.append(model.key)
        else:
            none.append(model.key)
    whole, partly, none = (list(dict.fromkeys(keys)) for keys in (whole, partly, none))
    return replace(
        bound, covers=tuple(whole), covers_partly=tuple(partly), does_not_cover=tuple(none)
    )


def without_classes(bound: Bound) -> Bound:
    """The same bound for releases without classes that have a k-factor.

    The proof of `_together` needs no classes: no record of a k-factor keeps more than the mean cap
    of the people in it, of whom none has more than one k-th, and everybody is in it as a whole. So
    all records together keep no more than the sum of all caps.
    """
    return replace(bound, without_classes=True)


def lower_bound(
    table: Table,
    k: int,
    loss: Loss,
    most: int | None = MOST_LOOKS,
    progress: Progress = silent,
    effort: Effort = "normal",
    models: Sequence[Model] = (),
) -> Bound:
    """A loss that no release goes below if every class has k people and satisfies the models.

    Of the models those about sensitive values count for which the bound knows what a class needs
    (see `model_bound`), each by itself; `beyond_size` of the result names them.

    The search stops after `most` looks at tuples. They are counted, not timed, so the bound is the
    same on every machine. With `IN_PROPORTION` a large table gets more of them. With high effort
    the linear program over all groups of k records follows, up to `HIGH` looks.
    """
    search = _Search(k, most, progress, effort, models=tuple(models))
    return replace(_lower_bound(table, loss, search), k=k)


class _Search(NamedTuple):
    """How the least loss is searched for."""

    k: int
    most: int | None
    progress: Progress
    effort: Effort
    high: int = HIGH  # looks for the linear program
    models: tuple[Model, ...] = ()  # about sensitive values

    def looks(self, tuples: int) -> int:
        """How many looks a table with so many tuples gets."""
        return LEAST + EACH * tuples if self.most is None else self.most


def _lower_bound(table: Table, loss: Loss, search: _Search) -> Bound:
    """The least that records lose: each by its cheapest cell, then all of them together.

    In a k-anonymous release every record is published as a cell that covers records of at least k
    people, so none can lose less than by the cheapest such cell. (A person with records in several
    tuples of a cell is counted several times there: the bound may be lower, and is still valid.)
    """
    if table.person_count < search.k:
        return Bound(None, f"the table has {table.person_count} people, fewer than k={search.k}")
    if table.free:
        # A free set loses less than the root, which is all that a flat tree knows of it.
        return Bound(None, f"{preview(table.free)} may be published as free ranges or sets")
    for domain, cost in zip(table.domains, costs_of(loss, table.domains), strict=True):
        if (cost[domain.tree.parent] > cost + 1e-12).any():
            found = f"by {loss.name} a more general value of {domain.name!r} can cost less"
            return Bound(None, f"{found}, so no bound is known")
    costs = exact_costs(loss, table.domains, table.rows)
    weight = np.ones(len(table.codes), np.int64) if table.weight is None else table.weight
    own = sum((cost[table.codes[:, j]] for j, cost in enumerate(costs)), np.zeros_like(weight))
    possible = int((own * weight).sum())
    if possible == 0:
        return Bound(0.0)
    if table.tops:
        least = _in_blocks(table, costs, own * weight, search)
    else:
        least = _least_loss(table, costs, search)
    least, beyond = _with_models(table, costs, least, search)
    search.progress("bounding", 1.0)
    if least.whole:
        reason = NO_SOLVER if search.effort == "high" and not is_installed() else ""
        return Bound(100.0 * least.lost / possible, reason, beyond_size=beyond)
    if least.lost == 0:
        return Bound(None, "it would take too long: too many cells cover k people")
    reason = "the search was stopped early; expensive records may count too little"
    return Bound(100.0 * least.lost / possible, reason, beyond_size=beyond)


class _Least(NamedTuple):
    """The least that records lose, in the unit of the costs."""

    lost: float
    whole: bool  # whether the search was not stopped early
    caps: Caps | None = None  # what records keep at most; None: not known, or of blocks


def _with_models(
    table: Table, costs: Sequence[Longs], least: _Least, search: _Search
) -> tuple[_Least, tuple[str, ...]]:
    """The same for the model that makes records lose most, and the models that were considered.

    A model whose search was stopped early counts too if it raised the bound, which then holds for
    releases that satisfy it, and for no others.
    """
    beyond = []
    for model in search.models:
        if least.caps is None or not covered_by_bound(table, model):
            continue
        looks = search.looks(len(least.caps.size))
        lost, whole = loss_with_model(
            table, costs, model, search.k, least.caps, looks, search.progress
        )
        if whole or lost > least.lost:
            beyond.append(model.key)
        least = least._replace(lost=max(least.lost, lost), whole=least.whole and whole)
    return least, tuple(dict.fromkeys(beyond))


def _least_loss(table: Table, costs: Sequence[Longs], search: _Search) -> _Least:
    """The least that the records of a table lose if every class has k people."""
    start = tally(table.codes, table.people, (), table.weight)
    rows = Table(table.names, table.trees, table.codes, None, table.exact, weight=table.weight)
    layout = Layout.of(rows, start, costs)
    vector = layout.arranged(table.codes[start.first])
    rank = sort_rows(vector.T)  # neighbours lie together in memory
    size, people, vector = start.size[rank], start.people[rank], vector[rank].copy(order="C")
    lattice = make_lattice(layout, vector, people)
    if not lattice.own[:, -1].any():
        return _Least(0.0, True)
    known, left = _each_alone(lattice, search.k, search.looks(len(vector)), search.progress)
    if left <= 0:
        lost = float((known * size).sum())
        kept = lattice.own[:, -1] - known
        return _Least(lost, False, Caps(lost, kept.astype(np.float64), size, False))
    prices = Pricing(lattice, layout.trees, size, search.k)
    caps = _together(prices, known, left, search)
    return _Least(caps.lost, True, caps)


def _in_blocks(table: Table, costs: Sequence[Longs], own: Longs, search: _Search) -> _Least:
    """The same if no value beyond `at_most` may be published.

    A cell within `at_most` covers records of one block only, so each block has its own least loss.
    What is beyond, or in a block of fewer than k people, must be suppressed, and loses all that it
    has (`own`, for all records of a row). Records are judged one by one here, and not all of those
    of a person together: a release could be one that publishes them differently.
    """
    k, most = search.k, search.looks(len(group_rows(table.codes)[1]))
    blocks = Blocks.of(replace(table, people=None))
    people = _people_of(table, blocks)
    lost, whole = float(own[np.append(people < k, True)[blocks.label]].sum()), True
    plain = replace(table, sensitive=())
    plain.__dict__["domains"] = table.domains
    tables, done = BlockTables(plain, blocks, people >= k), 0
    for block, tuples in enumerate(tables.tuples.tolist()):
        part, tops = tables.table(block), tables.tops_of(block)
        below = [
            cost[top : top + tree.size]  # not above the top: who is in no class loses all of it
            for cost, top, tree in zip(costs, tops.tolist(), part.trees, strict=True)
        ]
        looks = max(FEWEST, most * tuples // len(tables.rows))
        high = max(FEWEST, search.high * tuples // len(tables.rows))
        own_search = search._replace(most=looks, progress=silent, high=high)
        found = _least_loss(part, below, own_search)
        lost, whole, done = lost + found.lost, whole and found.whole, done + tuples
        search.progress("bounding", done / len(tables.rows))
    return _Least(lost, whole)


def _people_of(table: Table, blocks: Blocks) -> Longs:
    """The people with a record in each block, int64[blocks]."""
    there = np.flatnonzero(blocks.label >= 0)
    label, weight = blocks.label[there], None if table.weight is None else table.weight[there]
    if table.people is not None:
        pairs, first = np.unique(table.people[there] * len(blocks) + label, return_index=True)
        label, weight = pairs % len(blocks), None if weight is None else weight[first]
    return np.bincount(label, weight, len(blocks)).astype(np.int64)


def _each_alone(lattice: Lattice, k: int, most: int, progress: Progress) -> tuple[Longs, int]:
    """What each tuple loses by the cheapest cell that covers k people, and the remaining looks."""
    n = len(lattice.vector)
    best = no_cells(lattice, k)
    known = np.zeros(n, np.int64)
    for ceiling in ceilings(int(lattice.own[:, -1].max())):
        report = partial(progress, "bounding", int((best.cost < NONE).sum()) / (2 * n))
        report()
        most -= cheapest_cells(lattice, best, ceiling, int(NONE), most, report)
        if most <= 0:
            break  # a cell that was found now need not be the cheapest
        known = np.minimum(best.cost, ceiling)  # a tuple without a cell pays more
        best.need[best.cost < NONE] = NONE  # a tuple with a cell searches no further
    return known, most


def _together(prices: Pricing, known: Longs, most: int, search: _Search) -> Caps:
    """The least that all records lose together, from what each loses: a dual of the best release.

    Let cap[r] be such that in every cell that covers k people the k lowest caps have a mean of no
    less than what the cell keeps. Then the members of any class of k and more keep no more than
    the sum of their caps: a class lies in a cell, and its mean cap is no less than that of the k
    lowest there. So no release keeps more than the sum of all caps. At first a cap is what the
    record keeps by its cheapest cell. If the k lowest have more than the cell keeps, all of them
    may fall by the difference, each by the least of its cells; this is repeated while it gains. No
    cap falls below zero, so a suppressed record, which keeps nothing, is counted correctly. Records
    far from all others gain most, as others must be generalized together with them. The best of
    all caps are the solution of a linear program, which is for high effort.
    """
    lattice, size, k = prices.lattice, prices.size, prices.k
    highest = int(lattice.own[:, -1].max())
    fine = max(1, LARGEST // (4 * int(size.sum()) * highest))  # a mean is no whole number
    fine_lattice = lattice._replace(cost=lattice.cost * fine, own=lattice.own * fine)
    own = fine_lattice.own[:, -1]
    cap = own - known * fine
    lost, left = int(((own - cap) * size).sum()), most
    while True:
        report = partial(search.progress, "bounding", 1 - left / (2 * most))
        fall, looks = common_falls(fine_lattice, size, cap, k, left, report)
        left -= looks
        if left <= 0:
            break  # the last falls may be too deep
        cap -= fall
        more = int((fall * size).sum())
        lost += more
        if more <= GAIN * lost:
            break
    if search.effort == "high":
        fine_prices = replace(prices, lattice=fine_lattice)
        alone = not all(model.only_class_size for model in search.models)
        cap = relaxed_caps(fine_prices, cap, search.high, search.progress, alone)
        lost = int(((own - cap) * size).sum())
    return Caps(lost / fine, cap / fine, size)
