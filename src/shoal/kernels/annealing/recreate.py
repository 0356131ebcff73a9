"""Ruin and recreate: a few neighbouring classes are dissolved, and their tuples grouped anew.

Each attempt takes the class of a random tuple and the classes of tuples near it, and grows new
classes of at least k people, with some random choices (Schrimpf et al. 2000). The new classes are
used if they keep more than the old ones, or only a little less: how much less falls to nothing in
the end (threshold accepting, Dueck and Scheuer 1990).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import lean_kernel
from shoal.kernels.annealing.formed import MORE, draw, is_inside, joining_cost, kept_by
from shoal.kernels.search.tuple_index import join, nearest_many

BY_CELL = 0.3  # how often a class grows by steps of one attribute rather than by single tuples
NOISE = 0.3  # the highest addition to a cost, as a share of it
ALL_TOGETHER = 0.7  # how often the last people are one class if they are too few for two
ALL_INSIDE = 0.8  # how often a class of k also takes the other tuples that it covers
SKIPPED = 0.5  # of the neighbouring classes at most


class Attempt(NamedTuple):
    """The tuples of some classes and the new classes that they are put into."""

    classes: np.ndarray  # int64[…], the old classes
    tuple: np.ndarray  # int64[most]
    old: np.ndarray  # int64[most], the class of each
    new: np.ndarray  # int64[most], the new class
    left: np.ndarray  # int64[most], places of those that have no new class yet
    cell: np.ndarray  # int32[most, q], of each new class
    keeps: np.ndarray  # int64[most]
    rows: np.ndarray  # int64[most]
    people: np.ndarray  # int64[most]
    number: np.ndarray  # int64[most], the class that it becomes; at first whether it has tuples
    step: np.ndarray  # int64[q], people whom the cell would cover one step up


@lean_kernel
def list_near(tuples, trees, begin, stop, records, stack, heap, near):
    """Write the nearest tuples of the tuples from `begin` to `stop`, nearest first."""
    for x in range(begin, stop):
        used = nearest_many(tuples, trees, tuples.vector[x], records, stack, heap)
        for i in range(near.shape[1]):
            near[x, i] = heap[i, 2] if i < used else -1


@lean_kernel
def take_neighbours(formed, part, attempt, x, wanted):
    """List the tuples of the class of tuple x and of classes near it; how many of both."""
    classes, many, i = 0, 0, -1
    skipped = SKIPPED * draw(part.random)
    while classes < wanted and i < formed.near.shape[1]:
        y = x if i < 0 else np.int64(formed.near[x, i])
        i += 1
        if y < 0:
            break
        if part.part_of[y] != part.number:
            continue
        a, known = formed.of[y], False
        for c in range(classes):
            known = known or attempt.classes[c] == a
        if known or (y != x and draw(part.random) < skipped):
            continue
        before, t = many, formed.head[a]
        while t >= 0 and many < len(attempt.tuple):
            attempt.tuple[many], attempt.old[many] = t, a
            many += 1
            t = formed.after[t]
        if t >= 0:  # too many tuples
            many = before
            if classes == 0:
                break
            continue
        attempt.classes[classes] = a
        classes += 1
    return classes, many


@lean_kernel
def assign(formed, attempt, c, i, left):
    """Put the tuple at place `i` of those that are left into a new class; how many are left."""
    place = attempt.left[i]
    t = attempt.tuple[place]
    attempt.new[place] = c
    attempt.rows[c] += formed.size[t]
    attempt.people[c] += formed.people[t]
    attempt.left[i] = attempt.left[left - 1]
    return left - 1


@lean_kernel
def nearest_left(trees, formed, attempt, random, c, left):
    """Which of the tuples that are left costs least to cover, with some noise."""
    best, found = np.float64(MORE), 0
    for i in range(left):
        t = attempt.tuple[attempt.left[i]]
        cost = joining_cost(trees, attempt.cell[c], formed.vector[t], best)
        if cost > best:
            continue
        noisy = cost * (1.0 + NOISE * draw(random))
        more = formed.people[t] > formed.people[attempt.tuple[attempt.left[found]]]
        if noisy < best or (noisy == best and more):
            best, found = noisy, i
    return found


@lean_kernel
def best_step(trees, formed, attempt, random, c, left, lacking):
    """The attribute whose next value upwards covers most of the lacking people for its cost."""
    cell, step = attempt.cell[c], attempt.step
    for j in range(len(cell)):
        step[j] = 0
    for i in range(left):
        t = attempt.tuple[attempt.left[i]]
        outside, only = 0, 0
        for j in range(len(cell)):
            start, value = trees.start[j], formed.vector[t, j]
            if not (cell[j] <= value < trees.end[start + cell[j]]):
                outside, only = outside + 1, j
                if outside > 1:
                    break
        if outside == 1:
            start = trees.start[only]
            top, value = trees.parent[start + cell[only]], formed.vector[t, only]
            if top <= value < trees.end[start + top]:
                step[only] += formed.people[t]
    best, found = np.float64(MORE), -1
    for j in range(len(cell)):
        if cell[j] == 0:
            continue
        start = trees.start[j]
        cost = trees.cost[start + cell[j]] - trees.cost[start + trees.parent[start + cell[j]]]
        noisy = cost * (1.0 + NOISE * draw(random)) / (min(step[j], lacking) + 0.1)
        if noisy < best:
            best, found = noisy, j
    return found


@lean_kernel
def grow(trees, formed, attempt, random, c, left, k):
    """Grow a new class to k people, from a random tuple; returns how many tuples are left."""
    i = int(draw(random) * left)
    if draw(random) < 0.5:  # rather one that has lost much
        other = int(draw(random) * left)
        kept = formed.keeps[attempt.old[attempt.left[i]]]
        i = other if formed.keeps[attempt.old[attempt.left[other]]] < kept else i
    cell = attempt.cell[c]
    first = formed.vector[attempt.tuple[attempt.left[i]]]
    for j in range(len(cell)):
        cell[j] = first[j]
    attempt.rows[c], attempt.people[c] = 0, 0
    by_cell = draw(random) < BY_CELL
    left = assign(formed, attempt, c, i, left)
    while True:
        inside = draw(random) < ALL_INSIDE
        i = 0
        while i < left and (inside or attempt.people[c] < k):
            if is_inside(trees, cell, formed.vector[attempt.tuple[attempt.left[i]]]):
                left = assign(formed, attempt, c, i, left)
            else:
                i += 1
        if attempt.people[c] >= k or left == 0:
            return left
        if by_cell:
            j = best_step(trees, formed, attempt, random, c, left, k - attempt.people[c])
            cell[j] = trees.parent[trees.start[j] + cell[j]]
        else:
            i = nearest_left(trees, formed, attempt, random, c, left)
            join(trees, cell, formed.vector[attempt.tuple[attempt.left[i]]])
            left = assign(formed, attempt, c, i, left)


@lean_kernel
def put_rest(trees, formed, attempt, many, left):
    """Put the tuples that are left into the new classes that lose least by them."""
    for c in range(many):
        if attempt.people[c] > 0:
            attempt.keeps[c] = kept_by(trees, attempt.cell[c])
    while left > 0:
        t = attempt.tuple[attempt.left[left - 1]]
        best, found = MORE, 0
        for c in range(many):
            if attempt.people[c] == 0:  # dissolved
                continue
            cost = joining_cost(trees, attempt.cell[c], formed.vector[t], MORE)
            loss = cost * attempt.rows[c] + (cost - attempt.keeps[c]) * formed.size[t]
            if loss < best:
                best, found = loss, c
        join(trees, attempt.cell[found], formed.vector[t])
        attempt.keeps[found] = kept_by(trees, attempt.cell[found])
        left = assign(formed, attempt, found, left - 1, left)


@lean_kernel
def tighten_all(trees, formed, attempt, many, tuples):
    """Make the cells of the new classes the least general ones that cover their tuples."""
    for c in range(many):
        attempt.number[c] = -1
    for i in range(tuples):
        c, vector = attempt.new[i], formed.vector[attempt.tuple[i]]
        if c < 0:  # in no class yet
            continue
        if attempt.number[c] < 0:
            attempt.number[c] = 0
            for j in range(len(vector)):
                attempt.cell[c, j] = vector[j]
        else:
            join(trees, attempt.cell[c], vector)
    for c in range(many):  # nothing moves to a class without tuples
        attempt.keeps[c] = kept_by(trees, attempt.cell[c]) if attempt.number[c] == 0 else -1


@lean_kernel
def move_inside(trees, formed, attempt, many, tuples, k):
    """Move tuples that their class can spare to a class that covers them and keeps more."""
    for i in range(tuples):
        t, a = attempt.tuple[i], attempt.new[i]
        if attempt.people[a] - formed.people[t] < k:
            continue
        to = a
        for c in range(many):
            if attempt.keeps[c] > attempt.keeps[to] and is_inside(
                trees, attempt.cell[c], formed.vector[t]
            ):
                to = c
        if to != a:
            attempt.new[i] = to
            attempt.rows[a] -= formed.size[t]
            attempt.people[a] -= formed.people[t]
            attempt.rows[to] += formed.size[t]
            attempt.people[to] += formed.people[t]


@lean_kernel
def recreate(trees, formed, part, attempt, tuples, k):
    """Put these tuples into new classes; returns how many, 0 if there is room for no class."""
    people = np.int64(0)
    for i in range(tuples):
        attempt.left[i] = i
        people += formed.people[attempt.tuple[i]]
    many, left = 0, tuples
    while people >= k:
        if many > 0 and people < 2 * k and draw(part.random) < ALL_TOGETHER:
            attempt.rows[many], attempt.people[many] = 0, 0
            first = formed.vector[attempt.tuple[attempt.left[0]]]
            for j in range(len(first)):
                attempt.cell[many, j] = first[j]
            while left > 0:
                join(trees, attempt.cell[many], formed.vector[attempt.tuple[attempt.left[0]]])
                left = assign(formed, attempt, many, 0, left)
        else:
            left = grow(trees, formed, attempt, part.random, many, left, k)
        people -= attempt.people[many]
        many += 1
    if many > 0:
        put_rest(trees, formed, attempt, many, left)
        tighten_all(trees, formed, attempt, many, tuples)
        move_inside(trees, formed, attempt, many, tuples, k)
        tighten_all(trees, formed, attempt, many, tuples)
    return many


@lean_kernel
def use(formed, part, attempt, old, many, tuples):
    """Replace the old classes by the new ones."""
    while old > many:
        old -= 1
        part.free[part.at[0]] = attempt.classes[old]
        part.at[0] += 1
        formed.head[attempt.classes[old]] = -1
        formed.rows[attempt.classes[old]] = 0
        formed.class_people[attempt.classes[old]] = 0
    for c in range(many):
        if c < old:
            to = attempt.classes[c]
        else:
            part.at[0] -= 1
            to = part.free[part.at[0]]
        attempt.number[c] = to
        formed.head[to] = -1
        formed.rows[to], formed.keeps[to] = attempt.rows[c], attempt.keeps[c]
        formed.class_people[to] = attempt.people[c]
    for i in range(tuples):
        t, to = attempt.tuple[i], attempt.number[attempt.new[i]]
        formed.of[t], formed.after[t] = to, formed.head[to]
        formed.head[to] = t


@lean_kernel
def ruin_and_recreate(trees, formed, part, attempt, k, heat, most, budget):
    """Attempt to group neighbouring classes anew, up to so many looks at tuples.

    Classes that keep less are used if they lose less than a random part of `heat`. Pauses after
    about `budget` looks; returns whether all attempts are made.
    """
    while part.at[1] < most:
        if budget <= 0:
            return False
        x = part.tuples[int(draw(part.random) * len(part.tuples))]
        wanted = 2 + int(draw(part.random) * (len(attempt.classes) - 1))
        old, tuples = take_neighbours(formed, part, attempt, x, wanted)
        looks = 300 + tuples * tuples
        budget -= looks
        part.at[1] += looks
        if old == 0:
            continue
        before, people = np.int64(0), np.int64(0)
        for c in range(old):
            before += formed.rows[attempt.classes[c]] * formed.keeps[attempt.classes[c]]
            people += formed.class_people[attempt.classes[c]]
        if people < 2 * k and old == 1:
            continue
        many = recreate(trees, formed, part, attempt, tuples, k)
        if many == 0 or many > old + part.at[0]:
            continue
        gain = -before
        for c in range(many):
            gain += attempt.rows[c] * attempt.keeps[c]
        if gain < 0:
            chance = draw(part.random)
            if -gain > 3.0 * heat * chance * chance:
                continue
        use(formed, part, attempt, old, many, tuples)
        part.at[2] += gain
    return True
