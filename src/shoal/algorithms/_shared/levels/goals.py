"""Objectives of a lattice search: the loss of a node, or the sizes of its classes.

A goal maps a node to a whole number, its worth: higher is better. A search is exact if it skips
only nodes that cannot be worth more than the best one. For that there are upper bounds:

- `limits`: for every node, before any is checked;
- `limit_above`: for a node that was checked and all nodes above it;
- `limit_below`: the same for all nodes below it.

None of them requires that the loss grows on the way up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from shoal.base.arrays import Bools, Ints, Longs
from shoal.models import Model, min_class_size


class Found(NamedTuple):
    """The classes of a node, before any of them is suppressed."""

    size: Longs  # int64[classes], records
    people: Longs  # int64[classes]
    keeps: Longs  # int64[classes], the information that one record keeps


class Levels(NamedTuple):
    """The tuples of a table, and what their values become at each level."""

    code: Ints  # int32[tuples, q]
    size: Longs  # int64[tuples], records
    above: list[Ints]  # per column, int32[levels, nodes]
    keeps: list[Longs]  # per column, int64[levels, nodes], what the value keeps


class Goal(ABC):
    """Defines the worth of a node."""

    both_ways: ClassVar[bool] = False  # whether a check of a node bounds those above and below

    @abstractmethod
    def worth(self, found: Found, stays: Bools) -> int:
        """The worth of a node if these classes stay and the others are suppressed."""

    def hope(self, found: Found, stays: Bools) -> int:
        """An upper bound on the worth if more classes are suppressed."""
        return self.worth(found, stays)

    @abstractmethod
    def limits(self, levels: Levels, shape: tuple[int, ...], spare: int) -> Longs:
        """An upper bound for each node, int64[shape]; `spare` records may be suppressed."""

    def limit_above(self, found: Found) -> int | None:  # noqa: ARG002
        """An upper bound for this node and all nodes above it; None: unknown."""
        return None

    def limit_below(self, found: Found, stays: Bools) -> int | None:  # noqa: ARG002
        """An upper bound for this node and all nodes below it; None: unknown.

        No part of a class that does not stay here can stay below.
        """
        return None

    @abstractmethod
    def describe(self, worth: int) -> str:
        """The objective and its value, in words."""


class LeastLoss(Goal):
    """The lowest loss, as reported: a suppressed record counts as fully lost.

    The worth of a node is the information that its records keep. A loss may fall on the way up (the
    entropy loss does). A record may then keep less than nothing, so suppressing it is a gain.
    """

    def __init__(self, name: str, possible: int) -> None:
        self.name, self.possible = name, possible

    def worth(self, found: Found, stays: Bools) -> int:
        """The information that all records keep."""
        return int((found.size * found.keeps)[stays].sum())

    def hope(self, found: Found, stays: Bools) -> int:
        """As if only records that keep less than nothing were suppressed."""
        return int((found.size * np.maximum(found.keeps, 0))[stays].sum())

    def limits(self, levels: Levels, shape: tuple[int, ...], spare: int) -> Longs:
        """The sum over the columns, as if each could drop its own worst `spare` records."""
        limits = np.zeros(shape, np.int64)
        for j, (above, keeps) in enumerate(zip(levels.above, levels.keeps, strict=True)):
            often = np.bincount(levels.code[:, j], levels.size, above.shape[1]).astype(np.int64)
            spared = np.array([_worst(keep, often, spare) for keep in keeps], np.int64)
            most: Longs = keeps @ often + spared
            limits += most.reshape(-1, *(1,) * (len(shape) - 1 - j))
        return limits

    def describe(self, worth: int) -> str:
        """The percent of alteration, as `losses.alteration` has it."""
        lost = 100.0 * (self.possible - worth) / self.possible if self.possible > 0 else 0.0
        return f"loss ({self.name}) is {max(0.0, lost):.6g} %"


def _worst(keep: Longs, often: Longs, spare: int) -> int:
    """What is gained at the most by suppressing so many records that keep less than nothing."""
    gain = 0
    for v in np.argsort(keep, kind="stable"):
        if keep[v] >= 0 or spare == 0:
            break
        many = min(spare, int(often[v]))
        gain -= many * int(keep[v])
        spare -= many
    return gain


class LeastDiscernibility(Goal):
    """The least C_DM (Bayardo, Agrawal 2005), so its worth is negative.

    A record counts as many as its class has, and a suppressed one as many as the table has. On the
    way up a class only grows, to k people or more if it is to be published, and a suppressed record
    counts no less than a member of any class.
    """

    both_ways: ClassVar[bool] = True

    def __init__(self, rows: int, k: int) -> None:
        self.rows, self.k = rows, k

    def worth(self, found: Found, stays: Bools) -> int:
        """The number of records from which each record cannot be distinguished."""
        suppressed = self.rows - int(found.size[stays].sum())
        return -int((found.size[stays] ** 2).sum()) - suppressed * self.rows

    def limits(self, levels: Levels, shape: tuple[int, ...], spare: int) -> Longs:  # noqa: ARG002
        """The sum of squares is lowest for as many classes of equal size as possible."""
        return -(self.rows**2) // most_classes(levels, shape)  # its size rounded up

    def limit_above(self, found: Found) -> int:
        """The sum of squares without suppression, if small classes become just large enough."""
        least = np.where(found.people < self.k, np.maximum(found.size, self.k), found.size)
        return -int((found.size * least).sum())

    def limit_below(self, found: Found, stays: Bools) -> int:
        """As if all other records were in classes of k."""
        published = int(found.size[stays].sum())
        return -published * self.k - (self.rows - published) * self.rows

    def describe(self, worth: int) -> str:
        """The sum of squares."""
        return f"discernibility is {-worth:,}"


class LeastAverageClassSize(Goal):
    """The least C_AVG = (records / classes) / k (LeFevre, DeWitt, Ramakrishnan 2006).

    All records of the table count, and the suppressed ones are one more class: they cannot be
    distinguished. So the worth of a node is its number of classes, which only falls on
    the way up, and suppressing never adds one.
    """

    both_ways: ClassVar[bool] = True

    def __init__(self, rows: int, k: int) -> None:
        self.rows, self.k = rows, k

    def worth(self, found: Found, stays: Bools) -> int:
        """The number of classes."""
        return int(stays.sum()) + int(found.size[~stays].any())

    def limits(self, levels: Levels, shape: tuple[int, ...], spare: int) -> Longs:  # noqa: ARG002
        """The number of classes that the values at these levels could form."""
        return most_classes(levels, shape)

    def limit_above(self, found: Found) -> int:
        """At best classes with k people stay separate; smaller ones are merged or suppressed."""
        small = found.people < self.k
        joined = int(found.people[small].sum()) // self.k + 1
        return int((~small).sum()) + min(int(small.sum()), joined)

    def limit_below(self, found: Found, stays: Bools) -> int:
        """As if all other records were in classes of k."""
        return int(found.people[stays].sum()) // self.k + 1

    def describe(self, worth: int) -> str:
        """C_AVG."""
        return f"average-class-size is {self.rows / worth / self.k:.6g}"


def most_classes(levels: Levels, shape: tuple[int, ...]) -> Longs:
    """An upper bound on the classes of each node: combinations of its values, or tuples."""
    most = np.ones(shape, np.int64)
    for j, above in enumerate(levels.above):
        values = np.array([len(np.unique(up[levels.code[:, j]])) for up in above], np.int64)
        most *= values.reshape(-1, *(1,) * (len(shape) - 1 - j))
        np.minimum(most, len(levels.code), out=most)  # prevents overflow
    return most


def make_goal(objective: str, loss: str, possible: int, rows: int, models: Sequence[Model]) -> Goal:
    """The goal of this name."""
    match objective:
        case "discernibility":
            return LeastDiscernibility(rows, min_class_size(models))
        case "average-class-size":
            return LeastAverageClassSize(rows, min_class_size(models))
    return LeastLoss(loss, possible)
