"""Perfect matchings between originals and published records: counted, and sampled.

Records are numbered original by original, published records class by class, and the pairs of an
original and a class that fit are sorted by original and then by class. Published records of one
class are interchangeable, and so are equal originals. The result is how often a record of an
original is matched with a record of a class.

Sampling uses a Markov chain over perfect matchings with three moves. Each move preserves the
uniform distribution, because it leads from M to M' with the same probability as from M' to M:

- `swap`: record i requests one of the deg(i) published records that cover it, and swaps with the
  record that has it, if that one can have i's. Both directions have probability 1 / deg(i), as
  degrees do not depend on the matching.
- `offer`: the same from the other side; published record j requests one of the records it covers.
- `walk`: record i requests a published record that covers it, the record that has it requests
  another, and so on until a record is reached for the second time. The records since then form a
  cycle, and all of them get what they requested. The reverse move follows the same cycle the other
  way round. The records before the cycle do not change, and a request that enters the cycle at a
  published record finds another record of the cycle there. Both directions have the probability of
  the records before the cycle, times 1 / deg of every record in it.

Two perfect matchings differ by disjoint cycles (Prop. 10, Tassa 2012). Each cycle is a walk that
begins in it, so walks reach every matching; the chain may also stay, so it is aperiodic. A walk
visits no record twice, so it always ends. Swaps and offers alone may not reach every matching, but
speed up mixing: in one of three releases of Adult that were examined, walks alone were still far
from the state that all moves together had reached long before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import kernel, lean_kernel

NOT_THERE = np.int64(-1)
SWAPS, OFFERS = 2, 4  # for each walk; other mixes were neither clearly better nor worse on Adult
NOTHING, WATCHED, EVERYTHING = 0, 1, 2  # what a run counts


class Side(NamedTuple):
    """One side of the graph: originals with the classes that cover them, or the reverse.

    The records of the other side that fit a group are numbered, class by class. Most time is spent
    waiting for memory, so `slot` finds a record by its number with one access: it has one entry
    for each 2 ** shift numbers. That is the first of their records, if all are of one class;
    otherwise -1 - e, where the first of them is in pair e.
    """

    group: np.ndarray  # int32[n], the original (or class) of each record of this side
    start: np.ndarray  # int64[groups + 1], where the pairs of a group begin
    other: np.ndarray  # int32[pairs], the group on the other side, ascending
    upto: np.ndarray  # int32[pairs], records of the other side in the group's pairs before
    degree: np.ndarray  # int64[groups], records of the other side in all its pairs
    first: np.ndarray  # int64[groups], its first record
    slot: np.ndarray  # int32[slots]
    begin: np.ndarray  # int64[groups], the first slot of a group
    shift: np.ndarray  # int8[groups]


class State(NamedTuple):
    """A perfect matching."""

    holder: np.ndarray  # int32[n], the record matched with each published one
    held: np.ndarray  # int32[n], the published record matched with each one
    clock: np.ndarray  # int64[1], moves so far
    place: np.ndarray  # int32[n], where in the path of its last walk; from here on scratch
    path: np.ndarray  # int32[n], records
    wish: np.ndarray  # int32[n], the published record that each of them requests


class Counts(NamedTuple):
    """How long and how often originals have been matched with classes.

    Either of every pair, or of one class that is watched for each original, or of nothing.
    """

    what: int
    watched: np.ndarray  # int32[originals], the class to watch; int32[0] otherwise
    since: np.ndarray  # int64[n], the time since which a record is matched with its class
    time: np.ndarray  # int64[pairs] or int64[originals], summed over the records of an original
    visits: np.ndarray  # the same shape, how often a match began


@kernel
def fill_slots(start, other, upto, degree, first, begin, shift, slot):
    """Write the slots of one side; `first` is that of the other side."""
    for g in range(len(degree)):
        e, width = start[g], np.int64(1) << shift[g]
        for at in range(((degree[g] - 1) >> shift[g]) + 1):
            low = at * width
            while e + 1 < start[g + 1] and upto[e + 1] <= low:
                e += 1
            end = upto[e + 1] if e + 1 < start[g + 1] else degree[g]
            alike = min(low + width, degree[g]) <= end
            slot[begin[g] + at] = first[other[e]] + low - upto[e] if alike else -1 - e


@lean_kernel
def fitting(mine, theirs, g, r):
    """Record number r of those on the other side that fit group g."""
    found = np.int64(mine.slot[mine.begin[g] + (r >> mine.shift[g])])
    if found >= 0:
        return found + (r & ((np.int64(1) << mine.shift[g]) - 1))
    e = -1 - found
    while e + 1 < mine.start[g + 1] and mine.upto[e + 1] <= r:
        e += 1
    return theirs.first[mine.other[e]] + r - mine.upto[e]


@lean_kernel
def _choose(mine, theirs, g, rng):
    """A random record of the other side that fits group g."""
    return fitting(mine, theirs, g, np.int64(rng.random() * mine.degree[g]))


@lean_kernel
def _find(originals, o, g):
    """The pair of an original and a class."""
    low, end = originals.start[o], originals.start[o + 1]
    high = end
    while low < high:
        middle = (low + high) >> 1
        if originals.other[middle] < g:
            low = middle + 1
        else:
            high = middle
    return low if low < end and originals.other[low] == g else NOT_THERE


@lean_kernel
def _row(originals, counts, o, g):
    """Where original o with class g is counted."""
    if counts.what == EVERYTHING:
        return _find(originals, o, g)
    if counts.what == WATCHED and counts.watched[o] == g:
        return np.int64(o)
    return NOT_THERE


@lean_kernel
def _give(originals, classes, state, counts, i, j):
    """Match published record j with record i."""
    old = classes.group[state.held[i]]
    state.holder[j] = i
    state.held[i] = j
    if counts.what == NOTHING or classes.group[j] == old:
        return
    row = _row(originals, counts, originals.group[i], old)
    if row != NOT_THERE:
        counts.time[row] += state.clock[0] - counts.since[i]
        counts.visits[row] += 1  # `begin_counts` and `end_counts` turn departures into arrivals
    counts.since[i] = state.clock[0]


@lean_kernel
def _exchange(originals, classes, state, counts, i, j):
    """Match published record j with record i, if its present record can have that of i."""
    held = state.held[i]
    old = classes.group[held]
    if classes.group[j] == old:  # the present one of i, or an equal one
        return
    other = state.holder[j]
    if _find(originals, originals.group[other], old) != NOT_THERE:
        _give(originals, classes, state, counts, i, j)
        _give(originals, classes, state, counts, other, held)


@lean_kernel
def swap(originals, classes, state, counts, i, rng):
    """Record i requests a published record."""
    state.clock[0] += 1
    j = _choose(originals, classes, originals.group[i], rng)
    _exchange(originals, classes, state, counts, i, j)


@lean_kernel
def offer(originals, classes, state, counts, j, rng):
    """Published record j requests a record."""
    state.clock[0] += 1
    i = _choose(classes, originals, classes.group[j], rng)
    _exchange(originals, classes, state, counts, i, j)


@lean_kernel
def walk(originals, classes, state, counts, i, rng):
    """Record i requests a published record, its present record requests another, and so on."""
    state.clock[0] += 1
    many = 0
    # A place of an earlier walk is beyond this path, or another record is there.
    while state.place[i] >= many or state.path[state.place[i]] != i:
        state.place[i] = many
        state.path[many] = i
        state.wish[many] = _choose(originals, classes, originals.group[i], rng)
        i = state.holder[state.wish[many]]
        many += 1
    for at in range(state.place[i], many):
        _give(originals, classes, state, counts, state.path[at], state.wish[at])


@lean_kernel
def sweep(originals, classes, state, counts, at, times, steps, rng):
    """Run `times` sweeps or `steps` steps; a step is the walk, swaps and offers of a record.

    `at` int64[2] has the next record and the number of finished sweeps.
    """
    for _ in range(steps):
        if at[1] >= times:
            return
        i = at[0]
        for _ in range(SWAPS):
            swap(originals, classes, state, counts, i, rng)
        for _ in range(OFFERS):
            offer(originals, classes, state, counts, i, rng)
        walk(originals, classes, state, counts, i, rng)
        at[0] += 1
        if at[0] == len(originals.group):
            at[0] = 0
            at[1] += 1


@lean_kernel
def begin_counts(originals, classes, state, counts):
    """Begin to count: a match that has begun before is no visit when it ends."""
    counts.since[:] = state.clock[0]
    for i in range(len(state.held)):
        row = _row(originals, counts, originals.group[i], classes.group[state.held[i]])
        if row != NOT_THERE:
            counts.visits[row] -= 1


@lean_kernel
def end_counts(originals, classes, state, counts):
    """Count all present matches up to now: they have begun, but not ended."""
    for i in range(len(state.held)):
        row = _row(originals, counts, originals.group[i], classes.group[state.held[i]])
        if row != NOT_THERE:
            counts.time[row] += state.clock[0] - counts.since[i]
            counts.visits[row] += 1


@kernel
def solve(start, group, originals, classes, first, last, share, begin, stop):
    """The share of perfect matchings in which a record of an original is in each class.

    Components are solved one by one: component c has the originals first[c, 0]:last[c, 0], which
    have originals[o] records, and the classes first[c, 1]:last[c, 1], which have classes[g].
    Records are assigned in turn, and a state is the number of records taken from each class;
    ahead[s] counts the ways to reach it, rest[s] the ways to complete it. Every matching of records
    with classes stands for the same number of matchings of records with records (the product of
    classes[g]!), so it counts as one. Writes float64[pairs] `share` for the components from `begin`
    to `stop`.
    """
    for c in range(begin, stop):
        low, base = first[c, 0], first[c, 1]
        many = last[c, 1] - base
        if many == 1:
            share[start[low] : start[last[c, 0]]] = 1.0
            continue
        step = np.ones(many + 1, np.int64)  # a state is a number with these places
        for g in range(many):
            step[g + 1] = step[g] * (classes[base + g] + 1)
        turn = np.repeat(np.arange(low, last[c, 0]), originals[low : last[c, 0]])
        states = step[many]
        done = np.zeros(states, np.int64)
        ahead, rest = np.zeros(states), np.zeros(states)
        ahead[0] = rest[states - 1] = 1.0
        for s in range(states - 1):
            if ahead[s] == 0.0:
                continue
            o = turn[done[s]]
            for e in range(start[o], start[o + 1]):
                g = group[e] - base
                if s // step[g] % (classes[group[e]] + 1) < classes[group[e]]:
                    ahead[s + step[g]] += ahead[s]
                    done[s + step[g]] = done[s] + 1
        total = ahead[states - 1]
        for s in range(states - 2, -1, -1):
            if ahead[s] == 0.0:
                continue
            o = turn[done[s]]
            new = done[s] == 0 or turn[done[s] - 1] != o  # equal originals have equal shares
            for e in range(start[o], start[o + 1]):
                g = group[e] - base
                if s // step[g] % (classes[group[e]] + 1) < classes[group[e]]:
                    rest[s] += rest[s + step[g]]
                    if new:
                        share[e] += ahead[s] * (rest[s + step[g]] / total)
