"""Counting queries: the error of answers from a release instead of its original.

A query counts the records with certain values of some quasi-identifiers and of a sensitive column
(Sec. 5, Wang 2018). Its values are values of the original, so queries are not reported, only their
errors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from shoal.base.arrays import Floats
from shoal.measures.queries.counted import (
    Counted,
    Shared,
    count_original,
    count_published,
    occurring_in,
    shared_columns,
)
from shoal.measures.queries.draw import MANY_ROWS, Queries, draw
from shoal.table.encode import Table
from shoal.table.published_table import Published

TRIES = 20  # draws per query, until its true answer is not zero
FEW_ROWS = 20_000  # up to which all queries take so little time that nobody watches
AT_ONCE = 50  # queries between two reports of progress for larger tables
FINEST = 1000  # a weight is counted in so many parts of the smallest one
LARGEST = 2.0**52  # sums of weights, as whole numbers that floats still represent


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
    columns = shared_columns(original, published)
    after = count_published(original, published, columns)
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
    before = count_original(original, columns)
    watch(0.0)
    number = queries.fitting(rows)
    errors: list[float] = []
    drawn = draw(queries, occurring_in(before, original), [len(c.values) for c in columns])
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
