"""People with several records: their common values, and how many people could be each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.kernels import kernel, lean_kernel

AT_A_TIME = 20_000_000  # records visited between two pauses for Ctrl-C


@kernel
def join_people(codes, person, people, parent, end):
    """For every record the least node that covers all values of its person in one column."""
    joined = np.full(people, -1, np.int32)
    for i in range(len(codes)):
        p = person[i]
        if joined[p] < 0:
            joined[p] = codes[i]
            continue
        top = joined[p]
        while not (top <= codes[i] < end[top]):
            top = parent[top]
        joined[p] = top
    out = np.empty(len(codes), np.int32)
    for i in range(len(codes)):
        out[i] = joined[person[i]]
    return out


@kernel
def lists(of, what, groups):
    """The distinct items of every group in ascending order: where each group begins, and the items.

    `of` and `what` are int64[n]; both must be sorted by (of, what) beforehand.
    """
    start = np.zeros(groups + 1, np.int64)
    items = np.empty(len(of), np.int64)
    used = 0
    for i in range(len(of)):
        if i > 0 and of[i] == of[i - 1] and what[i] == what[i - 1]:
            continue
        items[used] = what[i]
        used += 1
        start[of[i] + 1] = used
    for g in range(groups):
        start[g + 1] = max(start[g + 1], start[g])
    return start, items[:used].copy()


class Memberships(NamedTuple):
    """Which people have records in which classes, from both sides; both lists are ascending."""

    class_start: Any  # int64[classes + 1]
    class_person: Any  # class c has the people class_person[class_start[c]:class_start[c + 1]]
    person_start: Any  # int64[people + 1]
    person_class: Any  # person p is in person_class[person_start[p]:person_start[p + 1]]
    weight: Any  # int64[people], how many people each stands for
    class_weight: Any  # int64[classes], the people of each class


def candidates(of: Memberships) -> Any:
    """The number of people with a record in every class of this person, for each; int64[people].

    These are the candidates for an attacker who sees which records belong to one person. People
    with the same classes share the result, so it is computed once for all of them. Compiled code
    returns regularly, so that Ctrl-C works.
    """
    people = len(of.person_start) - 1
    slots = 1 << (2 * people + 1).bit_length()
    table = np.full(slots, -1, np.int64)  # slot → a person with these classes
    found, p = np.zeros(people, np.int64), 0
    while p < people:
        p = some_candidates(of, table, found, p, AT_A_TIME)
    return found


@lean_kernel
def some_candidates(of, table, found, p, budget):
    """The same for people from p on, within a budget; returns the next person."""
    person_start, person_class = of.person_start, of.person_class
    people = len(person_start) - 1
    mask = np.uint64(len(table) - 1)
    while p < people and budget > 0:
        lo, hi = person_start[p], person_start[p + 1]
        budget -= 1 + hi - lo
        if hi == lo:
            p += 1
            continue
        if hi - lo == 1:
            found[p] = of.class_weight[person_class[lo]]
            p += 1
            continue
        h = np.uint64(hi - lo)
        for i in range(lo, hi):
            h = (h ^ np.uint64(person_class[i])) * np.uint64(0x9E3779B97F4A7C15)
            h ^= h >> np.uint64(29)
        slot = h & mask
        while True:
            other = table[slot]
            if other < 0:
                table[slot] = p
                found[p], looks = count_common(of, lo, hi)
                budget -= looks
                break
            first = person_start[other]
            same = person_start[other + 1] - first == hi - lo
            i = 0
            while same and i < hi - lo:
                same = person_class[first + i] == person_class[lo + i]
                i += 1
            if same:
                found[p] = found[other]
                break
            slot = (slot + np.uint64(1)) & mask
        p += 1
    return p


@lean_kernel
def count_common(of, lo, hi):
    """How many people have a record in each class of person_class[lo:hi], and the visits."""
    class_start, person_start, person_class = of.class_start, of.person_start, of.person_class
    small = person_class[lo]
    for i in range(lo, hi):
        c = person_class[i]
        if class_start[c + 1] - class_start[c] < class_start[small + 1] - class_start[small]:
            small = c
    count, looks = 0, 0
    for k in range(class_start[small], class_start[small + 1]):
        p = of.class_person[k]
        at, stop = person_start[p], person_start[p + 1]
        i = lo
        while i < hi and at < stop:  # both lists are ascending
            if person_class[at] == person_class[i]:
                i += 1
            at += 1
        looks += 1 + at - person_start[p]
        if i == hi:
            count += of.weight[p]
    return count, looks
