"""How many records must be suppressed because of `at_most`, and what would need fewer."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor

import numpy as np

from shoal.algorithms._shared.blocks.attacker_blocks import KeySet, publishable_rows
from shoal.algorithms._shared.blocks.blocks import Blocks
from shoal.algorithms._shared.requirements import check_reachable
from shoal.base.arrays import Bools
from shoal.base.errors import CannotReach, WayOut
from shoal.base.wording import listed, many
from shoal.hierarchies.free_values import FreeTree
from shoal.hierarchies.tree import Tree
from shoal.models import Model
from shoal.table.allowed.at_most import AtMost, Tops, tops_of
from shoal.table.encode import Table

AT_MOST = "at_most"  # in errors, instead of the name of a model
PROPOSED = 3  # columns whose wider limits a message shows
CHOICES = 12  # limits of a column that are tried for it


def records_of(table: Table, rows: Bools) -> int:
    """The number of records that these rows stand for."""
    return int(np.count_nonzero(rows) if table.weight is None else table.weight[rows].sum())


def allowed_records(table: Table, suppression: float) -> int:
    """The largest number of records that may be suppressed."""
    return floor(suppression * table.rows + 1e-9)


def share_for(table: Table, records: int) -> float:
    """A short number for a `suppression` that allows so many records."""
    return ceil(Fraction(records, table.rows) * 10_000) / 10_000


def check_suppression(
    table: Table,
    blocks: Blocks,
    published: Bools,
    models: Sequence[Model],
    suppression: float | None,
) -> None:
    """Raise an error if more records must be suppressed than a plan allows; None: any number."""
    gone = records_of(table, ~np.append(published, False)[blocks.label])
    most = table.rows - 1 if suppression is None else allowed_records(table, suppression)
    if gone > most or gone == table.rows:
        raise too_many(table, models, 1.0 if suppression is None else suppression, gone)


def needed(
    table: Table,
    models: Sequence[Model],
    tops: Sequence[Tops | None],
    sets: Sequence[KeySet] = (),
) -> int:
    """The records that must be suppressed so that the others comply and satisfy the models.

    `sets`: the columns that each of several attackers knows; none: one knows all of them.
    """
    return records_of(table, ~publishable_rows(table, models, tops, sets))


def too_many(
    table: Table,
    models: Sequence[Model],
    suppression: float,
    gone: int,
    sets: Sequence[KeySet] = (),
) -> CannotReach:
    """The error if `gone` records would have to be suppressed, with what is possible."""
    if gone == table.rows:
        try:
            check_reachable(table, models)
        except CannotReach as error:  # wider limits would not help
            return error
    least = all(model.only_class_size for model in models)
    keys = listed(list(dict.fromkeys(model.key for model in models)))
    why = f"too few people may be published with the same values to satisfy {keys}"
    if not least:
        why = f"what may be published with the same values cannot satisfy {keys}"
    message = (
        f"{_limits(table)} cannot be satisfied with suppression = {suppression:g}: "
        f"{'at least ' if least else ''}{gone:,} of {many(table.rows, 'record')} "
        f"({_share_of(table, gone)}) would have to be suppressed, as {why}; "
        f"{_contributions(table, models, gone, sets)}"
        f"{_instead(table, models, suppression, gone, sets)}"
    )
    refused = CannotReach(AT_MOST, gone / table.rows, message)
    if gone == table.rows:
        return refused
    return refused.offering(WayOut("suppression", value=share_for(table, gone)))


def _limits(table: Table) -> str:
    """What limits the published values, in words."""
    fixed = [
        repr(name)
        for name, tops in zip(table.names, table.tops, strict=True)
        if tops is not None and tops.fixed
    ]
    if not fixed:
        return AT_MOST
    exact = f"exact values of {listed(fixed)} (derive)"
    other = any(tops is not None and not tops.fixed for tops in table.tops)
    return f"{AT_MOST} and {exact}" if other else exact


def _contributions(table: Table, models: Sequence[Model], gone: int, sets: Sequence[KeySet]) -> str:
    """Which column needs most of it."""
    without = {}
    for j, tops in enumerate(table.tops):
        if tops is not None and not tops.fixed:
            others = [None if i == j else one for i, one in enumerate(table.tops)]
            without[j] = needed(table, models, others, sets)
    if len(without) < 2:
        return ""
    most = min(without, key=lambda j: (without[j], j))
    if without[most] == gone:
        return "no single column is the reason; "
    rest = _share_of(table, without[most])
    return f"{table.names[most]!r} contributes most: without its at_most it would be {rest}; "


def _instead(
    table: Table,
    models: Sequence[Model],
    suppression: float,
    gone: int,
    sets: Sequence[KeySet],
) -> str:
    """What would be possible: more suppression, or wider limits."""
    spare = min(allowed_records(table, suppression), table.rows - 1)
    wider = _Wider(table, models, spare, sets)
    proposals = [one for j in wider.choices if (one := wider.alone(j)) is not None]
    more = f"allow suppression = {share_for(table, gone):g}, or " if gone < table.rows else "use "
    if proposals:
        return f"{more}one of: {'; '.join(proposals[:PROPOSED])}"
    if wider.choices and (together := wider.together()) is not None:
        return f"{more}{together}, as no single column is enough"
    return f"{more}weaken the requirements: wider limits are not enough"


class _Wider:
    """Wider limits with which no more than `spare` records must be suppressed."""

    def __init__(
        self, table: Table, models: Sequence[Model], spare: int, sets: Sequence[KeySet]
    ) -> None:
        self.table, self.models, self.spare, self.sets = table, models, spare, sets
        # Per limited column its limits from narrow to wide, the present one first, the last none.
        self.choices: dict[int, list[Tops | None]] = {}
        for j, tops in enumerate(table.tops):
            if tops is not None and not tops.fixed:
                limits = wider_limits(tops, table.trees[j])
                step = max(1, len(limits) // CHOICES)
                found = [tops_of(one, tops.hierarchy, table.trees[j]) for one in limits[::step]]
                real = [one for one in found if not one.without_effect]
                self.choices[j] = [tops, *real, None]

    def needed(self, at: dict[int, int]) -> int:
        """The records that must be suppressed with these choices; of other columns the first."""
        tops = list(self.table.tops)
        for j, place in at.items():
            tops[j] = self.choices[j][place]
        return needed(self.table, self.models, tops, self.sets)

    def alone(self, j: int) -> str | None:
        """The narrowest limit of one column that is enough; None: there is none."""
        places = range(len(self.choices[j]))
        if all(model.only_class_size for model in self.models):
            # A wider limit needs no more records, so it is found by halving.
            place = bisect_left(places, True, key=lambda i: self.needed({j: i}) <= self.spare)
            return self._words({j: place}) if place < len(places) else None
        enough = (i for i in places if self.needed({j: i}) <= self.spare)
        return next((self._words({j: i}) for i in enough), None)

    def together(self) -> str | None:
        """Wider limits of several columns, of which none could be narrower; None: there are none.

        First each step widens the limit where that helps most, and among equals the narrowest. As
        single steps may not help, some may have gone too far.
        """

        def order(at: dict[int, int]) -> tuple[int, float]:
            return self.needed(at), max(place / len(self.choices[j]) for j, place in at.items())

        at = dict.fromkeys(self.choices, 0)
        while self.needed(at) > self.spare:
            steps = [at | {j: at[j] + 1} for j in at if at[j] + 1 < len(self.choices[j])]
            if not steps:
                return None
            at = min(steps, key=order)
        for j in at:
            while at[j] and self.needed(at | {j: at[j] - 1}) <= self.spare:
                at[j] -= 1
        return self._words({j: place for j, place in at.items() if place})

    def _words(self, at: dict[int, int]) -> str:
        said = []
        for j, place in at.items():
            tops = self.choices[j][place]
            words = "no at_most" if tops is None else f"at_most = {tops.at_most}"
            said.append(f"{self.table.names[j]!r} with {words}")
        return f"{' and '.join(said)} ({_share_of(self.table, self.needed(at))} suppressed)"


def wider_limits(tops: Tops, tree: Tree) -> list[AtMost]:
    """The limits wider than the one of a column that allow more, from narrow to wide."""
    at_most = tops.at_most
    if isinstance(tree, FreeTree):
        return _wider_ranges(at_most, tree)
    if at_most.width is None:
        levels = range((at_most.level or 0) + 1, tree.height)
        return [AtMost(level=level) for level in levels]
    reaches = {at_most.reach(tops.hierarchy, label) for label in tree.labels if label is not None}
    wider = sorted(one for one in reaches if one is not None and one > at_most.most)
    return [AtMost(width=width) for width in wider]


def _wider_ranges(at_most: AtMost, tree: FreeTree) -> list[AtMost]:
    """Widths of free ranges, each about twice as wide as the one before."""
    if tree.kind != "ranges" or not tree.numbers:
        return []
    span = tree.numbers[-1] - tree.numbers[0]
    steps = [b - a for a, b in zip(tree.numbers, tree.numbers[1:], strict=False)]
    width = at_most.width or min(steps, default=Fraction(0))
    found = []
    while 0 < width < span:
        width *= 2
        found.append(AtMost(width=width))
    return found


def _share_of(table: Table, records: int) -> str:
    return f"{100 * records / table.rows:.3g} %"
