"""Opening cells: a new class takes the records of a cell from the classes that they are in.

Where `recreate` dissolves neighbouring classes completely, this changes as little as possible: a
cell near the classes that there are is chosen, the records that it covers and that keep more by it
move there, and only classes that fall below k people by that are dissolved. Classes of a hundred
people are seldom grouped better from nothing, but often by one cell that is missing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import lean_kernel
from shoal.kernels.grouping.recreate import (
    NOISE,
    draw,
    is_inside,
    kept_by,
    move_inside,
    put_rest,
    tighten_all,
    use,
)
from shoal.kernels.search.tuple_index import covered, join

NEIGHBOUR = 0.3  # how often the cell is made from that of a neighbouring class
AGAIN = 0.5  # how often one more attribute becomes more specific
WIDER = 0.4  # how often one attribute becomes more general after that
LENT = 0.5  # how often classes that keep more lend what they can spare
GIVERS = 0.7  # of the classes of an attempt at most, as a share of the room for them


class Opening(NamedTuple):
    """Scratch space for the cell that is opened."""

    cell: np.ndarray  # int32[q]
    stack: np.ndarray  # int64[q, 2]
    found: np.ndarray  # int64[tuples]
    gives: np.ndarray  # int64[classes], people whom each class would give; else 0
    giver: np.ndarray  # int64[classes], the classes that give


@lean_kernel
def class_cell(trees, formed, a, cell):
    """Write the least general cell that covers a class."""
    t = formed.head[a]
    for j in range(len(cell)):
        cell[j] = formed.vector[t, j]
    t = formed.after[t]
    while t >= 0:
        join(trees, cell, formed.vector[t])
        t = formed.after[t]


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
def choose_cell(trees, formed, part, x, cell):
    """Write a cell that covers tuple x and is close to that of its class or of one near it."""
    random, a = part.random, formed.of[x]
    if draw(random) < NEIGHBOUR:
        near = formed.near[x]
        y = np.int64(near[int(draw(random) * len(near))])
        if y >= 0:
            a = formed.of[y] if part.part_of[y] == part.number else a
    class_cell(trees, formed, a, cell)
    join(trees, cell, formed.vector[x])
    make_specific(trees, cell, formed.vector[x], random)
    while draw(random) < AGAIN:
        make_specific(trees, cell, formed.vector[x], random)
    if draw(random) < WIDER:
        j = int(draw(random) * len(cell))
        cell[j] = trees.parent[trees.start[j] + cell[j]]


@lean_kernel
def find_givers(formed, part, opening, many, keeps):
    """Count what the classes would give that keep less than the cell; how many classes."""
    givers = 0
    for f in range(many):
        y = opening.found[f]
        a = formed.of[y]
        if part.part_of[y] != part.number or formed.keeps[a] >= keeps:
            continue
        if opening.gives[a] == 0:
            opening.giver[givers] = a
            givers += 1
        opening.gives[a] += formed.people[y]
    return givers


@lean_kernel
def choose_givers(formed, part, attempt, opening, givers, k):
    """List the classes that give most; how many, and how many of them are to be dissolved.

    Those that are dissolved come first. They are the ones of which the cell takes the largest
    share, as many as it needs besides what the others can spare.
    """
    most = min(givers, int(GIVERS * len(attempt.classes)))
    have = np.int64(0)
    for i in range(most):
        best = i
        for o in range(i + 1, givers):
            if opening.gives[opening.giver[o]] > opening.gives[opening.giver[best]]:
                best = o
        a = opening.giver[best]
        opening.giver[best], opening.giver[i] = opening.giver[i], a
        attempt.classes[i] = a
        have += min(opening.gives[a], formed.class_people[a] - k)
    broken = 0
    while have < k and broken < most:
        best, highest = broken, -1.0
        for i in range(broken, most):
            a = attempt.classes[i]
            if opening.gives[a] <= formed.class_people[a] - k:
                continue
            share = opening.gives[a] / formed.class_people[a] * (1.0 - NOISE * draw(part.random))
            if share > highest:
                best, highest = i, share
        if highest < 0:
            break
        a = attempt.classes[best]
        attempt.classes[best], attempt.classes[broken] = attempt.classes[broken], a
        have += opening.gives[a] - (formed.class_people[a] - k)
        broken += 1
    return most, broken


@lean_kernel
def add_near(formed, part, attempt, classes, broken):
    """Add classes that may take what is left of those that are dissolved; how many there are."""
    for b in range(broken):
        t = formed.head[attempt.classes[b]]
        while t >= 0 and classes < len(attempt.classes):
            near = formed.near[t]
            y = np.int64(near[int(draw(part.random) * len(near))])
            t = formed.after[t]
            if y < 0 or part.part_of[y] != part.number:
                continue
            a, known = formed.of[y], False
            for c in range(classes):
                known = known or attempt.classes[c] == a
            if not known:
                attempt.classes[classes] = a
                classes += 1
    return classes


@lean_kernel
def list_tuples(formed, attempt, classes):
    """List the tuples of these classes; how many, -1 if there is no room for them."""
    many = 0
    for c in range(classes):
        a = attempt.classes[c]
        attempt.rows[c], attempt.people[c] = formed.rows[a], formed.class_people[a]
        t = formed.head[a]
        while t >= 0:
            if many == len(attempt.tuple):
                return -1
            attempt.tuple[many], attempt.old[many], attempt.new[many] = t, a, c
            many += 1
            t = formed.after[t]
    return many


@lean_kernel
def take_out(formed, attempt, i):
    """Take the tuple at place i out of its class."""
    t, c = attempt.tuple[i], attempt.new[i]
    attempt.rows[c] -= formed.size[t]
    attempt.people[c] -= formed.people[t]


@lean_kernel
def fill(trees, formed, part, attempt, opening, tuples, classes, broken, k, keeps):
    """Fill the new class from the others; returns how many tuples have no class now."""
    left = 0
    attempt.rows[classes], attempt.people[classes] = 0, 0
    lent = draw(part.random) < LENT
    for turn in range(2):  # those that keep more afterwards, and only if needed those that do not
        for i in range(tuples):
            c, t = attempt.new[i], attempt.tuple[i]
            if turn == 1 and (not lent or attempt.people[classes] >= k):
                break
            if c == classes or c < 0:
                continue
            gains = formed.keeps[attempt.old[i]] < keeps
            inside = (gains or turn == 1) and is_inside(trees, opening.cell, formed.vector[t])
            spare = attempt.people[c] - formed.people[t] >= k
            if inside and (spare or c < broken):
                take_out(formed, attempt, i)
                attempt.new[i] = classes
                attempt.rows[classes] += formed.size[t]
                attempt.people[classes] += formed.people[t]
            elif c < broken and turn == 0:
                take_out(formed, attempt, i)
                attempt.new[i] = -1
                attempt.left[left] = i
                left += 1
    return left


@lean_kernel
def leave_out_empty(attempt, many, tuples):
    """Number the classes that have tuples one after the other; returns how many there are."""
    used = 0
    for c in range(many):
        attempt.number[c] = -1
        if attempt.people[c] > 0:
            attempt.number[c] = used
            attempt.rows[used], attempt.people[used] = attempt.rows[c], attempt.people[c]
            attempt.keeps[used] = attempt.keeps[c]
            used += 1
    for i in range(tuples):
        attempt.new[i] = attempt.number[attempt.new[i]]
    return used


@lean_kernel
def open_cell(trees, formed, part, attempt, opening, tuple_index, x, k):
    """Open a cell at tuple x; returns the old classes, the new ones, 0 if it failed, and tuples."""
    choose_cell(trees, formed, part, x, opening.cell)
    keeps = kept_by(trees, opening.cell)
    if keeps <= formed.keeps[formed.of[x]]:
        return 0, 0, 0
    many = covered(tuple_index, trees, opening.cell, opening.stack, opening.found)
    givers = find_givers(formed, part, opening, many, keeps)
    classes, broken = choose_givers(formed, part, attempt, opening, givers, k)
    for i in range(givers):
        opening.gives[opening.giver[i]] = 0
    old = add_near(formed, part, attempt, classes, broken)
    tuples = list_tuples(formed, attempt, old)
    if tuples < 0 or old + 1 > len(attempt.rows):
        return 0, 0, many
    left = fill(trees, formed, part, attempt, opening, tuples, old, broken, k, keeps)
    if attempt.people[old] < k:
        return 0, 0, tuples
    tighten_all(trees, formed, attempt, old + 1, tuples)
    put_rest(trees, formed, attempt, old + 1, left)
    for _ in range(2):
        tighten_all(trees, formed, attempt, old + 1, tuples)
        move_inside(trees, formed, attempt, old + 1, tuples, k)
    tighten_all(trees, formed, attempt, old + 1, tuples)
    return old, leave_out_empty(attempt, old + 1, tuples), tuples


@lean_kernel
def open_cells(trees, formed, part, attempt, opening, tuple_index, k, heat, attempts, budget):
    """Attempt to open cells, up to so many attempts.

    Classes that keep less are used if they lose less than a random part of `heat`. Pauses after
    about `budget` visits of tuples; returns whether all attempts are made.
    """
    while part.at[3] < attempts:
        if budget <= 0:
            return False
        part.at[3] += 1
        x = part.tuples[int(draw(part.random) * len(part.tuples))]
        old, many, tuples = open_cell(trees, formed, part, attempt, opening, tuple_index, x, k)
        budget -= 100 + tuples * max(1, old)
        if many == 0 or many > old + part.at[0]:
            continue
        gain = np.int64(0)
        for c in range(old):
            gain -= formed.rows[attempt.classes[c]] * formed.keeps[attempt.classes[c]]
        for c in range(many):
            gain += attempt.rows[c] * attempt.keeps[c]
        if gain < 0:
            chance = draw(part.random)
            if -gain > 3.0 * heat * chance * chance:
                continue
        use(formed, part, attempt, old, many, tuples)
        part.at[2] += gain
    return True
