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
- `walk`: the record that has j requests a published record that covers it, the record that has
  that one requests another, and so on until a class is reached for the second time. The records
  since then form a cycle; each gets what it requested, and the last one the published record of
  that class that the first one had. The reverse move follows the same cycle the other way round:
  its first record is the last one of this move. The records before the cycle do not change. Both
  directions have the probability of the records before the cycle, times 1 / deg of every record in
  it, times the size of the class, as any of its published records closes the cycle.

Published records of a class are interchangeable, so two perfect matchings differ by disjoint cycles
(Prop. 10, Tassa 2012) that may be taken to visit a class at most once. Each cycle is a walk that
begins in it, so walks reach every matching; the chain may also stay, so it is aperiodic. A walk
visits no class twice, so it always ends. Swaps and offers alone may not reach every matching, but
speed up mixing: on releases of Adult, walks alone are ten times less precise in the same time.

Who makes how many requests does not matter for the distribution, as long as it does not depend on
the present matching. A person with one likely record rarely moves, so that its probability is the
least precise: the records in a Focus make more requests.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import kernel, lean_kernel

NOT_THERE = np.int64(-1)
# Of each record and each published record in a sweep, and of how many one begins a walk. With more
# walks a sweep takes longer and is hardly more precise; with fewer, what only a walk can change
# changes rarely.
SWAPS, OFFERS, EVERY = 1, 2, 8
# Of the records in focus: so many times in a sweep, so many more of both.
ROUNDS, MORE_SWAPS, MORE_OFFERS = 4, 2, 4
BLOCK = 64  # records whose requests are drawn together: memory is then waited for once
# A sweep visits every so many-th block, as near ones have much in common: one after the other they
# say less. Prime, so that all are visited unless their number is a multiple.
STRIDE = 37

# Columns of Side.heads
DEGREE, BEGIN, SHIFT, FILTER, BITS, START, END = range(7)
# Columns of State.seats
CLASS, HOLDER, ORIGINAL, PAIR = range(4)

_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2 ** 64 / golden ratio
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11, _1 = (np.uint64(x) for x in (30, 27, 31, 11, 1))


class Side(NamedTuple):
    """One side of the graph: originals with the classes that cover them, or the reverse.

    The records of the other side that fit a group are numbered, class by class. Most time is spent
    waiting for memory, so `slot` finds a record by its number with one access: it has one entry
    for each 2 ** shift numbers. That is the first of their records, if all are of one class;
    otherwise -1 - e, where the first of them is in pair e. For the same reason the numbers of a
    group are side by side in `heads`, and a filter tells of most groups that they do not fit.
    """

    group: np.ndarray  # int32[n], the original (or class) of each record of this side
    start: np.ndarray  # int64[groups + 1], where the pairs of a group begin
    other: np.ndarray  # int32[pairs], the group on the other side, ascending
    upto: np.ndarray  # int32[pairs], records of the other side in the group's pairs before
    first: np.ndarray  # int64[groups], its first record
    slot: np.ndarray  # int32[slots]
    filters: np.ndarray  # uint64[words], bits that are set for the groups that fit
    heads: np.ndarray  # int32[groups, 7]:
    # DEGREE, records of the other side in all its pairs; BEGIN, the first slot; SHIFT; FILTER, the
    # first word of its filter; BITS, the binary logarithm of its bits; START and END of its pairs


class State(NamedTuple):
    """A perfect matching."""

    seats: np.ndarray  # int32[n, 4], for each published record:
    # CLASS; HOLDER, the record matched with it; ORIGINAL, of that record; PAIR, of the original and
    # the class, while matches are counted
    held: np.ndarray  # int32[n], the published record matched with each record
    clock: np.ndarray  # int64[1], moves so far
    random: np.ndarray  # uint64[1], state of the random numbers
    place: np.ndarray  # int32[classes], where in the path of its last walk; from here on scratch
    path: np.ndarray  # int32[classes + 1], published records
    numbers: np.ndarray  # int32[n], all numbers of records
    asked: np.ndarray  # int32[BLOCK], records or published records


class Focus(NamedTuple):
    """Records that make more requests than others; chosen whatever the present matching is."""

    records: np.ndarray  # int32[...]
    published: np.ndarray  # int32[...]


class Counts(NamedTuple):
    """How long and how often originals have been matched with classes."""

    on: bool  # whether anything is counted
    since: np.ndarray  # int64[n], since when a published record is matched with its record
    seen: np.ndarray  # int64[pairs, 2], summed over the records of an original:
    # the time of the match, and how often it began


@kernel
def fill_slots(start, other, upto, first, slot, heads):
    """Write the slots of one side; `first` is that of the other side."""
    for g in range(len(heads)):
        degree, begin, shift = heads[g, DEGREE], heads[g, BEGIN], heads[g, SHIFT]
        e, width = start[g], np.int64(1) << shift
        for at in range(((degree - 1) >> shift) + 1):
            low = at * width
            while e + 1 < start[g + 1] and upto[e + 1] <= low:
                e += 1
            end = upto[e + 1] if e + 1 < start[g + 1] else degree
            alike = min(low + width, degree) <= end
            slot[begin + at] = first[other[e]] + low - upto[e] if alike else -1 - e


@lean_kernel
def _bit(heads, g, other):
    """The bit of a group in the filter of group g."""
    return np.int64((np.uint64(other + 1) * _SPREAD) >> np.uint64(64 - heads[g, BITS]))


@kernel
def fill_filters(start, other, heads, filters):
    """Set the bits of all groups that fit."""
    for g in range(len(heads)):
        for e in range(start[g], start[g + 1]):
            bit = _bit(heads, g, np.int64(other[e]))
            filters[heads[g, FILTER] + (bit >> 6)] |= _1 << np.uint64(bit & 63)


@lean_kernel
def draw(random):
    """A random number from 0 to 1 (SplitMix64, Steele 2014)."""
    random[0] += _SPREAD
    z = random[0]
    z = (z ^ (z >> _30)) * _MIX_1
    z = (z ^ (z >> _27)) * _MIX_2
    return np.float64((z ^ (z >> _31)) >> _11) * 2.0**-53


@lean_kernel
def fitting(heads, slot, upto, other, first, g, r):
    """Record number r of those on the other side that fit group g.

    `first` is of the other side, the rest of the side of g. Kernels called in the innermost loops
    take the few arrays that they need: to pass whole sides takes longer than the work itself.
    """
    shift = heads[g, SHIFT]
    found = np.int64(slot[heads[g, BEGIN] + (r >> shift)])
    if found >= 0:
        return found + (r & ((np.int64(1) << shift) - 1))
    e, end = -1 - found, heads[g, END]
    while e + 1 < end and upto[e + 1] <= r:
        e += 1
    return first[other[e]] + r - upto[e]


@lean_kernel
def _find(heads, other, o, g):
    """The pair of an original and a class."""
    low, end = np.int64(heads[o, START]), np.int64(heads[o, END])
    high = end
    while low < high:
        middle = (low + high) >> 1
        if other[middle] < g:
            low = middle + 1
        else:
            high = middle
    return low if low < end and other[low] == g else NOT_THERE


@lean_kernel
def _leave(state, counts, j):
    """Count how long published record j has been matched with its record."""
    pair = state.seats[j, PAIR]
    counts.seen[pair, 0] += state.clock[0] - counts.since[j]
    counts.seen[pair, 1] += 1  # `begin_counts` and `end_counts` turn departures into arrivals


@lean_kernel
def _take(state, counts, j, i, o, pair):
    """Match published record j with record i of original o."""
    state.seats[j, HOLDER] = i
    state.seats[j, ORIGINAL] = o
    state.held[i] = j
    if counts.on:
        state.seats[j, PAIR] = pair
        counts.since[j] = state.clock[0]


@lean_kernel
def _exchange(originals, state, counts, j, held, pair):
    """Two published records exchange their records; `pair` is that of `held` then."""
    i, o = np.int64(state.seats[held, HOLDER]), np.int64(state.seats[held, ORIGINAL])
    other, its = np.int64(state.seats[j, HOLDER]), np.int64(state.seats[j, ORIGINAL])
    mine = NOT_THERE
    if counts.on:
        _leave(state, counts, j)
        _leave(state, counts, held)
        mine = _find(originals.heads, originals.other, o, np.int64(state.seats[j, CLASS]))
    _take(state, counts, j, i, o, mine)
    _take(state, counts, held, other, its, pair)


@lean_kernel
def _try(originals, state, counts, j, held):
    """Two published records exchange their records, if that of the first can have the other."""
    state.clock[0] += 1
    seats, heads = state.seats, originals.heads
    old = np.int64(seats[held, CLASS])
    if seats[j, CLASS] == old:  # the same one, or an equal one
        return
    o = np.int64(seats[j, ORIGINAL])
    bit = _bit(heads, o, old)
    word = originals.filters[heads[o, FILTER] + (bit >> 6)]
    if (word >> np.uint64(bit & 63)) & _1:
        pair = _find(heads, originals.other, o, old)
        if pair != NOT_THERE:
            _exchange(originals, state, counts, j, held, pair)


@lean_kernel
def _draw_all(heads, slot, upto, other, first, group, numbers, begin, end, random, asked):
    """What each of these records of a side requests: one of those that fit it."""
    for x in range(begin, end):
        g = np.int64(group[numbers[x]])
        r = np.int64(draw(random) * heads[g, DEGREE])
        asked[x - begin] = fitting(heads, slot, upto, other, first, g, r)


@lean_kernel
def swap(originals, classes, state, counts, records, begin, end):
    """Each of these records requests a published record: from `begin` to `end` of an array."""
    _draw_all(
        originals.heads, originals.slot, originals.upto, originals.other, classes.first,
        originals.group, records, begin, end, state.random, state.asked,
    )  # fmt: skip
    for at in range(begin, end):
        j, i = np.int64(state.asked[at - begin]), np.int64(records[at])
        _try(originals, state, counts, j, np.int64(state.held[i]))


@lean_kernel
def offer(originals, classes, state, counts, published, begin, end):
    """Each of these published records requests a record: from `begin` to `end` of an array."""
    _draw_all(
        classes.heads, classes.slot, classes.upto, classes.other, originals.first,
        classes.group, published, begin, end, state.random, state.asked,
    )  # fmt: skip
    for at in range(begin, end):
        i = np.int64(state.asked[at - begin])
        _try(originals, state, counts, np.int64(published[at]), np.int64(state.held[i]))


@lean_kernel
def look_closer(originals, classes, state, counts, focus):
    """More requests of the records in focus, and of the published records in focus."""
    for begin in range(0, len(focus.records), BLOCK):
        end = min(begin + BLOCK, len(focus.records))
        for _ in range(MORE_SWAPS):
            swap(originals, classes, state, counts, focus.records, begin, end)
    for begin in range(0, len(focus.published), BLOCK):
        end = min(begin + BLOCK, len(focus.published))
        for _ in range(MORE_OFFERS):
            offer(originals, classes, state, counts, focus.published, begin, end)


@lean_kernel
def walk(originals, classes, state, counts, j):
    """The record that has j requests a published record, its record another, and so on."""
    state.clock[0] += 1
    seats, path, place, random = state.seats, state.path, state.place, state.random
    heads, slot, upto, other = originals.heads, originals.slot, originals.upto, originals.other
    first = classes.first
    many, g = 0, np.int64(seats[j, CLASS])
    # A place of an earlier walk is beyond this path, or another class is there.
    while place[g] >= many or seats[path[place[g]], CLASS] != g:
        place[g] = many
        path[many] = j
        many += 1
        o = np.int64(seats[j, ORIGINAL])
        r = np.int64(draw(random) * heads[o, DEGREE])
        j = fitting(heads, slot, upto, other, first, o, r)
        g = np.int64(seats[j, CLASS])
    begin = np.int64(place[g])
    if many - begin > 1:
        _rotate(originals, state, counts, begin, many)


@lean_kernel
def _rotate(originals, state, counts, begin, end):
    """In the path, everybody gets the next published record, and the last one the first."""
    seats, path = state.seats, state.path
    j = np.int64(path[end - 1])
    last, its = np.int64(seats[j, HOLDER]), np.int64(seats[j, ORIGINAL])
    if counts.on:
        for at in range(begin, end):
            _leave(state, counts, np.int64(path[at]))
    for at in range(end - 1, begin - 1, -1):
        j, i, o, pair = np.int64(path[at]), last, its, NOT_THERE
        if at > begin:
            before = np.int64(path[at - 1])
            i, o = np.int64(seats[before, HOLDER]), np.int64(seats[before, ORIGINAL])
        if counts.on:
            pair = _find(originals.heads, originals.other, o, np.int64(seats[j, CLASS]))
        _take(state, counts, j, i, o, pair)


@lean_kernel
def sweep(originals, classes, state, counts, focus, at, times, steps):
    """Run `times` sweeps, or about `steps` steps; a step is the moves of one number.

    `at` int64[2] has the number of visited records, and that of finished sweeps.
    """
    n = len(state.held)
    blocks = (n + BLOCK - 1) // BLOCK
    each = max(1, blocks // ROUNDS)
    stride = STRIDE if blocks % STRIDE else 1
    while steps > 0 and at[1] < times:
        begin = at[0] // BLOCK * stride % blocks * BLOCK
        end = min(begin + BLOCK, n)
        for _ in range(SWAPS):
            swap(originals, classes, state, counts, state.numbers, begin, end)
        for _ in range(OFFERS):
            offer(originals, classes, state, counts, state.numbers, begin, end)
        # Where walks begin is drawn, so that each may begin anywhere.
        for j in range(begin + np.int64(draw(state.random) * EVERY), end, EVERY):
            walk(originals, classes, state, counts, j)
        steps -= end - begin
        if at[0] // BLOCK % each == each - 1:
            look_closer(originals, classes, state, counts, focus)
        at[0] += BLOCK
        if at[0] >= n:
            at[0] = 0
            at[1] += 1


@lean_kernel
def begin_counts(originals, state, counts):
    """Begin to count: a match that has begun before is no visit when it ends."""
    counts.since[:] = state.clock[0]
    for j in range(len(state.held)):
        o, g = np.int64(state.seats[j, ORIGINAL]), np.int64(state.seats[j, CLASS])
        pair = _find(originals.heads, originals.other, o, g)
        state.seats[j, PAIR] = pair
        counts.seen[pair, 1] -= 1


@lean_kernel
def end_counts(state, counts):
    """Count all present matches up to now: they have begun, but not ended."""
    for j in range(len(state.held)):
        _leave(state, counts, j)


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
