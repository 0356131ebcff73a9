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


class Side(NamedTuple):
    """One side of the graph: originals with the classes that cover them, or the reverse."""

    group: np.ndarray  # int32[n], the original (or class) of each record of this side
    start: np.ndarray  # int64[groups + 1], where the pairs of a group begin
    other: np.ndarray  # int32[pairs], the group on the other side, ascending
    upto: np.ndarray  # int32[pairs], records of the other side in the group's pairs before
    degree: np.ndarray  # int64[groups], records of the other side in all its pairs
    first: np.ndarray  # int64[groups], its first record


class State(NamedTuple):
    """A perfect matching, and how long and how often each pair has been in it."""

    holder: np.ndarray  # int32[n], the record matched with each published one
    held: np.ndarray  # int32[n], the published record matched with each one
    pair: np.ndarray  # int64[n], the pair of that match
    since: np.ndarray  # int64[n], the time at which it began
    time: np.ndarray  # int64[pairs], summed over the records of an original
    visits: np.ndarray  # int64[pairs], how often a match of this pair began
    clock: np.ndarray  # int64[1], moves so far
    seen: np.ndarray  # int64[n], the last walk that visited it; from here on scratch
    place: np.ndarray  # int32[n], where in the path
    path: np.ndarray  # int32[n], records
    wish: np.ndarray  # int32[n], the published record that each of them requests
    by: np.ndarray  # int64[n], the pair of that request


@lean_kernel
def _choose(mine, theirs, i, rng):
    """A random record of the other side that fits record i; returns its pair and the record."""
    g = mine.group[i]
    r = np.int64(rng.random() * mine.degree[g])
    low, high = mine.start[g], mine.start[g + 1]
    while high - low > 1:
        middle = (low + high) >> 1
        if mine.upto[middle] <= r:
            low = middle
        else:
            high = middle
    return low, theirs.first[mine.other[low]] + r - mine.upto[low]


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
def _give(state, i, j, pair):
    """Match published record j with record i."""
    state.holder[j] = i
    state.held[i] = j
    old = state.pair[i]
    if old != pair:
        state.time[old] += state.clock[0] - state.since[i]
        state.since[i] = state.clock[0]
        state.visits[pair] += 1
        state.pair[i] = pair


@lean_kernel
def _exchange(originals, state, i, j, pair):
    """Match published record j with record i, if its present record can have that of i."""
    held = state.held[i]
    old = originals.other[state.pair[i]]
    if originals.other[pair] == old:  # the present one of i, or an equal one
        return
    other = state.holder[j]
    back = _find(originals, originals.group[other], old)
    if back != NOT_THERE:
        _give(state, i, j, pair)
        _give(state, other, held, back)


@lean_kernel
def swap(originals, classes, state, i, rng):
    """Record i requests a published record."""
    state.clock[0] += 1
    pair, j = _choose(originals, classes, i, rng)
    _exchange(originals, state, i, j, pair)


@lean_kernel
def offer(originals, classes, twin, state, j, rng):
    """Published record j requests a record."""
    state.clock[0] += 1
    pair, i = _choose(classes, originals, j, rng)
    _exchange(originals, state, i, j, np.int64(twin[pair]))


@lean_kernel
def walk(originals, classes, state, i, rng):
    """Record i requests a published record, its present record requests another, and so on."""
    state.clock[0] += 1
    now = state.clock[0]
    many = 0
    while state.seen[i] != now:
        state.seen[i] = now
        state.place[i] = many
        state.path[many] = i
        state.by[many], state.wish[many] = _choose(originals, classes, i, rng)
        i = state.holder[state.wish[many]]
        many += 1
    for at in range(state.place[i], many):
        _give(state, state.path[at], state.wish[at], state.by[at])


@lean_kernel
def sweep(originals, classes, twin, state, at, times, steps, rng):
    """Run `times` sweeps or `steps` steps; a step is the walk, swaps and offers of a record.

    `twin` int32[pairs] is the pair of the originals for each pair of the classes; `at` int64[2] has
    the next record and the number of finished sweeps.
    """
    for _ in range(steps):
        if at[1] >= times:
            return
        i = at[0]
        for _ in range(SWAPS):
            swap(originals, classes, state, i, rng)
        for _ in range(OFFERS):
            offer(originals, classes, twin, state, i, rng)
        walk(originals, classes, state, i, rng)
        at[0] += 1
        if at[0] == len(originals.group):
            at[0] = 0
            at[1] += 1


@lean_kernel
def write_down(state):
    """Add the time of all present pairs up to now."""
    now = state.clock[0]
    for i in range(len(state.pair)):
        state.time[state.pair[i]] += now - state.since[i]
        state.since[i] = now


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
