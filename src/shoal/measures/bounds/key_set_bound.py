"""The lower bound on the loss if attackers know different columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shoal.algorithms._shared.blocks.attacker_blocks import KeySet
from shoal.algorithms._shared.key_sets import only_columns, orders
from shoal.base.progress import Progress, silent
from shoal.losses import Loss, costs_of
from shoal.measures.bounds.lower_bound import MOST_LOOKS, Bound, Effort, lower_bound
from shoal.models import Model
from shoal.table.encode import Table


def lower_bound_for(
    table: Table,
    k: int,
    loss: Loss,
    most: int | None = MOST_LOOKS,
    progress: Progress = silent,
    known: Sequence[Sequence[str]] = (),
    models: Sequence[Model] = (),
    effort: Effort = "normal",
) -> Bound:
    """A loss that no release goes below if, for each attacker, every class has k people.

    If an attacker knows all columns, `models` about sensitive values count too (see
    `lower_bound`); otherwise only the class size does.
    `known` has the columns that each attacker knows. A release that is k-anonymous for an attacker
    is so for one who knows fewer columns. So of disjoint sets of columns, each within a key set,
    none can lose less than its own bound, and together they lose no less than the sum.
    """
    if not known or any(set(names) >= set(table.names) for names in known):
        return lower_bound(table, k, loss, most, progress, effort, models)
    sets = [frozenset(table.names.index(name) for name in names) for names in known]
    ways = orders(sets)
    if not ways:  # they depend on each other in a circle
        ways = [[one] for one in sets]
    each: dict[KeySet, Bound] = {}
    found = [_of_steps(table, k, loss, most, progress, steps, each, effort) for steps in ways]
    return max(found, key=lambda one: -1.0 if one.percent is None else one.percent)


def _of_steps(
    table: Table,
    k: int,
    loss: Loss,
    most: int | None,
    progress: Progress,
    steps: Sequence[KeySet],
    each: dict[KeySet, Bound],
    effort: Effort,
) -> Bound:
    """The sum of the bounds of the columns that each step adds."""
    lost, reasons, decided = 0.0, [], frozenset[int]()
    for step in steps:
        own = step - decided
        decided |= step
        if own and own not in each:
            part = only_columns(table, sorted(own), loss)
            each[own] = lower_bound(part, k, loss, most, progress, effort)
        if not own:
            continue
        bound = each[own]
        if bound.percent is None:
            reasons.append(bound.reason)
            continue
        lost += bound.percent * _possible(table, own, loss)
        reasons += [bound.reason] if bound.reason else []
    whole = _possible(table, frozenset(range(len(table.names))), loss)
    reason = "; ".join(dict.fromkeys(reasons))
    if lost == 0.0 and reasons:
        return Bound(None, reason, k)
    return replace(Bound(lost / whole if whole else 0.0, reason), k=k)


def _possible(table: Table, columns: KeySet, loss: Loss) -> float:
    """The loss if these columns are suppressed in all records."""
    costs = costs_of(loss, table.domains)
    return sum(float(costs[j] @ table.domains[j].counts) for j in columns)
