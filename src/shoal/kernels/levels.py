"""The sensitive values of classes, and their badness: lower is safer.

The badness of a class is minus its l-diversity (Def. 11, Mauger 2023), its distance from the table
(Def. 14), or minus its people. That of a table is the badness of its worst class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import kernel, lean_kernel

DIVERSITY, CLOSENESS, SIZE = 0, 1, 2
FINE = 2.0**40  # badness is rounded to 1 / FINE, so that sums in another order stay equal


class Lists(NamedTuple):
    """The sensitive values of every class and their frequencies, linked in ascending order."""

    head: np.ndarray  # int32[classes], the first item of a class; -1 for none
    value: np.ndarray  # int32[items]
    often: np.ndarray  # int64[items]
    following: np.ndarray  # int32[items], the next item of the same class; -1 at the end
    overall: np.ndarray  # float64[values], shares of the table
    badness: np.ndarray  # float64[classes]
    heap: np.ndarray  # float64[places, 2]: badness, class; the worst on top
    used: np.ndarray  # int64[1], places used


@kernel
def make_lists(start, value, count, overall, places):
    """Lists of the classes that a histogram counts."""
    classes = len(start) - 1
    head = np.full(classes, -1, np.int32)
    following = np.full(len(value), -1, np.int32)
    for c in range(classes):
        if start[c] < start[c + 1]:
            head[c] = start[c]
        for i in range(start[c], start[c + 1] - 1):
            following[i] = i + 1
    return Lists(
        head, value.copy(), count.copy(), following, overall,
        np.zeros(classes), np.zeros((places, 2)), np.zeros(1, np.int64),
    )  # fmt: skip


@lean_kernel
def badness_of_both(lists, kind, a, b, size):
    """The badness of classes a and b as one class of this size; b < 0: a alone."""
    if kind == SIZE:  # no person is in both
        return lists.badness[a] + (lists.badness[b] if b >= 0 else 0.0)
    i = lists.head[a]
    j = lists.head[b] if b >= 0 else np.int32(-1)
    total = 0.0
    missing = 1.0  # share of the table that neither class has
    while i >= 0 or j >= 0:
        v = -1
        count = np.int64(0)
        if i >= 0 and (j < 0 or lists.value[i] <= lists.value[j]):
            v = lists.value[i]
        else:
            v = lists.value[j]
        if i >= 0 and lists.value[i] == v:
            count += lists.often[i]
            i = lists.following[i]
        if j >= 0 and lists.value[j] == v:
            count += lists.often[j]
            j = lists.following[j]
        share = count / size
        if kind == DIVERSITY:
            total -= share * np.log(share)
        else:
            total += abs(share - lists.overall[v])
            missing -= lists.overall[v]
    bad = -np.exp(total) if kind == DIVERSITY else total + max(missing, 0.0)
    return np.rint(bad * FINE) / FINE


@lean_kernel
def join_lists(lists, a, b):
    """Add the values of class b to those of class a."""
    i, j = lists.head[a], lists.head[b]
    last = np.int32(-1)
    while i >= 0 or j >= 0:
        if i >= 0 and j >= 0 and lists.value[i] == lists.value[j]:
            lists.often[i] += lists.often[j]
            j = lists.following[j]
            continue
        if i >= 0 and (j < 0 or lists.value[i] < lists.value[j]):
            item, i = i, lists.following[i]
        else:
            item, j = j, lists.following[j]
        if last < 0:
            lists.head[a] = item
        else:
            lists.following[last] = item
        last = item
    if last >= 0:
        lists.following[last] = -1


@lean_kernel
def push_worst(lists, bad, c):
    """Put a class on the heap of the worst."""
    heap = lists.heap
    i = lists.used[0]
    lists.used[0] += 1
    while i > 0 and heap[(i - 1) // 2, 0] < bad:
        heap[i, 0], heap[i, 1] = heap[(i - 1) // 2, 0], heap[(i - 1) // 2, 1]
        i = (i - 1) // 2
    heap[i, 0], heap[i, 1] = bad, c


@lean_kernel
def pop_worst(lists):
    """Take the worst class off the heap."""
    heap = lists.heap
    last = lists.used[0] - 1
    lists.used[0] = last
    bad, c = heap[last, 0], heap[last, 1]
    i = 0
    while True:
        kid = 2 * i + 1
        if kid >= last:
            break
        if kid + 1 < last and heap[kid + 1, 0] > heap[kid, 0]:
            kid += 1
        if heap[kid, 0] <= bad:
            break
        heap[i, 0], heap[i, 1] = heap[kid, 0], heap[kid, 1]
        i = kid
    heap[i, 0], heap[i, 1] = bad, c


@lean_kernel
def judge_all(lists, kind, size):
    """Compute the badness of every class, and put all on the heap."""
    for c in range(len(size)):
        lists.badness[c] = badness_of_both(lists, kind, c, -1, size[c])
        push_worst(lists, lists.badness[c], c)


@kernel
def count_all(people):
    """Lists for the badness that counts people, without sensitive values; all are on the heap."""
    classes = len(people)
    none, shares = np.zeros(0, np.int32), np.zeros(0)
    lists = Lists(
        np.full(classes, -1, np.int32), none, np.zeros(0, np.int64), none, shares,
        -people.astype(np.float64), np.zeros((2 * classes + 8, 2)), np.zeros(1, np.int64),
    )  # fmt: skip
    for c in range(classes):
        push_worst(lists, lists.badness[c], c)
    return lists


@lean_kernel
def worst_but(lists, into, c, d):
    """The worst class alive other than c and d, or -1; it stays on the heap's top."""
    while lists.used[0] > 0:
        top = np.int64(lists.heap[0, 1])
        alive = into[top] == top and top != c and top != d
        if alive and lists.badness[top] == lists.heap[0, 0]:
            return top
        pop_worst(lists)
    return np.int64(-1)
