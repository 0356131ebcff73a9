"""DAnonyIR as it reads (Algorithms 1 and 7, Wang 2018): plain lists, every distance computed.

A box is a list of values: ("tree", node), ("range", low, high) or ("set", frozenset). `keeps` says
what a value keeps, as a whole number; to join two boxes loses what they keep less what the join
keeps, as often as each counts.
"""

from __future__ import annotations


def join_value(trees, j, a, b):
    if a[0] == "tree":
        return "tree", trees[j].join(a[1], b[1])
    if a[0] == "range":
        return "range", min(a[1], b[1]), max(a[2], b[2])
    return "set", a[1] | b[1]


def join(trees, a, b):
    return [join_value(trees, j, x, y) for j, (x, y) in enumerate(zip(a, b, strict=True))]


def distance(trees, keeps, a, size_a, b, size_b):
    """Definitions 4.6 and 4.7."""
    both = keeps(join(trees, a, b))
    return size_a * (keeps(a) - both) + size_b * (keeps(b) - both)


def danonyir(trees, keeps, boxes, records, first, good, starts, suppression, shuffle):
    """The classes as sets of people, and who is suppressed.

    `good(people)` says whether a class satisfies the model, `starts` in which order people begin a
    class; `shuffle` gives those who are left over their order.
    """
    pool = set(range(len(boxes)))
    done = []  # (people, box)
    rest = []
    for start in starts:
        if start not in pool:
            continue
        pool.discard(start)
        members, box = [start], boxes[start]
        while not good(members) and pool:
            size = sum(records[p] for p in members)

            def far(p, box=box, size=size):
                return distance(trees, keeps, boxes[p], records[p], box, size), first[p]

            p = min(pool, key=far)

            def far_class(c, box=box, size=size):
                total = sum(records[p] for p in c[0])
                return distance(trees, keeps, c[1], total, box, size), min(first[p] for p in c[0])

            other = min(done, key=far_class, default=None)
            if other is None or far(p)[0] <= far_class(other)[0]:
                pool.discard(p)
                members, box = [*members, p], join(trees, box, boxes[p])
            else:
                done.remove(other)
                members, box = [*members, *other[0]], join(trees, box, other[1])
        if good(members):
            done.append((members, box))
        else:
            rest = members
    lost = []
    rest = sorted(rest)
    shuffle(rest)
    for p in rest:
        fits = [c for c in done if good([*c[0], p])]

        def far_class(c, p=p):
            total = sum(records[q] for q in c[0])
            cost = distance(trees, keeps, boxes[p], records[p], c[1], total)
            return cost, min(first[q] for q in c[0])

        near = min(fits, key=far_class, default=None)
        if near is None or far_class(near)[0] > suppression[p]:
            lost.append(p)
        else:
            done.remove(near)
            done.append(([*near[0], p], join(trees, near[1], boxes[p])))
    return [(sorted(members), box) for members, box in done], lost
