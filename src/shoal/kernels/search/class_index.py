"""An index of classes for exact nearest-merge search.

A prefix tree over the class vectors, one attribute a level; a branch with a single class in it
ends in a leaf at once. Children are kept sorted by their value. Values are numbered in preorder
of their hierarchy, so the children that meet the sought value x in one ancestor a are a run of
neighbours: [a, end[a]) without the run of the ancestor before. The search goes from x upwards,
takes those runs one after the other, and stops when even x's own share of the cost passes the
best cost found. What the attributes further down will cost at least is counted in: a value that
no other class has must rise, whatever branch is taken.

Costs are integers, so sums are exact in any order and ties are real ties.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import kernel, lean_kernel
from shoal.kernels.levels import DIVERSITY, badness_of_both

FAR = 2**31 - 1  # later than any record, more than any number of records
WIDE = 16  # children beyond which stale lower bounds are cheaper than a new look


class Trees(NamedTuple):
    """The hierarchies of all attributes, one after the other."""

    start: np.ndarray  # int64[q + 1], where an attribute's nodes begin
    parent: np.ndarray  # int32[nodes], numbered within the attribute
    end: np.ndarray  # int32[nodes]
    cost: np.ndarray  # int64[nodes], cost from the node to the root
    step: np.ndarray  # int64[nodes], cost of the cheapest edge below the node; 0 below a leaf
    ahead: bool  # whether to count in what deeper attributes cost at least


# What a line of Index.node holds. The time goes into fetching nodes from memory: a line is half
# as long as a line of the processor's cache, so one fetch brings all of a node.
HOLDS = 0  # the class of a leaf; -1 for an inner node
KIDS = 1  # where its children begin in the pool
USED = 2  # number of children
ROOM = 3  # log2 of the children that fit
LEAST = 4  # no class below is smaller
FIRST = 5  # no class below has an earlier first record
FAILS = 6  # classes below that fail the models
ABOVE = 7  # the node that this one is a child of

VALUE, CHILD = 0, 1  # what a line of Index.pool holds: a child's value, and its node


class Index(NamedTuple):
    """The prefix tree. Node 0 is its root; a node is a leaf when it holds a class."""

    node: np.ndarray  # int32[nodes, 8]; records and places are far fewer than 2 ** 31
    pool: np.ndarray  # int32[places, 2], children of one node side by side, sorted by value
    leaf: np.ndarray  # int32[classes], the leaf of a class
    equal: np.ndarray  # int32[nodes of all trees], classes that have this value
    under: np.ndarray  # int32[nodes of all trees], classes that have this value or one below
    free: np.ndarray  # int32[nodes], a stack of unused nodes
    freed: np.ndarray  # int64[places], chains of returned runs of children
    chain: np.ndarray  # int64[32], heads of those chains, by log2 of their size
    mark: np.ndarray  # int64[2]: unused nodes left, places used so far


FILTER, COST_THEN_BAD, RATIO = 1, 2, 3
FAR_COST = 2.0**61
NOBODY = np.int64(-1)
NO_COST = np.int64(1) << 61


class Goal(NamedTuple):
    """What a search is for.

    FILTER: the least cost among classes that merged with c are no worse
    than the cap. COST_THEN_BAD: of those with the least cost the least bad. RATIO: the least cost
    per diversity, or cost times distance. Badness below the cap counts as the cap.
    """

    mode: int
    kind: int  # DIVERSITY or CLOSENESS
    cap: float
    skip: int  # a class that is left out


class Known(NamedTuple):
    """The best candidate so far."""

    best: int
    cost: int
    first: int
    bad: float
    key: float
    limit: int
    capped: bool


class Work(NamedTuple):
    """Scratch space of searches."""

    stack: np.ndarray  # int64[q + 1, 9]
    rest: np.ndarray  # int64[q + 1]
    visits: np.ndarray  # int64[2], nodes looked at, and what else took time, in about as much of it


class Classes(NamedTuple):
    """The equivalence classes."""

    vector: np.ndarray  # int32[classes, q], published values
    size: np.ndarray  # int64[classes], records
    first: np.ndarray  # int64[classes], first record
    fails: np.ndarray  # bool[classes]


@lean_kernel
def spent(work):
    """What searches and all else took so far."""
    return work.visits[0] + work.visits[1]


@kernel
def empty_index(classes, values, nodes, pool):
    """Make an index for so many classes and values, with room for nodes and children."""
    free = np.empty(nodes, np.int32)
    for i in range(nodes):
        free[i] = nodes - 1 - i
    index = Index(
        np.zeros((nodes, 8), np.int32),
        np.empty((pool, 2), np.int32),
        np.zeros(classes, np.int32),
        np.zeros(values, np.int32),
        np.zeros(values, np.int32),
        free,
        np.empty(pool, np.int64),
        np.full(32, -1, np.int64),
        np.array([nodes, 0], np.int64),
    )
    take_node(index)  # the root
    return index


@kernel
def grow_index(old, nodes, pool):
    """The same index with room for more."""
    index = empty_index(len(old.leaf), len(old.equal), nodes, pool)
    n = len(old.node)
    # Element by element: what slices need compiles for seconds.
    for i in range(n):
        for j in range(old.node.shape[1]):
            index.node[i, j] = old.node[i, j]
    for i in range(len(old.pool)):
        index.pool[i, 0], index.pool[i, 1] = old.pool[i, 0], old.pool[i, 1]
        index.freed[i] = old.freed[i]
    for i in range(len(old.leaf)):
        index.leaf[i] = old.leaf[i]
    for i in range(len(old.equal)):
        index.equal[i], index.under[i] = old.equal[i], old.under[i]
    for i in range(len(old.chain)):
        index.chain[i] = old.chain[i]
    index.mark[1] = old.mark[1]
    for i in range(nodes - n):
        index.free[i] = nodes - 1 - i
    left = nodes - n
    for i in range(old.mark[0]):
        index.free[left] = old.free[i]
        left += 1
    index.mark[0] = left
    return index


@lean_kernel
def has_room(index, q, fan):
    """Whether one more class of q attributes surely fits; no node has more than `fan` children."""
    return index.mark[0] > q + 2 and index.mark[1] + 2 * fan + 4 * q + 8 < len(index.pool)


@lean_kernel
def take_node(index):
    """Take an unused node."""
    index.mark[0] -= 1
    t = index.free[index.mark[0]]
    index.node[t, HOLDS] = -1
    index.node[t, USED] = 0
    index.node[t, ROOM] = -1
    index.node[t, FAILS] = 0
    index.node[t, LEAST] = FAR
    index.node[t, FIRST] = FAR
    return t


@lean_kernel
def give_node(index, t):
    """Return a node, and the run of its children."""
    if index.node[t, ROOM] >= 0:
        give_run(index, index.node[t, KIDS], index.node[t, ROOM])
    index.free[index.mark[0]] = t
    index.mark[0] += 1


@lean_kernel
def take_run(index, room):
    """Take a run of 2 ** room places for children."""
    at = index.chain[room]
    if at >= 0:
        index.chain[room] = index.freed[at]
        return at
    at = index.mark[1]
    index.mark[1] += np.int64(1) << room
    return at


@lean_kernel
def give_run(index, at, room):
    """Return a run of places."""
    index.freed[at] = index.chain[room]
    index.chain[room] = at


@lean_kernel
def below(pool, base, used, value):
    """How many of the `used` children from `base` on have a smaller value than this."""
    lo, hi = base, base + used
    while lo < hi:
        mid = (lo + hi) // 2
        if pool[mid, VALUE] < value:
            lo = mid + 1
        else:
            hi = mid
    return lo - base


@lean_kernel
def add_child(index, t, at, value, child):
    """Put a child into its place."""
    used = index.node[t, USED]
    room = index.node[t, ROOM]
    if room < 0 or used == np.int64(1) << room:
        new = take_run(index, room + 1)
        if room >= 0:
            old = index.node[t, KIDS]
            for i in range(used):
                index.pool[new + i, VALUE] = index.pool[old + i, VALUE]
                index.pool[new + i, CHILD] = index.pool[old + i, CHILD]
            give_run(index, old, room)
        index.node[t, KIDS] = new
        index.node[t, ROOM] = room + 1
    base = index.node[t, KIDS]
    for i in range(used, at, -1):
        index.pool[base + i, VALUE] = index.pool[base + i - 1, VALUE]
        index.pool[base + i, CHILD] = index.pool[base + i - 1, CHILD]
    index.pool[base + at, VALUE] = value
    index.pool[base + at, CHILD] = child
    index.node[child, ABOVE] = t
    index.node[t, USED] = used + 1


@lean_kernel
def add_leaf(index, classes, t, at, depth, c):
    """Put a class under t, as the child at this place."""
    leaf = take_node(index)
    index.node[leaf, HOLDS] = c
    index.leaf[c] = leaf
    index.node[leaf, LEAST] = classes.size[c]
    index.node[leaf, FIRST] = classes.first[c]
    index.node[leaf, FAILS] = 1 if classes.fails[c] else 0
    add_child(index, t, at, classes.vector[c, depth], leaf)


@lean_kernel
def count(index, trees, classes, c, one):
    """Count class c in (one = 1) or out (one = -1) at its values and all that cover them."""
    for j in range(classes.vector.shape[1]):
        start = trees.start[j]
        value = classes.vector[c, j]
        index.equal[start + value] += one
        while value != 0:
            index.under[start + value] += one
            value = trees.parent[start + value]
        index.under[start] += one


@lean_kernel
def insert(index, trees, classes, c):
    """Insert class c, unless a class with equal published values is there: then return that."""
    q = classes.vector.shape[1]
    t = 0
    for depth in range(q):
        value = classes.vector[c, depth]
        base = index.node[t, KIDS]
        at = below(index.pool, base, index.node[t, USED], value)
        if at == index.node[t, USED] or index.pool[base + at, VALUE] != value:
            add_leaf(index, classes, t, at, depth, c)
            break
        t = index.pool[base + at, CHILD]
        there = index.node[t, HOLDS]
        if there < 0:
            continue
        same = depth + 1
        while same < q and classes.vector[there, same] == classes.vector[c, same]:
            same += 1
        if same == q:
            return there
        # Two classes share this branch: the one that is there moves one level down.
        index.node[t, HOLDS] = -1
        add_leaf(index, classes, t, 0, depth + 1, there)
    if trees.ahead:
        count(index, trees, classes, c, 1)
    size, first = classes.size[c], classes.first[c]
    fails = 1 if classes.fails[c] else 0
    t = index.node[index.leaf[c], ABOVE]
    while True:
        index.node[t, LEAST] = min(index.node[t, LEAST], size)
        index.node[t, FIRST] = min(index.node[t, FIRST], first)
        index.node[t, FAILS] += fails
        if t == 0:
            return -1
        t = index.node[t, ABOVE]


@lean_kernel
def remove(index, trees, classes, c, by_size):
    """Take class c out.

    Bounds that no class reaches any more stay valid, but a new look makes a search by size
    quicker; a search that counts each side once hardly uses them.
    """
    if trees.ahead:
        count(index, trees, classes, c, -1)
    t = index.leaf[c]
    fails = index.node[t, FAILS]
    size, first = classes.size[c], classes.first[c]
    gone, stale = True, by_size
    depth, up = 0, t
    while up != 0:
        depth, up = depth + 1, index.node[up, ABOVE]
    while t != 0:
        kid, t = t, index.node[t, ABOVE]
        depth -= 1
        index.node[t, FAILS] -= fails
        base = index.node[t, KIDS]
        if gone:
            used = index.node[t, USED] - 1
            at = below(index.pool, base, used + 1, classes.vector[c, depth])
            for i in range(at, used):
                index.pool[base + i, VALUE] = index.pool[base + i + 1, VALUE]
                index.pool[base + i, CHILD] = index.pool[base + i + 1, CHILD]
            index.node[t, USED] = used
            give_node(index, kid)
            if used == 0 and t != 0:
                continue
            gone = False
        # Where nothing changes, nothing changes further up.
        stale = stale and (index.node[t, LEAST] == size or index.node[t, FIRST] == first)
        if stale and index.node[t, USED] <= WIDE:
            least, early = FAR, FAR
            for i in range(index.node[t, USED]):
                kid = index.pool[base + i, CHILD]
                least = min(least, index.node[kid, LEAST])
                early = min(early, index.node[kid, FIRST])
            stale = least != index.node[t, LEAST] or early != index.node[t, FIRST]
            index.node[t, LEAST] = least
            index.node[t, FIRST] = early


@lean_kernel
def least_cost(index, trees, j, value, size, unit):
    """What a class of this size pays for attribute j at least, whatever it is merged with.

    `unit` is what a record of the other side counts.
    """
    start = trees.start[j]
    a = value
    while index.under[start + a] == 0 and a != 0:
        a = trees.parent[start + a]
    cost = size * (trees.cost[start + value] - trees.cost[start + a])
    if index.equal[start + a] == 0:
        # Nobody has a itself: either the other side rises to it, or this one goes on rising.
        more = unit * trees.step[start + a]
        if a != 0:
            above = trees.cost[start + trees.parent[start + a]]
            more = min(more, size * (trees.cost[start + a] - above))
        cost += more
    return cost


@lean_kernel
def dearest(goal, key):
    """The highest cost with which a class at the cap could still have this key or a lower one."""
    cost = (
        -key * goal.cap
        if goal.kind == DIVERSITY
        else (key / goal.cap if goal.cap > 0 else FAR_COST)
    )
    return np.int64(min(cost + 1.0, FAR_COST))


def make_nearest(judged):
    """The search, with or without a look at sensitive values: each is compiled by itself."""

    @lean_kernel
    def nearest(index, trees, classes, lists, c, by_size, unit, only_failing, goal, known, work):
        """The class whose merge with c costs least; of several, the one with the first record.

        The cost is MC of Sec. 3, Mauger 2020: each side counts `by_size`, or `unit` times (1 is
        Def. 6 of Mauger 2023; 0 leaves only the first record). Class c must not be in the index.
        `goal` may ask for more than the least cost, and `known` is a candidate to start from.
        Returns the class (-1 when there is none) and the cost.
        """
        # Taken out of their tuples once: the loop below is all the time there is.
        q = classes.vector.shape[1]
        vector, node, pool = classes.vector, index.node, index.pool
        begin, parent, end, price = trees.start, trees.parent, trees.end, trees.cost
        step, stack, rest, spent = trees.step, work.stack, work.rest, work.visits

        size_x = classes.size[c] if by_size else unit
        if trees.ahead:
            rest[q - 1] = 0
            for j in range(q - 1, 0, -1):
                rest[j - 1] = rest[j] + least_cost(index, trees, j, vector[c, j], size_x, unit)
        best, best_cost, best_first = NOBODY, NO_COST, NO_COST
        best_bad, best_key = np.inf, np.inf
        limit = NO_COST  # what costs more cannot be better
        capped = True  # what costs as much is no better either, unless its record is earlier
        if judged:
            best, best_cost, best_first = known.best, known.cost, known.first
            best_bad, best_key, limit, capped = known.bad, known.key, known.limit, known.capped
        depth = 0
        t = np.int64(0)  # the node
        share = np.int64(0)  # x's part of the cost on the way to t
        rise = np.int64(0)  # what one record of the other side has to rise on the way to t
        enter = True
        start = begin[0]
        x = np.int64(0)  # x's value here
        a = np.int64(0)  # its ancestor in which the children at hand meet x
        meet = np.int64(0)  # what a costs to the root
        lo, hi = np.int64(0), np.int64(0)  # the run of children below a
        done_lo, done_hi = np.int64(0), np.int64(0)  # the part of it that is done already
        at = np.int64(0)  # the next child
        while True:
            if enter:
                enter = False
                spent[0] += 1
                start = begin[depth]
                x = np.int64(vector[c, depth])
                a = x
                meet = price[start + a]
                lo = below(pool, node[t, KIDS], node[t, USED], a)
                hi = lo
                while hi < node[t, USED] and pool[node[t, KIDS] + hi, VALUE] < end[start + a]:
                    hi += 1  # few, and they are looked at next anyway
                done_lo, done_hi, at = lo, lo, lo
            if at == done_lo:
                at = done_hi
            if at >= hi:
                # The run is done: go on with the next ancestor, or with the node above.
                up = True
                if a != 0:
                    a = np.int64(parent[start + a])
                    meet = price[start + a]
                    size_y = np.int64(node[t, LEAST]) if by_size else unit
                    own = share + size_x * (price[start + x] - meet)
                    if own + size_y * rise + rest[depth] <= limit:
                        up = False
                        done_lo, done_hi = lo, hi
                        lo = below(pool, node[t, KIDS], lo, a)
                        hi += below(pool, node[t, KIDS] + hi, node[t, USED] - hi, end[start + a])
                        at = lo
                        # Only a itself costs the other side nothing; it comes first, if at all.
                        if own + size_y * (rise + step[start + a]) + rest[depth] > limit:
                            alone = lo < done_lo and pool[node[t, KIDS] + lo, VALUE] == a
                            done_lo, done_hi = lo + (1 if alone else 0), hi
                if up:
                    if depth == 0:
                        break
                    depth -= 1
                    start = begin[depth]
                    x = np.int64(vector[c, depth])
                    t, share, rise = stack[depth, 0], stack[depth, 1], stack[depth, 2]
                    a, lo, hi = stack[depth, 3], stack[depth, 4], stack[depth, 5]
                    done_lo, done_hi, at = stack[depth, 6], stack[depth, 7], stack[depth, 8]
                    meet = price[start + a]
                continue
            place = node[t, KIDS] + at
            at += 1
            kid_share = share + size_x * (price[start + x] - meet)
            kid_rise = rise + price[start + pool[place, VALUE]] - meet
            if kid_share + unit * kid_rise + rest[depth] > limit:
                continue  # too dear even for a single record, whatever is below
            kid = pool[place, CHILD]
            size_y = np.int64(node[kid, LEAST]) if by_size else unit
            cost = kid_share + size_y * kid_rise
            least = cost + rest[depth]
            if least > limit or (capped and least == limit and node[kid, FIRST] > best_first):
                continue
            if only_failing and node[kid, FAILS] == 0:
                continue
            there = node[kid, HOLDS]
            if there < 0:
                stack[depth, 0], stack[depth, 1], stack[depth, 2] = t, share, rise
                stack[depth, 3], stack[depth, 4], stack[depth, 5] = a, lo, hi
                stack[depth, 6], stack[depth, 7], stack[depth, 8] = done_lo, done_hi, at
                depth += 1
                t, share, rise = np.int64(kid), kid_share, kid_rise
                enter = True
                continue
            if judged:  # noqa: SIM102 (the compiler drops the whole branch where there is no goal)
                if there == goal.skip:
                    continue
            # A single class: the rest of its vector is compared at once.
            for j in range(depth + 1, q):
                base = begin[j]
                mine, other = vector[c, j], vector[there, j]
                if mine != other:
                    top = mine
                    while not (top <= other < end[base + top]):
                        top = parent[base + top]
                    both = size_x * price[base + mine] + size_y * price[base + other]
                    cost += both - (size_x + size_y) * price[base + top]
                    if cost > limit:
                        break
            if cost > limit:
                continue
            first = np.int64(node[kid, FIRST])
            earlier = cost < best_cost or (cost == best_cost and first < best_first)
            if not judged:
                if earlier:
                    best, best_cost, best_first, limit = np.int64(there), cost, first, cost
            else:
                if goal.mode == FILTER and not earlier:
                    continue
                both = classes.size[c] + classes.size[there]
                bad = max(badness_of_both(lists, goal.kind, c, there, both), goal.cap)
                key = 0.0
                if goal.mode == FILTER:
                    better = bad == goal.cap
                elif goal.mode == COST_THEN_BAD:
                    same = cost == best_cost
                    less = same and bad == best_bad and first < best_first
                    better = cost < best_cost or (same and bad < best_bad) or less
                else:
                    key = -cost / bad if goal.kind == DIVERSITY else cost * bad
                    better = key < best_key or (key == best_key and earlier)
                if not better:
                    continue
                best, best_cost, best_first = np.int64(there), cost, first
                best_bad, best_key, capped, limit = bad, key, bad == goal.cap, cost
                if goal.mode == FILTER:
                    capped = True
                elif goal.mode == RATIO and not capped:
                    limit = dearest(goal, key)
        return best, best_cost

    return nearest


cheapest = make_nearest(False)
best_by_goal = make_nearest(True)
