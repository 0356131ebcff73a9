"""As numbers: how the values of a column enter means, variances and correlations.

A range enters as numbers that are uniformly distributed within it: its mean is the middle, and its
own variance counts too (W. F. Sheppard 1898). A range of a column of whole numbers is the whole
numbers in it: [30, 40) is 30 to 39, and 34.5 on average. A date is a number of years.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.arrays import Bools, Floats, Longs
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.calendar import as_date
from shoal.hierarchies.free_values import Covers, FreeTree
from shoal.hierarchies.tree import Tree, label_array
from shoal.hierarchies.values import ROOT, number_of

YEAR = 365.2425  # days
EPOCH = date(1970, 1, 1).toordinal()
SECONDS = 86_400  # of a day
# A number in its usual form. Leading zeros make a code: 02139 is a postcode.
_NUMBER = r"^[+-]?(0|[1-9][0-9]{0,100})(\.[0-9]{0,100})?([eE][+-]?[0-9]{1,2})?$"

LARGEST = 1e70


class Numbers(NamedTuple):
    """The values of a column as numbers."""

    mean: Floats  # float64[values]; NaN: missing or suppressed
    variance: Floats  # float64[values], within the value: 0 for a single number

    @property
    def computable(self) -> bool:
        """Whether their fourth powers fit into a float, which the error of a variance needs."""
        largest = np.abs(np.append(self.mean[~np.isnan(self.mean)], 0.0)).max()
        return bool(largest < LARGEST and self.variance.max(initial=0.0) < LARGEST**2)


def numbers_of(values: pa.Array) -> Floats | None:
    """Values of a column as numbers, NaN for null; None if some are not numbers.

    >>> numbers_of(pa.array(["1.5", None, "2"])).tolist(), numbers_of(pa.array(["02139"]))
    ([1.5, nan, 2.0], None)
    """
    kind = values.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _floats(values.cast(pa.float64(), safe=False))
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return None
    written = pc.utf8_trim_whitespace(values)
    if pc.all(pc.match_substring_regex(written, _NUMBER)).as_py() is not True:
        return None
    return _floats(pc.replace_substring_regex(written, r"^\+", "").cast(pa.float64()))


def _floats(values: pa.Array) -> Floats:
    found = values.to_numpy(zero_copy_only=False).astype(np.float64)
    return np.where(np.isfinite(found), found, np.nan)


class NumberColumn(NamedTuple):
    """A quasi-identifier of numbers or dates."""

    tree: Tree
    hierarchy: Hierarchy
    leaf: Floats  # float64[nodes], the number of each leaf; NaN: no leaf, or no number
    whole: bool  # whether all of them are whole numbers, or whole days
    dates: bool = False

    def of_codes(self, codes: Longs, covers: Covers) -> Numbers:
        """The numbers of these codes: nodes of the tree, or free values."""
        mean, variance = np.full(len(codes), np.nan), np.zeros(len(codes))
        node = codes < self.tree.size
        mean[node] = self.leaf[codes[node]]
        for place in np.flatnonzero(~np.isfinite(mean)).tolist():
            mean[place], variance[place] = self._general(int(codes[place]), covers)
        return Numbers(mean, variance)

    def _general(self, code: int, covers: Covers) -> tuple[float, float]:
        """The mean and the variance within a value that is no single number."""
        tree = self.tree
        if code >= tree.size:
            cover = covers.covers[code - tree.size]
            label, below = covers.free.label(cover), self.leaf[covers.free.members(cover)]
        elif is_missing(tree, code):
            return np.nan, 0.0
        else:
            label, below = str(tree.labels[code]), self.leaf[code : tree.end[code]]
        ends = self.hierarchy.ends(label)
        if ends is None or ends[0] is None or ends[1] is None:
            return _of_leaves(below)
        try:
            return self._within(ends[0], ends[1])
        except OverflowError:  # numbers of hundreds of digits
            return np.inf, np.inf

    def _within(self, low: Fraction | date, high: Fraction | date) -> tuple[float, float]:
        """The mean and the variance of a range."""
        if isinstance(low, date):
            assert isinstance(high, date)  # the last day is part of it
            days = high.toordinal() - low.toordinal() + 1
            mean = low.toordinal() - EPOCH + (days - 1 if self.whole else days) / 2
            variance = (days**2 - self.whole) / 12
            return 1970 + mean / YEAR, variance / YEAR**2
        assert isinstance(high, Fraction)
        if self.whole:
            last = int(high) if isinstance(self.tree, FreeTree) else ceil(high) - 1
            first = ceil(low)
            if first <= last:
                return (first + last) / 2, ((last - first + 1) ** 2 - 1) / 12
        return float((low + high) / 2), float(high - low) ** 2 / 12


def _of_leaves(numbers: Floats) -> tuple[float, float]:
    """The mean and the variance of the numbers that a value covers."""
    there = numbers[np.isfinite(numbers)]
    return (float(there.mean()), float(there.var())) if len(there) else (np.nan, 0.0)


def is_missing(tree: Tree, node: int) -> bool:
    """Whether a node says nothing: a suppressed or a missing value."""
    label = tree.labels[node]
    return label is None or label in tree.words or (node == 0 and (tree.size > 1 or label == ROOT))


def leaves(tree: Tree) -> Bools:
    """Which nodes are leaves with a value, bool[nodes]; missing values have none."""
    found: Bools = tree.end == np.arange(1, tree.size + 1)
    for label in (None, *tree.words):
        if (node := tree.node(label)) >= 0:
            found[node] = False
    if tree.size == 1 and tree.labels[0] == ROOT:
        found[0] = False
    return found


def number_column(tree: Tree, hierarchy: Hierarchy) -> NumberColumn | None:
    """A quasi-identifier as numbers; None if it is not numeric.

    A column with ranges or dates is. Others are if all values are numbers, and their hierarchy
    groups neighbouring numbers only: codes are grouped by what they mean.
    """
    there = np.flatnonzero(leaves(tree))
    leaf = np.full(tree.size, np.nan)
    if not len(there):
        return None
    labels = label_array(tree.labels).take(pa.array(there))
    if hierarchy.has_ends and _is_date(hierarchy, labels[0].as_py()):
        leaf[there] = [_years(label) for label in labels.to_pylist()]
        return NumberColumn(tree, hierarchy, leaf, _whole((leaf - 1970) * YEAR), True)
    found = numbers_of(labels)
    if hierarchy.has_ends:  # some values may be ranges already
        leaf[there] = _single(labels) if found is None else found
        return NumberColumn(tree, hierarchy, leaf, _whole(leaf))
    if found is None or hierarchy.name == "prefixes" or not _neighbours(tree, there, found):
        return None
    leaf[there] = found
    return NumberColumn(tree, hierarchy, leaf, _whole(leaf))


def _is_date(hierarchy: Hierarchy, label: str) -> bool:
    ends = hierarchy.ends(label)
    if ends is not None:
        return any(isinstance(end, date) for end in ends)
    return number_of(label) is None and as_date(label) is not None  # with a time of day


def _single(labels: pa.Array) -> Floats:
    """The numbers among labels, NaN for others."""
    numbers = (number_of(label) for label in labels.to_pylist())
    return np.array([np.nan if one is None else float(one) for one in numbers])


def _whole(numbers: Floats) -> bool:
    """Whether all known numbers are whole ones."""
    known = numbers[np.isfinite(numbers)]
    return bool((np.abs(known - np.round(known)) < 1e-6).all())


def _years(label: str) -> float:
    """A date as a number of years; NaN if it is none."""
    moment = as_date(label)
    if moment is None:
        return float("nan")
    seconds = moment.hour * 3600 + moment.minute * 60 + moment.second
    return 1970 + (moment.toordinal() - EPOCH + seconds / SECONDS) / YEAR


def _neighbours(tree: Tree, there: Longs, numbers: Floats) -> bool:
    """Whether every node covers neighbouring numbers."""
    rank = np.argsort(np.argsort(numbers, kind="stable"), kind="stable")  # int64[leaves]
    inner = np.flatnonzero(tree.end > np.arange(1, tree.size + 1))
    first, last = np.searchsorted(there, inner), np.searchsorted(there, tree.end[inner])
    some = last > first
    first, last = first[some], last[some]
    if not len(first):
        return True
    ends = np.stack([first, last], axis=1).ravel()
    padded = np.append(rank, 0)  # reduceat needs an end inside
    low = np.minimum.reduceat(np.append(rank, len(rank)), ends)[::2]
    high = np.maximum.reduceat(padded, ends)[::2]
    return bool((high - low + 1 == last - first).all())


def unchanged_numbers(values: Sequence[Any], array: pa.Array | None) -> Floats | None:
    """The numbers of a column that is published unchanged; None if it is not numeric."""
    if array is None:
        known = [value for value in values if value is not None]
        if not known or any(isinstance(value, bool) for value in known):
            return None
        try:
            array = pa.array(list(values))
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            return None
    return numbers_of(array)
