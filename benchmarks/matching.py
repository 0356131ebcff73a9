"""The attack `matching` on a concealed Adult, against the chain that works record by record.

The plain chain has the moves of the Markov chain before issue 18 as they read: it requests records
one after the other, looks every pair up by binary search, ends a walk only where a record is
reached for the second time, and treats everybody alike. It is slower than the attack was then,
which looked pairs up by an index. Times are of all chains, in processor seconds; `spread` is the
mean difference between two chains. A person is found where the probability of the most likely
record exceeds one half by three errors, with the errors of the attack.
"""

from __future__ import annotations

from time import process_time
from typing import NamedTuple

import numba
import numpy as np

from shoal.attacks._chains import Chain
from shoal.attacks._matches import Matches, matches_of
from shoal.attacks.matching import BATCHES, Matching
from shoal.base.progress import silent
from shoal.kernels.matching.matchings import DEGREE, NOT_THERE

PLAIN_CHAINS, PLAIN_SWEEPS = 4, 15  # sixty samples; half as many sweeps for burn-in
K = 10


def run() -> list[dict]:
    return [_measured(randomized) for randomized in (False, True)]


def _measured(randomized: bool) -> dict:
    graph = _graph(randomized)
    likeliest = Matching().likeliest(graph)
    found = int(graph.originals[likeliest.chance - 3.0 * likeliest.error > 0.5].sum())
    now, new = _both(lambda seed: _attack(graph, seed))
    each, old = _both(lambda seed: _plain(graph, seed, PLAIN_SWEEPS * graph.ease))
    before = each * PLAIN_CHAINS
    return {
        "what": f"matching on Adult, k = {K}, {'randomized' if randomized else 'deterministic'}; "
        f"{found} people found; spread {new:.4f}, plain {old:.4f}",
        "shoal": now, "plain scan": before, "ratio": before / now, "goal": "≥ 3",
    }  # fmt: skip


def _graph(randomized: bool) -> Matches:
    """The matches of Adult and a release of it."""
    from benchmarks.tables import everyone, plan
    from shoal.algorithms.concealment import Concealment
    from shoal.io.frames import open_frame
    from shoal.losses.lm import LM
    from shoal.models.k_concealment import KConcealment
    from shoal.table.encode import encode
    from shoal.table.match_graph import link
    from shoal.table.published_table import Published

    people = everyone()
    table = encode(open_frame(people), {name: plan().columns[name] for name in people.column_names})
    made = Concealment(randomized=randomized, start="expansion").recode(
        table, [KConcealment(k=K)], LM(), np.random.default_rng(1)
    )
    labels = tuple(list(tree.labels) for tree in table.trees)
    wide = made.vectors[made.record].astype(np.int32)
    return matches_of(link(table, Published(table.names, wide, labels, None)), Matching().exact)


def _both(look) -> tuple[float, float]:
    """Seconds per look, and how much two chains differ, over all pairs of a person."""
    look(0)  # compiles
    begin = process_time()
    one, weight = look(1)
    other, _ = look(2)
    seconds = (process_time() - begin) / 2
    return seconds, float(np.sqrt(((one - other) ** 2 * weight).sum() / weight.sum()))


def _attack(graph: Matches, seed: int):
    """All chains of the attack; what the first one counted."""
    first, *_ = Matching(seed=seed)._look(graph, silent)
    return first.total / BATCHES, graph.originals[graph.of_original[: graph.pairs]]


def _plain(graph: Matches, seed: int, sweeps: int):
    chain = Chain(graph, np.random.default_rng(seed))
    sides = [
        PlainSide(s.group, s.start, s.other, s.upto, s.heads[:, DEGREE].astype(np.int64), s.first)
        for s in graph.sides
    ]
    n, pairs = len(chain.state.held), graph.pairs
    state = PlainState(
        chain.state.seats[:, 1].copy(), chain.state.held.copy(), np.zeros(1, np.int64),
        *(np.zeros(n, np.int64) for _ in range(4)), np.zeros(pairs, np.int64),
    )  # fmt: skip
    rng = np.random.default_rng(seed)
    plain_sweep(*sides, state, False, -(-sweeps // 2), rng)
    begin = state.clock[0]
    state.since[:] = begin
    plain_sweep(*sides, state, True, sweeps, rng)
    plain_end(*sides, state)
    return state.time / (chain.records * (state.clock[0] - begin)), chain.records


class PlainSide(NamedTuple):
    """One side of the graph."""

    group: np.ndarray
    start: np.ndarray
    other: np.ndarray
    upto: np.ndarray
    degree: np.ndarray
    first: np.ndarray


class PlainState(NamedTuple):
    """A perfect matching, scratch for walks, and how long each pair has been matched."""

    holder: np.ndarray
    held: np.ndarray
    clock: np.ndarray
    place: np.ndarray
    path: np.ndarray
    wish: np.ndarray
    since: np.ndarray
    time: np.ndarray


@numba.njit(cache=True)
def choose(mine, theirs, g, rng):
    """A random record of the other side that fits group g."""
    r = np.int64(rng.random() * mine.degree[g])
    low, high = mine.start[g], mine.start[g + 1]
    while high - low > 1:
        middle = (low + high) >> 1
        if mine.upto[middle] <= r:
            low = middle
        else:
            high = middle
    return theirs.first[mine.other[low]] + r - mine.upto[low]


@numba.njit(cache=True)
def find(originals, o, g):
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


@numba.njit(cache=True)
def give(originals, classes, state, counted, i, j):
    """Match published record j with record i."""
    old = classes.group[state.held[i]]
    state.holder[j] = i
    state.held[i] = j
    if counted and classes.group[j] != old:
        state.time[find(originals, originals.group[i], old)] += state.clock[0] - state.since[i]
        state.since[i] = state.clock[0]


@numba.njit(cache=True)
def exchange(originals, classes, state, counted, i, j):
    """Match published record j with record i, if its present record can have that of i."""
    state.clock[0] += 1
    held = state.held[i]
    old = classes.group[held]
    other = state.holder[j]
    if classes.group[j] != old and find(originals, originals.group[other], old) != NOT_THERE:
        give(originals, classes, state, counted, i, j)
        give(originals, classes, state, counted, other, held)


@numba.njit(cache=True)
def plain_sweep(originals, classes, state, counted, times, rng):
    """Two swaps, four offers and a walk of every record, `times` times."""
    for _ in range(times):
        for record in range(len(state.held)):
            for _ in range(2):
                j = choose(originals, classes, originals.group[record], rng)
                exchange(originals, classes, state, counted, record, j)
            for _ in range(4):
                i = choose(classes, originals, classes.group[record], rng)
                exchange(originals, classes, state, counted, i, record)
            state.clock[0] += 1
            many, i = 0, np.int64(record)
            while state.place[i] >= many or state.path[state.place[i]] != i:
                state.place[i] = many
                state.path[many] = i
                state.wish[many] = choose(originals, classes, originals.group[i], rng)
                i = np.int64(state.holder[state.wish[many]])
                many += 1
            for at in range(state.place[i], many):
                give(originals, classes, state, counted, state.path[at], state.wish[at])


@numba.njit(cache=True)
def plain_end(originals, classes, state):
    """Count all present matches up to now."""
    for i in range(len(state.held)):
        row = find(originals, originals.group[i], classes.group[state.held[i]])
        state.time[row] += state.clock[0] - state.since[i]
