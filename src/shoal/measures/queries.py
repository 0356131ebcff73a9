"""Counting queries: the error of answers from a release instead of its original.

A query counts the records with certain values of some quasi-identifiers and of a sensitive column
(Sec. 5, Wang 2018). Its values are values of the original, so queries are not reported, only their
errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count, islice
from math import ceil, prod
from threading import Lock
from typing import Any, ClassVar, NamedTuple

import numpy as np

from shoal.base.arrays import Floats, Ints, Longs
from shoal.base.settings import AtLeastOne, PositiveShare, Setting
from shoal.hierarchies.leaf_runs import LeafRuns, leaves_before
from shoal.table.alike import places_alike
from shoal.table.encode import Table
from shoal.table.equivalence_classes import Classes, tally
from shoal.table.published_table import Published
from shoal.table.roles import naming
from shoal.table.sensitive import Histogram, Sensitive

MANY_ROWS = 250_000  # from which on there are fewer queries, so that they take few seconds
FEWEST = 50  # queries for any table
TRIES = 20  # draws per query, until its true answer is not zero
MANY_CELLS = 1 << 16  # combinations of values of a few columns that are counted in any case
FEW_ROWS = 20_000  # up to which all queries take so little time that nobody watches
AT_ONCE = 50  # queries between two reports of progress for larger tables
FINEST = 1000  # a weight is counted in so many parts of the smallest one
LARGEST = 2.0**52  # sums of weights, as whole numbers that floats still represent
TOGETHER = 1 << 20  # numbers in an array for queries that are answered together


class Queries(Setting):
    """Counting queries, drawn at random.

    A query selects a span of values of some quasi-identifiers and of a sensitive column. Wang 2018
    draws the quasi-identifiers and does not state the width of the spans. Here a span is a share
    of the values that occur, the same in each column, such that a query selects `selectivity` of
    the records if values are uniformly distributed.
    """

    name: ClassVar[str] = "queries"
    number: AtLeastOne = 1000
    dimensions: AtLeastOne = 2  # quasi-identifiers per query: λ in the paper
    selectivity: PositiveShare = 0.1
    seed: int = 0  # fixed, so that a release and its audit use the same queries

    def fitting(self, rows: int) -> int:
        """The number of queries for a table of this size: fewer for a very large one."""
        if rows <= MANY_ROWS:
            return self.number
        return min(self.number, max(FEWEST, self.number * MANY_ROWS // rows))


@dataclass(frozen=True)
class Answers:
    """The error of answers from a release instead of its original."""

    number: int  # queries that were answered
    asked: int  # queries that were requested
    dimensions: int
    sensitive: bool  # whether queries include a sensitive column
    mean: float | None  # relative error; None: no query could be answered
    median: float | None

    def as_dict(self) -> dict[str, Any]:
        """All numbers by the names of the JSON file."""
        return {
            "number": self.number,
            "lambda": self.dimensions,
            "mean_relative_error": self.mean,
            "median_relative_error": self.median,
        }

    def notes(self, rows: int) -> list[str]:
        """Report if fewer queries were answered than requested."""
        if self.number == self.asked:
            return []
        why = f"the table has {rows:,} records"
        if rows <= MANY_ROWS:
            why = "no record satisfies the others"
        return [f"{self.number:,} counting queries were answered, not {self.asked:,}: {why}"]


class Span(NamedTuple):
    """The values of a column that a query selects: neighbours in the order of the column."""

    column: int
    low: int
    high: int  # one past the last


class Query(NamedTuple):
    """SELECT COUNT(*) WHERE all of these hold (Sec. 5, Wang 2018)."""

    quasi: tuple[Span, ...]
    sensitive: Span | None

    @property
    def columns(self) -> tuple[tuple[int, ...], int | None]:
        """The quasi-identifiers and the sensitive column."""
        secret = None if self.sensitive is None else self.sensitive.column
        return tuple([span.column for span in self.quasi]), secret

    @property
    def values(self) -> tuple[int, int]:
        """The sensitive values, one past the last; without a sensitive column there is one."""
        return (0, 1) if self.sensitive is None else (self.sensitive.low, self.sensitive.high)


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


def answer(
    original: Table,
    published: Published,
    queries: Queries,
    watch: Callable[[float], None] = lambda _: None,
    rows: int | None = None,
) -> Answers:
    """Answer the same queries from original and release; a query with answer 0 is drawn again.

    `watch` is called with the share that is done. `rows` is the size of the table by which the
    number of queries is chosen; None: its records.
    """
    columns = _shared(original, published)
    after = _count_published(original, published, columns)
    rows = original.rows if rows is None else rows
    return compare_answers(original, after, columns, queries, watch, rows)


def compare_answers(
    original: Table,
    after: Counted,
    columns: Sequence[Shared],
    queries: Queries,
    watch: Callable[[float], None],
    rows: int,
) -> Answers:
    """The same for a release that is counted already, in whatever form it is published."""
    before = _count_original(original, columns)
    watch(0.0)
    number = queries.fitting(rows)
    errors: list[float] = []
    drawn = _draw(queries, _occurring(before, original), [len(c.values) for c in columns])
    drawn = islice(drawn, TRIES * number)
    most = number if rows <= FEW_ROWS else AT_ONCE
    while some := list(islice(drawn, min(most, number - len(errors)))):
        watch(len(errors) / number)
        true = before.answers(some)
        there = np.flatnonzero(true > 0)
        true, found = true[there], after.answers([some[at] for at in there])
        errors += (np.abs(found - true) / true).tolist()
    return Answers(
        number=len(errors),
        asked=queries.number,
        dimensions=min(queries.dimensions, len(original.names)),
        sensitive=bool(columns),
        mean=float(np.mean(errors)) if errors else None,
        median=float(np.median(errors)) if errors else None,
    )


def weighted_answer(
    original: Table, published: Published, queries: Queries, before: Floats, after: Floats
) -> Answers:
    """The same for queries that count people of the population: sums of weights.

    `before` are the weights of the original's records, `after` those of the rows of the release.
    """
    if published.unit is not None:
        after = np.bincount(published.unit, after, len(published.codes)).astype(np.float64)
    times = min(FINEST / float(before.min()), LARGEST / float(before.sum()))  # counts are integers
    return answer(
        replace(original, people=None, weight=np.rint(before * times).astype(np.int64)),
        replace(
            published,
            people=None,
            weight=np.rint(after * times).astype(np.int64),
            unit=None,
            single_people=None,
        ),
        queries,
        rows=original.rows,
    )


def _draw(queries: Queries, occurring: Sequence[Longs], secrets: Sequence[int]) -> Iterator[Query]:
    """An endless sequence of queries on λ quasi-identifiers and one sensitive column, if any."""
    values = [leaves.tolist() for leaves in occurring]
    drawn = _places(queries, tuple(map(len, values)), tuple(secrets))
    for at in count():
        query = drawn.number(at)
        spans = (Span(j, values[j][low], values[j][high - 1] + 1) for j, low, high in query.quasi)
        yield Query(tuple(spans), query.sensitive)


@lru_cache(16)
def _places(queries: Queries, occurring: tuple[int, ...], secrets: tuple[int, ...]) -> _Places:
    """The queries of tables with so many values: a release and its audit have the same."""
    return _Places(queries, occurring, secrets)


class _Places:
    """Queries on columns of so many values each; spans are places among those that occur."""

    def __init__(
        self, queries: Queries, occurring: tuple[int, ...], secrets: tuple[int, ...]
    ) -> None:
        self.occurring, self.secrets = occurring, secrets
        self.dimensions = min(queries.dimensions, len(occurring))
        self.share = queries.selectivity ** (1 / (self.dimensions + bool(secrets)))
        self._rng = np.random.default_rng(queries.seed)
        self._drawn: list[Query] = []
        self._lock = Lock()

    def number(self, at: int) -> Query:
        """The query of this number; they are drawn in their order."""
        while at >= len(self._drawn):
            with self._lock:
                self._drawn.append(self._next())
        return self._drawn[at]

    def _next(self) -> Query:
        rng = self._rng
        some = sorted(rng.choice(len(self.occurring), self.dimensions, replace=False).tolist())
        quasi = tuple(self._span(j, self.occurring[j]) for j in some)
        if not self.secrets:
            return Query(quasi, None)
        secret = int(rng.integers(len(self.secrets)))
        return Query(quasi, self._span(secret, self.secrets[secret]))

    def _span(self, column: int, values: int) -> Span:
        """A random span of the share of all values."""
        width = max(1, ceil(values * self.share - 1e-9))
        low = int(self._rng.integers(values - width + 1))
        return Span(column, low, low + width)


def _occurring(counted: Counted, original: Table) -> list[Longs]:
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


def _shared(original: Table, published: Published) -> list[Shared]:
    there = {column.name: column for column in published.sensitive}
    return [
        Shared(one, there[one.name], in_order(one))
        for one in original.sensitive
        if one.name in there
    ]


def in_order(column: Sensitive) -> list[Any]:
    """The values of a sensitive column as queries number them: sorted, missing last."""
    return sorted(column.values, key=lambda v: (v is None, v))


def _count_original(original: Table, columns: Sequence[Shared]) -> Counted:
    classes = tally(original.codes, None, [column.before for column in columns], original.weight)
    covers, codes = [], []
    for j, tree in enumerate(original.trees):
        nodes, code = used_codes(original.codes[classes.first, j], tree.size)
        covers.append(LeafRuns.of_nodes(tree, nodes))
        codes.append(code)
    secrets = tuple(_secrets(classes, column.before, column.values) for column in columns)
    return Counted(tuple(covers), tuple(codes), classes.size.astype(np.float64), secrets)


def _count_published(original: Table, published: Published, columns: Sequence[Shared]) -> Counted:
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
