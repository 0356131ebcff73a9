"""Counting queries that are drawn at random (Sec. 5, Wang 2018)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import count
from math import ceil
from threading import Lock
from typing import ClassVar, NamedTuple

import numpy as np

from shoal.base.arrays import Longs
from shoal.base.settings import AtLeastOne, PositiveShare, Setting

MANY_ROWS = 250_000  # from which on there are fewer queries, so that they take few seconds
FEWEST = 50  # queries for any table


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


def draw(queries: Queries, occurring: Sequence[Longs], secrets: Sequence[int]) -> Iterator[Query]:
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
