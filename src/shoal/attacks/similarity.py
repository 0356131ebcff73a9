"""Similarity."""

from __future__ import annotations

from decimal import Decimal
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from pydantic import field_validator

from shoal.attacks import SensitiveAttack, distinct, toll
from shoal.base.arrays import Bools, Floats, Longs
from shoal.hierarchies.tree import Tree
from shoal.table.person_values import PersonValues
from shoal.table.sensitive import Histogram, Sensitive

ROUNDING = 1e-9


class Similarity(SensitiveAttack):
    """Are the different sensitive values of a class all of one kind, or all about as large?

    Where they are, the attack succeeds: whoever is in the class is known to have a stomach
    disease, or a low salary (Li, Li and Venkatasubramanian 2007). Classes with a single value
    are left to homogeneity. What counts as alike:

    - values that share a branch of the column's hierarchy. The branch has to lie below the one
      that holds all values of the table: that one tells nothing. A missing value is in none.
    - numbers that lie close together: from the least to the greatest it is at most `narrow`,
      by default 0.3, of the way through the table, both by size and by rank among the different
      values. By size alone one millionaire would make everybody else alike; by rank alone 3 and
      1000000 are, where no number lies between them. Numbers are recognized where all values of
      the column are numbers; 3K is a text, and codes that are not meant as numbers should have
      been given as texts.

    Where the table tells whose each row is, it is enough that everybody in the class has a value
    in one branch, whatever else they have; not everybody in the table may have one there, and a
    class in which all have the same value is left to homogeneity. Numbers are judged by rows alone:
    of people with many numbers some always lie close together.

    `judged_by` says which of the two could be used. A column of texts without a hierarchy is
    judged by nothing, and that nobody is found then says nothing.
    """

    name: ClassVar[str] = "similarity"
    narrow: float = 0.3

    @field_validator("narrow")
    @classmethod
    def _share(cls, narrow: float) -> float:
        if not 0 <= narrow <= 1:
            raise ValueError(f"needs narrow from 0 to 1, got narrow={narrow}")
        return narrow

    def finding(
        self, histogram: Histogram, records: Longs | None = None, held: PersonValues | None = None
    ) -> dict[str, Any]:
        """What the attack finds; no numbers where nothing says which values are alike."""
        found = super().finding(histogram, records, held)
        if found["judged_by"] == "nothing":
            found |= dict.fromkeys(COUNTED & found.keys())
        return found

    def victims(self, histogram: Histogram) -> Bools:
        """Classes with different values that are alike."""
        return in_one_branch(histogram) | in_a_narrow_range(histogram, self.narrow)

    def among_people(self, held: PersonValues) -> Bools:
        """Classes in which everybody has some value of one kind."""
        return all_in_one_branch(held)

    def details(
        self, histogram: Histogram, records: Longs | None = None, held: PersonValues | None = None
    ) -> dict[str, Any]:
        """What the column was judged by, and the records by each of them."""
        found: dict[str, Any] = {}
        if histogram.column.hierarchy is not None:
            branch = in_one_branch(histogram)
            if held is not None:
                branch |= all_in_one_branch(held)
            found["records_in_one_branch"] = toll(histogram, branch, records)["records"]
        if numbers(histogram.column) is not None:
            narrow = in_a_narrow_range(histogram, self.narrow)
            found["records_in_a_narrow_range"] = toll(histogram, narrow, records)["records"]
        return {"judged_by": " and ".join(JUDGES[name] for name in found) or "nothing", **found}


COUNTED = {
    *("classes", "records", "percent"),
    *("people", "people_percent", "classes_by_rows", "classes_by_people"),
}
JUDGES = {"records_in_one_branch": "hierarchy", "records_in_a_narrow_range": "numbers"}


def in_one_branch(histogram: Histogram) -> Bools:
    """Classes with several values, all below one node that does not hold all of the table's."""
    column = histogram.column
    tree = column.tree
    if tree is None:
        return np.zeros(len(histogram), np.bool_)
    # Nodes are numbered in preorder: what holds the first and the last one holds all between.
    node = column.nodes[histogram.value]  # int32[pairs]
    branch = np.minimum.reduceat(node, histogram.start[:-1])  # int32[classes]
    last = np.maximum.reduceat(node, histogram.start[:-1])
    while (outside := last >= tree.end[branch]).any():
        branch = np.where(outside, tree.parent[branch], branch)
    top = _top(column, tree)
    below: Bools = (branch > top) & (branch < tree.end[top])
    return below & (distinct(histogram) > 1)


def all_in_one_branch(held: PersonValues) -> Bools:
    """Classes without a value of all in which all have one below a node that tells something."""
    column, hit = held.column, np.zeros(len(held), np.bool_)
    tree = column.tree
    if tree is None:
        return hit
    top = _top(column, tree)
    person = np.repeat(np.arange(len(held.records)), np.diff(held.first))  # int64[holdings]
    node = column.nodes[held.value].astype(np.int64)
    within = []
    while len(inside := np.flatnonzero((node > top) & (node < tree.end[top]))):
        person, node = person[inside], node[inside]
        within.append(person * tree.size + node)
        node = tree.parent[node].astype(np.int64)
    if not within:
        return hit
    person, node = np.divmod(np.unique(np.concatenate(within)), tree.size)  # each branch once
    everywhere = np.bincount(np.unique(held.who[person] * tree.size + node) % tree.size)
    telling = everywhere[node] < held.crowd
    of_class = np.repeat(np.arange(len(held)), held.people)[person[telling]]
    pair, people = np.unique(of_class * tree.size + node[telling], return_counts=True)
    hit[pair[people == held.people[pair // tree.size]] // tree.size] = True
    return hit & (held.most_people < held.people)


def _top(column: Sensitive, tree: Tree) -> int:
    """The lowest node that holds all values of the table; missing ones are in none."""
    known = [n for n, value in zip(column.nodes, column.values, strict=True) if value is not None]
    return int(tree.join(min(known), max(known))) if known else 0


def in_a_narrow_range(histogram: Histogram, narrow: float) -> Bools:
    """Classes with several values, all of them numbers that lie close together."""
    number = numbers(histogram.column)  # float64[values]
    if number is None:
        return np.zeros(len(histogram), np.bool_)
    known = ~np.isnan(number)
    rank = np.full(len(number), np.nan)
    rank[known] = np.unique(number[known], return_inverse=True)[1]
    close: Bools = (distinct(histogram) > 1) & (np.nanmax(rank) > 0)
    for scale in (number, rank):
        width = np.nanmax(scale) - np.nanmin(scale)
        at = scale[histogram.value]  # float64[pairs]; a missing value makes its class wide
        high = np.maximum.reduceat(at, histogram.start[:-1])
        low = np.minimum.reduceat(at, histogram.start[:-1])
        close &= high - low <= (narrow + ROUNDING) * width
    return close


def numbers(column: Sensitive) -> Floats | None:
    """The values as numbers in a scale of -1 to 1, missing as NaN; None if some is no number."""
    number = np.full(len(column.values), np.nan)
    for i, value in enumerate(column.values):
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
            return None
        try:
            number[i] = float(value)
        except (ValueError, OverflowError):
            return None
        if not isfinite(number[i]):
            return None
    if np.isnan(number).all():
        return None
    # The scale does not matter, and differences of scaled numbers cannot overflow.
    return number / (np.nanmax(np.abs(number)) or 1.0)
