"""Tables that are prepared for counting queries: distinct vectors, and their sensitive values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple

import numpy as np

from shoal.base.arrays import Floats, Ints, Longs
from shoal.hierarchies.leaf_runs import LeafRuns, leaves_before
from shoal.measures.queries.draw import Query
from shoal.table.alike import places_alike
from shoal.table.encode import Table
from shoal.table.equivalence_classes import Classes, tally
from shoal.table.published_table import Published
from shoal.table.roles import naming
from shoal.table.sensitive import Histogram, Sensitive

MANY_CELLS = 1 << 16  # combinations of values of a few columns that are counted in any case
TOGETHER = 1 << 20  # numbers in an array for queries that are answered together


class ValueCounts(NamedTuple):
    """The records of each vector per sensitive value, sorted by value."""

    vector: Longs  # int64[pairs]
    rows: Floats  # float64[pairs]
    first: Longs  # int64[values + 1]: value v has the pairs first[v] … first[v + 1] - 1


class Joint(NamedTuple):
    """The records of each combination of values of some columns, sorted by sensitive value."""

    codes: tuple[Ints, ...]  # int32[combinations] per quasi-identifier, places in its cover
    rows: Floats  # float64[combinations]
    # int64[values + 1]: sensitive value v has the combinations first[v] … first[v + 1] - 1.
    first: Longs

    @staticmethod
    def of(codes: Sequence[Ints], sizes: Sequence[int], counts: ValueCounts) -> Joint:
        """Count the records of each combination of these columns, of so many values each."""
        values = len(counts.first) - 1
        place = np.repeat(np.arange(values), np.diff(counts.first))
        for code, size in zip(codes, sizes, strict=True):
            place *= size
            place += code[counts.vector]
        rows: Floats = np.bincount(place, counts.rows, values * prod(sizes)).astype(np.float64)
        rest = there = np.flatnonzero(rows)
        found: list[Ints] = []
        for size in reversed(sizes):
            rest, code = np.divmod(rest, size)
            found.insert(0, code.astype(np.int32))
        first = np.searchsorted(rest, np.arange(values + 1))
        return Joint(tuple(found), rows[there], first)


@dataclass(frozen=True, eq=False)
class Counted:
    """A table prepared for queries: distinct vectors, and their sensitive values."""

    covers: tuple[LeafRuns, ...]  # one per quasi-identifier
    codes: tuple[Ints, ...]  # int32[vectors] per quasi-identifier, places in its cover
    rows: Floats  # float64[vectors]
    secrets: tuple[ValueCounts, ...]  # one per sensitive column
    # By quasi-identifiers and sensitive column; many queries are on the same ones.
    _joint: dict[tuple[tuple[int, ...], int | None], Joint] = field(default_factory=dict)

    def answers(self, queries: Sequence[Query]) -> Floats:
        """The records that each query counts; those on the same columns are answered together."""
        places: dict[Query, int] = {}  # a small table has few different queries
        at = [places.setdefault(query, len(places)) for query in queries]
        alike: dict[tuple[tuple[int, ...], int | None], list[Query]] = {}
        for query in places:
            alike.setdefault(query.columns, []).append(query)
        found = np.empty(len(places))
        for some in alike.values():
            found[[places[query] for query in some]] = self._answers(some)
        return np.asarray(found[at])

    def _answers(self, queries: list[Query]) -> Floats | list[float]:
        """The answers of different queries on the same columns."""
        joint = self._counted(queries[0])
        covers = [self.covers[span.column] for span in queries[0].quasi]
        largest = max([len(joint.rows), *(len(cover.low) for cover in covers)])
        if largest * len(queries) > TOGETHER:
            return [self.answer(query) for query in queries]
        low, high = np.array([query.values for query in queries]).T[:, :, None]
        place = np.arange(len(joint.rows))
        weight = np.where(
            (joint.first[low] <= place) & (place < joint.first[high]), joint.rows, 0.0
        )
        spans = np.array([query.quasi for query in queries])  # int64[queries, columns, 3]
        for j, (cover, code) in enumerate(zip(covers, joint.codes, strict=True)):
            weight *= cover.shares(spans[:, j, 1], spans[:, j, 2])[:, code]
        return np.asarray(weight.sum(axis=1))

    def answer(self, query: Query) -> float:
        """The records that a query counts (eq. 19, Wang 2018).

        A generalized value counts as each of its leaves with the same probability. If all values
        are leaves the answer is exact. Records are counted, as COUNT(*) does; the paper counts
        people, who may have several records.
        """
        low, high = query.values
        joint = self._counted(query)
        some = slice(joint.first[low], joint.first[high])
        # Sums instead of dot products, which start threads: slower for this size.
        weight = joint.rows[some].copy()
        for span, code in zip(query.quasi, joint.codes, strict=True):
            weight *= self.covers[span.column].share(span.low, span.high)[code[some]]
        return float(weight.sum())

    def _counted(self, query: Query) -> Joint:
        """The combinations of the columns of a query."""
        columns, secret = query.columns
        if (columns, secret) in self._joint:
            return self._joint[columns, secret]
        n = len(self.rows)
        counts = ValueCounts(np.arange(n), self.rows, np.array([0, n]))
        if secret is not None:
            counts = self.secrets[secret]
        codes = [self.codes[j] for j in columns]
        sizes = [len(self.covers[j].size) for j in columns]
        cells = (len(counts.first) - 1) * prod(sizes)
        if cells > max(MANY_CELLS, len(counts.rows)):  # as many as vectors: nothing is gained
            return Joint(tuple(code[counts.vector] for code in codes), counts.rows, counts.first)
        self._joint[columns, secret] = Joint.of(codes, sizes, counts)
        return self._joint[columns, secret]


def occurring_in(counted: Counted, original: Table) -> list[Longs]:
    """The leaves that values of the original cover, in the order of each tree."""
    occurring = []
    for cover, tree in zip(counted.covers, original.trees, strict=True):
        change = np.zeros(leaves_before(tree)[-1] + 1, np.int64)
        np.add.at(change, cover.low, 1)
        np.add.at(change, cover.high, -1)
        occurring.append(np.flatnonzero(np.cumsum(change)))
    return occurring


class Shared(NamedTuple):
    """A sensitive column of both original and release."""

    before: Sensitive
    after: Sensitive
    values: list[Any]  # of the original, sorted; missing last


def shared_columns(original: Table, published: Published) -> list[Shared]:
    """The sensitive columns that both have."""
    there = {column.name: column for column in published.sensitive}
    return [
        Shared(one, there[one.name], in_order(one))
        for one in original.sensitive
        if one.name in there
    ]


def in_order(column: Sensitive) -> list[Any]:
    """The values of a sensitive column as queries number them: sorted, missing last."""
    return sorted(column.values, key=lambda v: (v is None, v))


def count_original(original: Table, columns: Sequence[Shared]) -> Counted:
    """A table before it is published."""
    classes = tally(original.codes, None, [column.before for column in columns], original.weight)
    covers, codes = [], []
    for j, tree in enumerate(original.trees):
        nodes, code = used_codes(original.codes[classes.first, j], tree.size)
        covers.append(LeafRuns.of_nodes(tree, nodes))
        codes.append(code)
    secrets = tuple(_secrets(classes, column.before, column.values) for column in columns)
    return Counted(tuple(covers), tuple(codes), classes.size.astype(np.float64), secrets)


def count_published(original: Table, published: Published, columns: Sequence[Shared]) -> Counted:
    """The release; suppressed records are in no answer."""
    classes = published.classes
    covers, codes = [], []
    for name, tree in zip(original.names, original.trees, strict=True):
        j = published.names.index(name)
        used, code = used_codes(published.codes[classes.first, j] + 1, len(published.values[j]) + 1)
        with naming(name):
            values = [None if c == 0 else published.values[j][c - 1] for c in used]
            covers.append(LeafRuns.of_labels(tree, values))
        codes.append(code)
    secrets = tuple(_secrets(classes, column.after, column.values) for column in columns)
    return Counted(tuple(covers), tuple(codes), classes.size.astype(np.float64), secrets)


def used_codes(codes: Ints, size: int) -> tuple[Longs, Ints]:
    """The codes that occur, sorted, and the place of each one there; without sorting all."""
    there = np.bincount(codes, minlength=size) > 0
    place = (np.cumsum(there) - 1).astype(np.int32)
    return np.flatnonzero(there), place[codes]


def _secrets(classes: Classes, column: Sensitive, values: list[Any]) -> ValueCounts:
    """Sort the counts by value; values that are not in `values` are dropped."""
    histogram: Histogram = classes.histograms[column.name]
    # Spellings of a value count as one: the release may use another one.
    place = np.array(places_alike(column.values, values), np.int64)[histogram.value]  # int64[pairs]
    order = np.argsort(place, kind="stable")
    order = order[place[order] >= 0]
    first = np.searchsorted(place[order], np.arange(len(values) + 1))
    rows = histogram.count[order].astype(np.float64)
    return ValueCounts(histogram.of_class[order], rows, first)
