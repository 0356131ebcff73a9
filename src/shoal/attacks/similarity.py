"""Similarity."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.attacks import SensitiveAttack, distinct, toll
from shoal.attacks._words import Label
from shoal.base.arrays import Bools, Floats, Longs
from shoal.base.settings import Share
from shoal.base.wording import short
from shoal.hierarchies.tree import Tree
from shoal.table.person_values import PersonValues
from shoal.table.sensitive import Histogram, Sensitive

ROUNDING = 1e-9


class Similarity(SensitiveAttack):
    """Are the different sensitive values of a class similar: of one kind, or close in size?

    Where they are, the attack succeeds: all people in the class are known to have a stomach
    disease, or a low salary (Li, Li and Venkatasubramanian 2007). Classes with a single value
    belong to homogeneity. Values are similar if

    - they share a branch of the column's hierarchy. The branch must be below the lowest one that
      has all values of the table, which reveals nothing. A missing value is in no branch.
    - they are numbers close together: the range from the smallest to the largest is at most
      `narrow`, by default 0.3, of the range of the table, both by size and by rank among the
      different values. By size alone, one millionaire would make all others similar; by rank
      alone, 3 and 1000000 would be similar if no number is between them. A column has numbers if
      all of its values are numbers; 3K is a text, and codes should be given as texts.

    With a person column, the attack also succeeds where everybody in the class has a value in one
    branch, among other values; this must not hold for everybody in the table, and classes with a
    common value belong to homogeneity. Numbers are judged by records alone: if people have many
    numbers, some of them are always close together.

    `judged_by` says which of the two could be used. A column of texts without a hierarchy cannot
    be judged: that nothing is found then means nothing.
    """

    name: ClassVar[str] = "similarity"
    in_short: ClassVar[str] = "the values of their class are of one kind, or close together"
    labels: ClassVar[Mapping[str, Label]] = {
        **SensitiveAttack.labels,
        "judged_by": Label("how similar values are recognized"),
        "records_in_one_branch": Label(
            "records in classes with values of one kind",
            "people whose possible records have values of one kind",
        ),
        "records_in_a_narrow_range": Label(
            "records in classes with numbers close together",
            "people whose possible records have numbers close together",
        ),
    }
    narrow: Share = Field(
        default=0.3,
        description="numbers are close together if their range is at most this share of the "
        "range of the table, by size and by rank",
    )

    def finding(
        self,
        histogram: Histogram,
        records: Longs | None = None,
        person_values: PersonValues | None = None,
    ) -> dict[str, Any]:
        """What the attack finds; no numbers if similar values cannot be recognized."""
        found = super().finding(histogram, records, person_values)
        if not self.judged(found):
            found |= dict.fromkeys(COUNTED & found.keys())
        return found

    def victims(self, histogram: Histogram) -> Bools:
        """Classes with different values that are similar."""
        return in_one_branch(histogram) | in_a_narrow_range(histogram, self.narrow)

    def among_people(self, person_values: PersonValues) -> Bools:
        """Classes in which everybody has a value of one kind."""
        return all_in_one_branch(person_values)

    def details(
        self,
        histogram: Histogram,
        records: Longs | None = None,
        person_values: PersonValues | None = None,
    ) -> dict[str, Any]:
        """How similar values are recognized, and the records found each way."""
        found: dict[str, Any] = {}
        if histogram.column.hierarchy is not None:
            branch = in_one_branch(histogram)
            if person_values is not None:
                branch |= all_in_one_branch(person_values)
            found["records_in_one_branch"] = toll(histogram, branch, records)["records"]
        if numbers(histogram.column) is not None:
            narrow = in_a_narrow_range(histogram, self.narrow)
            found["records_in_a_narrow_range"] = toll(histogram, narrow, records)["records"]
        return {"judged_by": " and ".join(JUDGES[name] for name in found) or "nothing", **found}

    def judged(self, found: Mapping[str, Any]) -> bool:
        """Whether similar values can be recognized."""
        return found.get("judged_by") != "nothing"

    def about(self, linked: bool = False) -> str:
        """What the attacker knows and does."""
        of = "the possible records of a person" if linked else "a class"
        return f"Are the different values of {of} similar: all of one kind, or close in size?"

    def success(self, linked: bool = False, people: bool = False) -> str:
        """When the attack succeeds."""
        if people and not linked:
            return (
                "It succeeds where they are, or where everybody in a class has a value of one kind."
            )
        return "It succeeds where they are."

    def headline(self, found: Mapping[str, Any], column: str | None, linked: bool = False) -> str:
        """The share of people or records with similar values."""
        share, name = self.share(found), short(column)
        if linked:
            return (
                f"For {share} of the people the values of {name} in their possible records are "
                "all of one kind, or close together."
            )
        return (
            f"{self.those(found)} are in classes whose values of {name} differ but are all of one "
            "kind, or close together."
        )

    def detail(self, found: Mapping[str, Any]) -> str:
        """How similar values are recognized."""
        if not self.judged(found):
            return "not judged: no hierarchy, no numbers"
        return f"by {found['judged_by']}" if "judged_by" in found else ""


COUNTED = {
    *("classes", "records", "percent"),
    *("people", "people_percent", "classes_by_rows", "classes_by_people"),
}
JUDGES = {"records_in_one_branch": "hierarchy", "records_in_a_narrow_range": "numbers"}


def in_one_branch(histogram: Histogram) -> Bools:
    """Classes with several values, all below one node that does not cover the whole table."""
    column = histogram.column
    tree = column.tree
    if tree is None:
        return np.zeros(len(histogram), np.bool_)
    # Nodes are numbered in preorder: what covers the first and the last covers all between.
    node = column.nodes[histogram.value]  # int32[pairs]
    branch = np.minimum.reduceat(node, histogram.start[:-1])  # int32[classes]
    last = np.maximum.reduceat(node, histogram.start[:-1])
    while (outside := last >= tree.end[branch]).any():
        branch = np.where(outside, tree.parent[branch], branch)
    top = _top(column, tree)
    below: Bools = (branch > top) & (branch < tree.end[top])
    return below & (distinct(histogram) > 1)


def all_in_one_branch(person_values: PersonValues) -> Bools:
    """Classes without a common value in which everybody has one below an informative node."""
    column, hit = person_values.column, np.zeros(len(person_values), np.bool_)
    tree = column.tree
    if tree is None:
        return hit
    top = _top(column, tree)
    # int64[pairs]
    person = np.repeat(np.arange(len(person_values.records)), np.diff(person_values.first))
    node = column.nodes[person_values.value].astype(np.int64)
    within = []
    while len(inside := np.flatnonzero((node > top) & (node < tree.end[top]))):
        person, node = person[inside], node[inside]
        within.append(person * tree.size + node)
        node = tree.parent[node].astype(np.int64)
    if not within:
        return hit
    person, node = np.divmod(np.unique(np.concatenate(within)), tree.size)  # each branch once
    weight = person_values.weight
    pair, once = np.unique(person_values.who[person] * tree.size + node, return_index=True)
    everywhere = np.bincount(pair % tree.size, weight[person[once]])
    informative = everywhere[node] < person_values.person_count
    person, node = person[informative], node[informative]
    pair, place = np.unique(person_values.of_class[person] * tree.size + node, return_inverse=True)
    people = np.bincount(place, weight[person], len(pair))
    hit[pair[people == person_values.people[pair // tree.size]] // tree.size] = True
    return hit & (person_values.most_people < person_values.people)


def _top(column: Sensitive, tree: Tree) -> int:
    """The lowest node that covers all values of the table; a missing value is in none."""
    known = [n for n, value in zip(column.nodes, column.values, strict=True) if value is not None]
    return int(tree.join(min(known), max(known))) if known else 0


def in_a_narrow_range(histogram: Histogram, narrow: float) -> Bools:
    """Classes with several values, all of them numbers close together."""
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
    """The values scaled to -1 to 1, missing as NaN; None if one of them is not a number."""
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
