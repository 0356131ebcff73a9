"""The cheapest cell of every tuple that covers enough people: an iceberg cube with bounds.

A cell is one node of each hierarchy, and covers the tuples whose values are below. The search
fixes one attribute after the other. The current tuples are sorted by the attribute. As values are
numbered in preorder, the tuples of each node are then a run of neighbours, level by level from fine
to coarse. A run is skipped if it has too few people, as all finer runs have fewer; if it costs each
of its tuples more than the best known cell; or if the level below has the same run, at a lower
cost.

The runs of a level have no tuple in common. So threads can share them, and the search continues
with the next level when all of them are done: `search_cells` puts off short runs, which are then
forks with a stack of their own, and `search_forks` continues with these.

A cell that covers too few people may borrow tuples that their class can spare. The loss of these
tuples is added to the price, in equal parts for all tuples that were not yet in a class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import lean_kernel
from shoal.kernels.search.tuple_index import covered, join

DONE, PAUSED, STOPPED, FORKED = 0, 1, 2, 3
# The places of CellSearch.at: the depth, whether its tuples must be sorted, visits, other steps,
# the depth at which the search is done, the longest run that becomes a fork, the number of forks.
DEPTH, ENTER, LOOKS, STEPS, FLOOR, SHORT, FORKS = range(7)
MANY = np.int64(1) << 61
FEW = 24  # tuples that are sorted by insertion


class Lattice(NamedTuple):
    """The hierarchies, and the tuples to search for."""

    start: np.ndarray  # int64[q + 1], where an attribute's nodes begin
    end: np.ndarray  # int32[nodes]
    cost: np.ndarray  # int64[nodes], cost from the node to the root
    height: np.ndarray  # int64[q], levels of each attribute
    level: np.ndarray  # int32[nodes], longest way down to a leaf
    climb: np.ndarray  # int32[levels, nodes], the highest ancestor up to this level
    vector: np.ndarray  # int32[tuples, q]
    own: np.ndarray  # int64[tuples, q], cost to the root of the values up to this one
    lowest: np.ndarray  # int64[q], the lowest of these
    keeps: np.ndarray  # int64[levels, q], the most that a value keeps at a level
    people: np.ndarray  # int64[tuples]


class Best(NamedTuple):
    """The best cell of each tuple so far."""

    cost: np.ndarray  # int64[tuples]; only lower costs replace it
    level: np.ndarray  # int32[tuples, q], its levels
    need: np.ndarray  # int64[tuples] that it must cover
    spare: np.ndarray  # int64[tuples], what a tuple keeps that its class can spare; -1: it cannot


class CellSearch(NamedTuple):
    """The state of a search, so that it can pause and continue."""

    tuples: np.ndarray  # int64[m], the tuples that count, in any order
    spare: np.ndarray  # int64[m]
    counts: np.ndarray  # int64[most nodes of a tree + 1]
    stack: np.ndarray  # int64[q + 1, 5]: from, to, level, next run, cost of the cell so far
    at: np.ndarray  # int64[7], see DEPTH and the others
    fork_stack: np.ndarray  # int64[forks, q + 1, 5], the same for each fork
    fork_at: np.ndarray  # int64[forks, 7]


@lean_kernel
def sort_run(lattice, search, lo, hi, j):
    """Sort the tuples from lo to hi by attribute j."""
    tuples, vector = search.tuples, lattice.vector
    if hi - lo <= FEW:
        for i in range(lo + 1, hi):
            x = tuples[i]
            value = vector[x, j]
            to = i - 1
            while to >= lo and vector[tuples[to], j] > value:
                tuples[to + 1] = tuples[to]
                to -= 1
            tuples[to + 1] = x
        return
    spare, counts = search.spare, search.counts
    nodes = lattice.start[j + 1] - lattice.start[j]
    search.at[STEPS] += nodes
    for value in range(nodes + 1):
        counts[value] = 0
    for i in range(lo, hi):
        counts[vector[tuples[i], j] + 1] += 1
    for value in range(nodes):
        counts[value + 1] += counts[value]
    for i in range(lo, hi):
        x = tuples[i]
        value = vector[x, j]
        spare[counts[value]] = x
        counts[value] += 1
    for i in range(hi - lo):
        tuples[lo + i] = spare[i]


@lean_kernel
def add_fork(search, depth, begin, to, keeps):
    """Put off the run from `begin` to `to`, which fixes all attributes before `depth`."""
    fork = search.at[FORKS]
    search.at[FORKS] += 1
    stack, at = search.fork_stack[fork], search.fork_at[fork]
    for j in range(depth):
        stack[j, 2] = search.stack[j, 2]
    stack[depth, 0], stack[depth, 1], stack[depth, 2] = begin, to, 0
    stack[depth, 3], stack[depth, 4] = begin, keeps
    at[DEPTH], at[ENTER], at[LOOKS], at[STEPS] = depth, 1, 0, 0
    at[FLOOR], at[SHORT], at[FORKS] = depth, 0, 0


@lean_kernel
def search_cells(lattice, best, search, ceiling, reach, budget, most):
    """Find the cheapest cell of every tuple, up to a cost of `ceiling`.

    The cell covers as many people as the tuple needs, counting those for whom it costs at most
    `reach`. Among equally cheap cells it has the lowest levels, in the order of the attributes.
    Pauses after `budget` visits of tuples, and stops after `most`. After a level with forks it
    waits until they are done.
    """
    vector, own, people_of, climb = lattice.vector, lattice.own, lattice.people, lattice.climb
    tuples, stack, spare = search.tuples, search.stack, best.spare
    q = vector.shape[1]
    depth, enter, looks = search.at[DEPTH], search.at[ENTER] == 1, search.at[LOOKS]
    pause = looks + search.at[STEPS] + budget
    floor, short = search.at[FLOOR], search.at[SHORT]
    lo, hi, at_level, pos, kept = (
        stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3], stack[depth, 4],
    )  # fmt: skip
    start = lattice.start[depth]
    while True:
        if enter:
            enter = False
            sort_run(lattice, search, lo, hi, depth)
            start = lattice.start[depth]
            at_level, pos = np.int64(0), lo
            looks += hi - lo
        if pos >= hi:
            if search.at[FORKS] > 0:
                search.at[DEPTH], search.at[ENTER], search.at[LOOKS] = depth, 0, looks
                stack[depth, 0], stack[depth, 1], stack[depth, 2] = lo, hi, at_level
                stack[depth, 3], stack[depth, 4] = pos, kept
                return FORKED
            at_level += 1
            pos = lo
            # At higher levels every cell may cost more than the ceiling.
            if (
                at_level == lattice.height[depth]
                or lattice.lowest[depth] - kept - lattice.keeps[at_level, depth] > ceiling
            ):
                if depth == floor:
                    search.at[LOOKS] = looks
                    return DONE
                depth -= 1
                start = lattice.start[depth]
                lo, hi, at_level, pos, kept = (
                    stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3],
                    stack[depth, 4],
                )  # fmt: skip
            elif looks + search.at[STEPS] >= pause or looks >= most:
                search.at[DEPTH], search.at[ENTER], search.at[LOOKS] = depth, 0, looks
                stack[depth, 0], stack[depth, 1], stack[depth, 2] = lo, hi, at_level
                stack[depth, 3], stack[depth, 4] = pos, kept
                return PAUSED if looks < most else STOPPED
            continue
        value = vector[tuples[pos], depth]
        node = climb[at_level, start + value]
        if lattice.level[start + node] > at_level:  # an original value above this level
            while pos < hi and vector[tuples[pos], depth] == value:
                pos += 1
            continue
        stop = lattice.end[start + node]
        keeps = kept + lattice.cost[start + node]
        people = np.int64(0)
        spared, kept_of_spared, least_kept = np.int64(0), np.int64(0), MANY
        least = MANY  # the lowest need of a tuple that could gain
        to = pos
        while to < hi:
            x = tuples[to]
            if vector[x, depth] >= stop:
                break
            price = own[x, depth] - keeps
            if spare[x] >= 0:
                if price <= reach:
                    spared += people_of[x]
                    kept_of_spared += people_of[x] * spare[x]
                    least_kept = min(least_kept, spare[x])
                to += 1
                continue
            if price <= reach:
                people += people_of[x]
            if price < best.cost[x] and price <= ceiling:
                least = min(least, best.need[x])
            to += 1
        begin, pos = pos, to
        looks += to - begin
        if people + spared < least:
            continue
        if people < least:
            # Finer cells have fewer people and borrow more, from tuples that keep most.
            gains = False
            for i in range(begin, to):
                x = tuples[i]
                price = own[x, depth] - keeps
                extra = least_kept - keeps - (own[x, q - 1] - own[x, depth])
                if extra > 0:
                    price += (least - people) * extra // people
                if spare[x] < 0 and price < best.cost[x] and price <= ceiling:
                    gains = True
                    break
            if not gains:
                continue
        if at_level > 0:
            last = climb[at_level - 1, start + vector[tuples[to - 1], depth]]
            same = climb[at_level - 1, start + value] == last
            if same and lattice.level[start + last] < at_level:
                continue
        stack[depth, 2] = at_level
        if depth == q - 1:
            for i in range(begin, to):
                x = tuples[i]
                if spare[x] >= 0 or people + spared < best.need[x]:
                    continue
                price = own[x, depth] - keeps
                if people < best.need[x]:
                    extra = max(0, kept_of_spared // spared - keeps)
                    price += (best.need[x] - people) * extra // people
                if price < best.cost[x] and price <= ceiling:
                    best.cost[x] = price
                    for j in range(q):
                        best.level[x, j] = stack[j, 2]
            continue
        if to - begin <= short:
            add_fork(search, depth + 1, begin, to, keeps)
            continue
        stack[depth, 0], stack[depth, 1], stack[depth, 3], stack[depth, 4] = lo, hi, pos, kept
        depth += 1
        lo, hi, kept = begin, to, keeps
        enter = True


@lean_kernel
def search_forks(lattice, best, search, ceiling, reach, forks, most, state, budget):
    """Continue with some forks, one after the other, up to `most` visits of each.

    `forks` are their numbers, and `state` is int64[2]: the next of them, and where they end. Marks
    those that are done by a depth of -1.
    """
    while state[0] < state[1]:
        fork = forks[state[0]]
        at = search.fork_at[fork]
        one = CellSearch(
            search.tuples, search.spare, search.counts, search.fork_stack[fork], at,
            search.fork_stack, search.fork_at,
        )  # fmt: skip
        before = at[LOOKS] + at[STEPS]
        outcome = search_cells(lattice, best, one, ceiling, reach, budget, most[state[0]])
        budget -= at[LOOKS] + at[STEPS] - before
        if outcome == PAUSED:
            return PAUSED
        if outcome == DONE:
            at[DEPTH] = -1
        state[0] += 1
    return DONE


@lean_kernel
def borrow(lattice, best, keeps, lacking, spares, used):
    """Choose spare tuples to make up for the lacking people, those that lose least first.

    They are moved to the front of `spares`, which has `used` tuples; returns how many, and their
    loss.
    """
    chosen, loss = 0, np.int64(0)
    while lacking > 0 and chosen < used:
        least = chosen
        for i in range(chosen + 1, used):
            if best.spare[spares[i]] < best.spare[spares[least]]:
                least = i
        y = spares[least]
        for i in range(least, chosen, -1):  # the others keep their order
            spares[i] = spares[i - 1]
        spares[chosen] = y
        chosen += 1
        lacking -= lattice.people[y]
        loss += lattice.people[y] * max(0, best.spare[y] - keeps)
    return chosen if lacking <= 0 else -1, loss


@lean_kernel
def set_spare(trees, lattice, best, found, used, surplus, cell):
    """Mark the tuples that their class can spare: the first ones, up to the surplus."""
    q = len(cell)
    for j in range(q):
        cell[j] = lattice.vector[found[0], j]
    for f in range(1, used):
        join(trees, cell, lattice.vector[found[f]])
    keeps = np.int64(0)
    for j in range(q):
        keeps += lattice.cost[lattice.start[j] + cell[j]]
    for f in range(used):
        y = found[f]
        if lattice.people[y] <= surplus:
            surplus -= lattice.people[y]
            best.spare[y] = keeps


@lean_kernel
def take_cells(
    tuples, trees, lattice, best, reach, lend, wanted, number, taken, stack, found, spares, cell,
    at, budget,
):  # fmt: skip
    """Assign cells to the tuples that want theirs, one after the other; at[0] is the next tuple.

    All remaining tuples in a cell for which it costs at most `reach` join it, if they and the
    tuples that they can borrow still have enough people at that price. `tuples` is the prefix tree
    of the tuples that remained before, with their numbers in `number`. Writes the requesting tuple
    into taken[x] of all tuples x that join. Classes `lend` their surplus. `cell` is int32[q],
    `stack` int64[q, 2]. Pauses after `budget` visits.
    """
    q = len(cell)
    while at[0] < len(wanted):
        if budget <= 0:
            return PAUSED
        x = wanted[at[0]]
        at[0] += 1
        budget -= 1
        if taken[x] >= 0:
            continue
        keeps = np.int64(0)
        for j in range(q):
            start = lattice.start[j]
            cell[j] = lattice.climb[best.level[x, j], start + lattice.vector[x, j]]
            keeps += lattice.cost[start + cell[j]]
        many = covered(tuples, trees, cell, stack, found)
        budget -= 4 * q + many
        people, used, others = np.int64(0), 0, 0
        for f in range(many):
            y = number[found[f]]
            if lattice.own[y, q - 1] - keeps > reach:
                continue
            if taken[y] < 0:
                people += lattice.people[y]
                found[used] = y
                used += 1
            elif best.spare[y] >= 0:
                spares[others] = y
                others += 1
        lacking = best.need[x] - people
        if lacking > 0:
            chosen, loss = borrow(lattice, best, keeps, lacking, spares, others)
            budget -= others * max(chosen, 1)
            if chosen < 0 or lattice.own[x, q - 1] - keeps + loss // people > best.cost[x]:
                continue
            for f in range(chosen):
                taken[spares[f]] = x
                best.spare[spares[f]] = -1
        elif lend:
            set_spare(trees, lattice, best, found, used, -lacking, cell)
        for f in range(used):
            taken[found[f]] = x
    return DONE
