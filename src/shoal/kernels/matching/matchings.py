"""Perfect matchings of the graph of original and release: counted, and drawn at random.

Records are numbered original by original, published records class by class, and the pairs of an
original and a class that fit are sorted by original and then by class. Published records of one
class are interchangeable, and so are equal originals: what is asked for is how often a record of
an original holds a record of a class.

The chance is a Markov chain over perfect matchings, made of three moves. Each of them leaves the
uniform distribution as it is, because it leads from M to M' as often as from M' to M:

- `swap`: record i wants any of the deg(i) published records that cover it, and swaps with the
  holder if that one can have i's. There and back have the chance 1 / deg(i): degrees do not
  depend on the matching.
- `offer`: the same from the other side; published record j wants any of the records it covers.
- `walk`: record i wants any published record that covers it, its holder then wants another, and
  so on until somebody is asked for the second time: those since then are a cycle, and all of it
  gets what it wants. Back leads the same cycle the other way round; the records before it are not
  changed, and whoever enters the cycle by a published record finds another record of the cycle
  there. Both ways have the chance of the records before it, times 1 / deg of all in the cycle.

Two perfect matchings differ by disjoint cycles (Prop. 10, Tassa 2012), each of which is a walk that
begins in it, so walks reach every matching; the chain may also stay, so it has no period. A walk
visits nobody twice, so it ends without being cut off. Swaps and offers alone
need not reach every matching, but make haste: in one of three releases of Adult that were looked
at, walks alone were far from where all together had arrived long before.
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
    start: np.ndarray  # int64[groups + 1], where the pairs of a group are
    other: np.ndarray  # int32[pairs], the group on the other side, rising
    upto: np.ndarray  # int32[pairs], records of the other side in the group's pairs before
    degree: np.ndarray  # int64[groups], records of the other side in all its pairs
    first: np.ndarray  # int64[groups], its first record


class State(NamedTuple):
    """A perfect matching, and how long and how often each pair has been in it."""

    holder: np.ndarray  # int32[n], the record that holds each published one
    held: np.ndarray  # int32[n], the published record that each one holds
    pair: np.ndarray  # int64[n], the pair which that is
    since: np.ndarray  # int64[n], the time since when
    time: np.ndarray  # int64[pairs], summed over the records of an original
    visits: np.ndarray  # int64[pairs], how often a record came to hold it
    clock: np.ndarray  # int64[1], moves so far
    seen: np.ndarray  # int64[n], the last walk that came by; this and the rest are scratch
    place: np.ndarray  # int32[n], where in the path
    path: np.ndarray  # int32[n], records
    wish: np.ndarray  # int32[n], the published record that each of them wants
    by: np.ndarray  # int64[n], the pair which that is


@lean_kernel
def _choose(mine, theirs, i, rng):
    """Any record of the other side that fits record i: its pair on this side, and itself."""
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
    """Give published record j to record i."""
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
    """Give published record j to record i, if its holder can have what i holds."""
    held = state.held[i]
    old = originals.other[state.pair[i]]
    if originals.other[pair] == old:  # what i has already, or just the same
        return
    other = state.holder[j]
    back = _find(originals, originals.group[other], old)
    if back != NOT_THERE:
        _give(state, i, j, pair)
        _give(state, other, held, back)


@lean_kernel
def swap(originals, classes, state, i, rng):
    """Record i wants a published record."""
    state.clock[0] += 1
    pair, j = _choose(originals, classes, i, rng)
    _exchange(originals, state, i, j, pair)


@lean_kernel
def offer(originals, classes, twin, state, j, rng):
    """Published record j wants a record."""
    state.clock[0] += 1
    pair, i = _choose(classes, originals, j, rng)
    _exchange(originals, state, i, j, np.int64(twin[pair]))


@lean_kernel
def walk(originals, classes, state, i, rng):
    """Record i wants a published record, its holder then wants another, and so on."""
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
    """Sweep until so many sweeps or steps are done; a step is a record's walk, swaps and offers.

    `twin` int32[pairs] says which pair of the originals each pair of the classes is; `at` int64[2]
    has the next record and the sweeps that are done.
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
    """Write down the times of all pairs until now."""
    now = state.clock[0]
    for i in range(len(state.pair)):
        state.time[state.pair[i]] += now - state.since[i]
        state.since[i] = now


@kernel
def solve(start, group, originals, classes, first, last, share, begin, stop):
    """In how many of all perfect matchings a record of an original holds each class.

    Components are solved one by one: component c has the originals first[c, 0]:last[c, 0], which
    have originals[o] records, and the classes first[c, 1]:last[c, 1], which have classes[g].
    Records come in turn, and a state says how many records of each class are taken; ahead[s]
    counts the ways to get there, rest[s] the ways to go on. A matching of records with classes
    stands for equally many of records with records (the product of classes[g]!), so it counts
    as one. Writes float64[pairs] `share` for the components from `begin` to `stop`.
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
