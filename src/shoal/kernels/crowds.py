"""Who is left of a class when records are ruled out by their other values.

Records are rows of codes. A relation says which leaves of a quasi-identifier go with each code of a
column (kernels/relations.py). A target looks for the records that could be theirs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from shoal.kernels import lean_kernel
from shoal.kernels.relations import find_leaf


class Relations(NamedTuple):
    """What codes say: about the leaves of `quasi[i]` that go with a code of `column[i]`."""

    column: Any  # int64[relations]
    quasi: Any  # int64[relations]
    base: Any  # int64[relations], the place of code -1 in the arrays that follow
    kind: Any  # int32[codes of all relations]: 0 nothing, 1 only these leaves, 2 none of these
    start: Any  # int64[codes + 1], where the leaves of each code begin
    leaf: Any  # int32[…], rising for each code


class Records(NamedTuple):
    """The records of all classes, and the groups of records that are one person or more."""

    code: Any  # int32[records, columns], from -1 on
    group: Any  # int64[records]
    start: Any  # int64[classes + 1], where the records of each class begin
    weight: Any  # int64[groups], people
    first: Any  # int64[groups + 1], where the records of each group begin in `member`
    member: Any  # int64[records], those of each group
    label: Any  # int64[records], the class of each


class Targets(NamedTuple):
    """Those who are looked for: what is known of each of their records."""

    start: Any  # int64[targets + 1]
    label: Any  # int64[known records], the class
    # The leaves that each known record may have, int32[known records, quasi]: from low to high - 1.
    low: Any
    high: Any
    code: Any  # int32[known records, columns]: where leaves are not known, what is published


class View(NamedTuple):
    """A table as an attacker sees it who uses some relations."""

    relations: Any
    records: Any
    targets: Any
    general: Any  # bool[classes, quasi], whether more than one value is published
    value: Any  # int64[classes, quasi], a number for what is published
    covered: Any  # the leaves of what is published (kernels/relations.py)


@lean_kernel
def has_leaf(leaf, begin, end, one):
    """Whether a leaf is listed."""
    at = find_leaf(leaf, begin, end, one)
    return at < end and leaf[at] == one


@lean_kernel
def allows(relations, at, low, high):
    """Whether a code goes with one of the leaves from low to high - 1."""
    kind = relations.kind[at]
    if kind == 0:
        return True
    end = relations.start[at + 1]
    place = find_leaf(relations.leaf, relations.start[at], end, low)
    there = place < end and relations.leaf[place] < high
    return there if kind == 1 else not (there and high - low == 1)


@lean_kernel
def covers(covered, value, leaf):
    """Whether a published value covers a leaf."""
    if not (covered.low[value] <= leaf < covered.high[value]):
        return False
    begin, end = covered.start[value], covered.stop[value]
    return begin == end or has_leaf(covered.leaf, begin, end, leaf)


@lean_kernel
def possible(relations, covered, at, value):
    """Whether a code leaves any leaf of a published value."""
    if relations.kind[at] != 1:
        return True
    for place in range(relations.start[at], relations.start[at + 1]):
        if covers(covered, value, relations.leaf[place]):
            return True
    return False


@lean_kernel
def contains(relations, covered, own, other, value):
    """Whether all leaves of a published value that go with one code go with the other code.

    A leaf that no record shows exactly goes with a code of kind 0 or 2.
    """
    if own == other or relations.kind[other] == 0:
        return True
    begin, end = relations.start[own], relations.start[own + 1]
    first, last = relations.start[other], relations.start[other + 1]
    if relations.kind[other] == 1:
        if relations.kind[own] != 1:
            return False
        for place in range(begin, end):
            leaf = relations.leaf[place]
            if covers(covered, value, leaf) and not has_leaf(relations.leaf, first, last, leaf):
                return False
        return True
    for place in range(first, last):  # none of these goes with the other code
        leaf = relations.leaf[place]
        if covers(covered, value, leaf):
            listed = has_leaf(relations.leaf, begin, end, leaf)
            if listed == (relations.kind[own] == 1) or relations.kind[own] == 0:
                return False
    return True


@lean_kernel
def fits(view, t, r):
    """Whether record r could be the known record t, which is in the same class."""
    relations, targets = view.relations, view.targets
    label = targets.label[t]
    for i in range(len(relations.column)):
        j = relations.quasi[i]
        if not view.general[label, j]:
            continue
        at = relations.base[i] + view.records.code[r, relations.column[i]] + 1
        if len(targets.low) > 0:
            if not allows(relations, at, targets.low[t, j], targets.high[t, j]):
                return False
        else:
            own = relations.base[i] + targets.code[t, relations.column[i]] + 1
            value = view.value[label, j]
            if not possible(relations, view.covered, own, value):
                return False
            if not contains(relations, view.covered, own, at, value):
                return False
    return True


@lean_kernel
def has_fit(view, t, group):
    """Whether a record of the group, in the same class, could be the known record t."""
    records = view.records
    for m in range(records.first[group], records.first[group + 1]):
        r = records.member[m]
        if records.label[r] == view.targets.label[t] and fits(view, t, r):
            return True
    return False


@lean_kernel
def count_left(view, most, mark, left, t, budget):
    """How many people are left for each target from t on, at most `most`.

    A group is left if for each known record of the target one of its records fits. Returns the next
    target, when the budget of records is used up. `mark`, int64[groups], begins with -1.
    """
    records, targets = view.records, view.targets
    while t < len(left) and budget > 0:
        begin, end = targets.start[t], targets.start[t + 1]
        rarest = begin
        for i in range(begin + 1, end):
            a, b = targets.label[i], targets.label[rarest]
            if records.start[a + 1] - records.start[a] < records.start[b + 1] - records.start[b]:
                rarest = i
        label, people = targets.label[rarest], 0
        r = records.start[label]
        while r < records.start[label + 1] and people < most:
            group = records.group[r]
            budget -= 1
            if mark[group] != t and fits(view, rarest, r):
                mark[group] = t
                every = True
                for i in range(begin, end):
                    if i != rarest:
                        budget -= 1
                        every = every and has_fit(view, i, group)
                if every:
                    people += records.weight[group]
            r += 1
        left[t] = min(people, most)
        t += 1
    return t


@lean_kernel
def is_left(view, target, group, own):
    """Whether each person, who is a target and a group, is among those who are left."""
    for p in range(len(own)):
        own[p] = True
        for i in range(view.targets.start[target[p]], view.targets.start[target[p] + 1]):
            if not has_fit(view, i, group[p]):
                own[p] = False
                break
