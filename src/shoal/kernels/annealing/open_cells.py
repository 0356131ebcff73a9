"""Opening cells: a new class takes the records of a cell from the classes that they are in.

Where `recreate` dissolves neighbouring classes completely, this changes as little as possible. All
records that a new cell covers and that keep more by it move there. A class that falls below k
people by that either gets what it lacks from classes that can spare it, or is closed, and its
records go to the open cells that keep most for them; what loses less is done. Then records that
their class can spare move to better classes.

If all that loses too much, a second cell is often opened among the records that have moved, and
so on, before it is decided (as in a search of variable depth, Lin and Kernighan 1973). Most cells
are such that are proposed for a tuple; the others are close to those of existing classes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import lean_kernel
from shoal.kernels.annealing.class_moves import (
    CLASSES,
    LOOKS,
    MOVES,
    best_open,
    cheapest_wider,
    keep_changes,
    move,
    take_back,
    tighten,
    touch,
    widen,
)
from shoal.kernels.annealing.covering import insert, remove
from shoal.kernels.annealing.formed import MORE, draw, kept_by
from shoal.kernels.annealing.proposals import draw_proposal
from shoal.kernels.annealing.recreate import NOISE
from shoal.kernels.search.tuple_index import covered, join

PROPOSED = 0.6  # how often the cell is one of those that are proposed for the tuple; if it is not:
NEIGHBOUR = 0.3  # how often it is made from that of a neighbouring class
REPLACED = 0.3  # how often the class of the tuple is closed
SPECIFIC = 0.5  # how often the cell becomes more specific, if that class is closed; else always
AGAIN = 0.5  # how often one more attribute becomes more specific
WIDER, WIDER_REPLACED = 0.4, 0.7  # how often one attribute becomes more general after that
LENT = 0.5  # how often classes that keep more lend what they can spare
FURTHER = 0.85  # how often another cell is opened if the classes lose something …
DEEPEST = 6  # … and how many at most
BROKEN, UNCHANGED, VALID = -1, 0, 1
NONE = np.int64(-1)


class Opening(NamedTuple):
    """Scratch space for the cell that is opened."""

    cell: np.ndarray  # int32[q]
    tight: np.ndarray  # int32[q]
    stack: np.ndarray  # int64[q, 2]
    found: np.ndarray  # int64[tuples]
    gives: np.ndarray  # int64[classes], people whom each class could give; else 0
    giver: np.ndarray  # int64[classes], the classes that could


@lean_kernel
def make_specific(trees, cell, vector, random):
    """Make a random attribute of a cell one step more specific, so that it still covers a tuple."""
    q = len(cell)
    first = int(draw(random) * q)
    for i in range(q):
        j = (first + i) % q
        if cell[j] != vector[j]:
            start, value = trees.start[j], vector[j]
            while trees.parent[start + value] != cell[j]:
                value = trees.parent[start + value]
            cell[j] = value
            return


@lean_kernel
def choose_cell(trees, formed, part, opened, proposals, x, cell, replaced):
    """Write a cell that covers tuple x: a proposed one, or close to that of a class near it."""
    random, a = part.random, formed.of[x]
    if draw(random) < PROPOSED and draw_proposal(proposals, random, x, cell):
        return
    if draw(random) < NEIGHBOUR:
        near = formed.near[x]
        y = np.int64(near[int(draw(random) * len(near))])
        if y >= 0:
            a = formed.of[y] if part.part_of[y] == part.number else a
    for j in range(len(cell)):
        cell[j] = opened.cell[a, j]
    join(trees, cell, formed.vector[x])
    if not replaced or draw(random) < SPECIFIC:
        make_specific(trees, cell, formed.vector[x], random)
        while draw(random) < AGAIN:
            make_specific(trees, cell, formed.vector[x], random)
    if draw(random) < (WIDER_REPLACED if replaced else WIDER):
        j = int(draw(random) * len(cell))
        cell[j] = trees.parent[trees.start[j] + cell[j]]


@lean_kernel
def close(trees, formed, opened, undo, a):
    """Move the tuples of a class to others; whether that is possible."""
    remove(trees, opened, a)
    while formed.head[a] >= 0:
        t = formed.head[a]
        to = best_open(trees, formed, opened, undo, t, NONE)
        if to < 0:
            to, _ = cheapest_wider(trees, formed, opened, undo, t, formed.keeps[a])
            if to < 0:
                return False
            widen(trees, formed, opened, undo, to, t)
        if not move(formed, opened, undo, t, to):
            return False
    return True


@lean_kernel
def closing_cost(trees, formed, opened, undo, a, limit):
    """What is lost if a class is closed that is not open any more; anything above the limit."""
    cost, t, keeps = np.int64(0), formed.head[a], formed.keeps[a]
    while t >= 0 and cost <= limit:
        to = best_open(trees, formed, opened, undo, t, NONE)
        if to >= 0:
            cost += (keeps - formed.keeps[to]) * formed.size[t]
        else:
            cost += cheapest_wider(trees, formed, opened, undo, t, keeps)[1]
        t = formed.after[t]
    return cost


@lean_kernel
def find_spare(trees, formed, part, opened, undo, opening, index, a, k):
    """List the classes that can spare tuples of the cell of a class; how many, and of tuples."""
    many, givers = covered(index, trees, opened.cell[a], opening.stack, opening.found), 0
    undo.at[LOOKS] += many
    for f in range(many):
        t = opening.found[f]
        b = formed.of[t]
        if part.part_of[t] != part.number or b == a:
            continue
        if formed.class_people[b] - formed.people[t] < k:
            continue
        if opening.gives[b] == 0:
            opening.giver[givers] = b
            givers += 1
        opening.gives[b] += formed.people[t]
    return givers, many


@lean_kernel
def pulling_cost(formed, opening, a, givers, k):
    """What is lost if a class gets the people that it lacks, and how many classes give them.

    Those come first in the list afterwards, and of them those that keep least.
    """
    lacking, cost, used = k - formed.class_people[a], np.int64(0), 0
    while lacking > 0 and used < givers:
        best = used
        for i in range(used + 1, givers):
            if formed.keeps[opening.giver[i]] < formed.keeps[opening.giver[best]]:
                best = i
        b = opening.giver[best]
        opening.giver[best], opening.giver[used] = opening.giver[used], b
        many = min(lacking, min(opening.gives[b], formed.class_people[b] - k))
        cost += many * (formed.keeps[b] - formed.keeps[a])
        lacking -= many
        used += 1
    for g in range(givers):
        opening.gives[opening.giver[g]] = 0
    return (cost if lacking <= 0 else MORE), used


@lean_kernel
def pull(formed, part, opened, undo, opening, a, used, many, k):
    """Let a class take people from those that can spare them; whether it has enough then."""
    for g in range(used):
        b = opening.giver[g]
        undo.at[LOOKS] += many
        for f in range(many):
            if formed.class_people[a] >= k:
                return True
            t = opening.found[f]
            spare = formed.of[t] == b and formed.class_people[b] - formed.people[t] >= k
            if not spare or part.part_of[t] != part.number:
                continue
            if not move(formed, opened, undo, t, a):
                return False
    return formed.class_people[a] >= k


@lean_kernel
def fill_or_close(trees, formed, part, opened, undo, opening, index, a, k):
    """Fill or close a class that has too few people; whether that is possible."""
    givers, many = find_spare(trees, formed, part, opened, undo, opening, index, a, k)
    cost, used = pulling_cost(formed, opening, a, givers, k)
    if 0 < cost < MORE:
        cost = np.int64(cost * (1.0 + NOISE * (draw(part.random) - 0.5)))
    remove(trees, opened, a)
    if closing_cost(trees, formed, opened, undo, a, cost) > cost:
        insert(trees, opened, a)
        if pull(formed, part, opened, undo, opening, a, used, many, k):
            return True
    return close(trees, formed, opened, undo, a)


@lean_kernel
def settle(trees, formed, opened, undo, k):
    """Move tuples that their classes can spare to better classes; whether there was room."""
    i = 0
    while i < undo.at[CLASSES]:
        a = undo.touched[i]
        i += 1
        t = formed.head[a]
        while t >= 0 and formed.class_people[a] > k:
            after = formed.after[t]
            if formed.class_people[a] - formed.people[t] >= k:
                to = best_open(trees, formed, opened, undo, t, formed.keeps[a])
                if to >= 0 and not move(formed, opened, undo, t, to):
                    return False
            t = after
    return True


@lean_kernel
def tighten_touched(trees, formed, opened, undo, opening):
    """Make the cells of all classes that changed as specific as possible."""
    for i in range(undo.at[CLASSES]):
        tighten(trees, formed, opened, undo, undo.touched[i], opening.tight)


@lean_kernel
def would_move(formed, part, t, keeps, closed):
    """Whether a tuple of a cell that keeps so much moves there: it gains, or its class closes."""
    a = formed.of[t]
    return part.part_of[t] == part.number and (formed.keeps[a] < keeps or a == closed)


@lean_kernel
def may_lend(formed, part, t, k):
    """Whether the class of a tuple can spare it."""
    spare = formed.class_people[formed.of[t]] - formed.people[t] >= k
    return part.part_of[t] == part.number and spare


@lean_kernel
def fill_new(formed, part, opened, undo, opening, many, new, closed, lent, k):
    """Fill the new class with the tuples that were found; whether it has enough then."""
    keeps = formed.keeps[new]
    for f in range(many):
        t = opening.found[f]
        if would_move(formed, part, t, keeps, closed) and not move(formed, opened, undo, t, new):
            return False
    f = 0
    while lent and f < many and formed.class_people[new] < k:
        t = opening.found[f]
        f += 1
        if formed.of[t] == new or not may_lend(formed, part, t, k):
            continue
        if not move(formed, opened, undo, t, new):
            return False
    return formed.class_people[new] >= k


@lean_kernel
def open_new(trees, formed, part, opened, undo, cell):
    """A new class without tuples for a cell."""
    part.at[0] -= 1
    new = part.free[part.at[0]]
    formed.rows[new] = formed.class_people[new] = 0
    touch(formed, opened, undo, new)
    formed.keeps[new] = kept_by(trees, cell)
    for j in range(len(cell)):
        opened.cell[new, j] = cell[j]
    insert(trees, opened, new)
    return new


@lean_kernel
def open_cell(trees, formed, part, opened, undo, opening, index, proposals, x, k):
    """Open a cell at tuple x; returns whether all classes are valid afterwards, or none changed."""
    closed = formed.of[x] if draw(part.random) < REPLACED else NONE
    lent, cell = draw(part.random) < LENT, opening.cell
    choose_cell(trees, formed, part, opened, proposals, x, cell, closed >= 0)
    keeps = kept_by(trees, cell)
    if part.at[0] == 0 or (closed < 0 and keeps <= formed.keeps[formed.of[x]]):
        return UNCHANGED
    many, people = covered(index, trees, cell, opening.stack, opening.found), np.int64(0)
    undo.at[LOOKS] += 2 * many
    for f in range(many):
        t = opening.found[f]
        moves = would_move(formed, part, t, keeps, closed)
        if moves or (lent and may_lend(formed, part, t, k)):
            people += formed.people[t]
    if people < k:
        return UNCHANGED
    new = open_new(trees, formed, part, opened, undo, cell)
    if not fill_new(formed, part, opened, undo, opening, many, new, closed, lent, k):
        return BROKEN
    if closed >= 0 and formed.head[closed] >= 0 and not close(trees, formed, opened, undo, closed):
        return BROKEN
    i = 0
    while i < undo.at[CLASSES]:
        a = undo.touched[i]
        i += 1
        if formed.head[a] < 0:
            remove(trees, opened, a)  # or tuples of a later class would move here, too few of them
        elif formed.class_people[a] < k and not fill_or_close(
            trees, formed, part, opened, undo, opening, index, a, k
        ):
            return BROKEN
    tighten_touched(trees, formed, opened, undo, opening)
    if not settle(trees, formed, opened, undo, k):
        return BROKEN
    tighten_touched(trees, formed, opened, undo, opening)
    return VALID


@lean_kernel
def gained(formed, undo):
    """How much more the classes that changed keep."""
    gain = np.int64(0)
    for i in range(undo.at[CLASSES]):
        a = undo.touched[i]
        gain += formed.rows[a] * formed.keeps[a] - undo.rows[i] * undo.keeps[i]
    return gain


@lean_kernel
def open_cells(trees, formed, part, opened, undo, opening, index, proposals, k, heat, most, budget):
    """Attempt to open cells, up to so many looks at tuples and classes.

    Classes that keep less are used if they lose less than a random part of `heat`. Pauses after
    about `budget` looks; returns whether all attempts are made.
    """
    while part.at[3] < most:
        if budget <= 0:
            return False
        chance, free = draw(part.random), part.at[0]
        limit, gain, depth = 3.0 * heat * chance * chance, np.int64(0), 1
        x = part.tuples[int(draw(part.random) * len(part.tuples))]
        undo.at[LOOKS] = 100
        outcome = open_cell(trees, formed, part, opened, undo, opening, index, proposals, x, k)
        if outcome == VALID:
            gain = gained(formed, undo)
        while outcome == VALID and -gain > limit and depth < DEEPEST:
            if draw(part.random) >= FURTHER:
                break
            depth += 1
            x = undo.moved[int(draw(part.random) * undo.at[MOVES])]
            more = open_cell(trees, formed, part, opened, undo, opening, index, proposals, x, k)
            if more != UNCHANGED:
                outcome, gain = more, gained(formed, undo)
        looks = undo.at[LOOKS] + 20 * undo.at[MOVES]
        budget -= looks
        part.at[3] += looks
        if outcome == VALID and -gain <= limit:
            keep_changes(formed, part, undo)
            part.at[2] += gain
        elif outcome != UNCHANGED:
            take_back(trees, formed, opened, undo)
            part.at[0] = free
    return True
