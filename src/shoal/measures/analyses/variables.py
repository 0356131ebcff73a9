"""Variables: the columns of a release and of its original, as an analyst would use them.

Both tables get the same numbers and categories. Suppressed and missing values are missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.arrays import Floats, Ints, Longs
from shoal.base.errors import ShoalError
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.free_values import Covers
from shoal.hierarchies.tree import Tree
from shoal.hierarchies.values import text
from shoal.io.digests import content_digest
from shoal.io.frames import Frame
from shoal.measures.analyses.as_categories import (
    Categories,
    Spread,
    most_frequent,
    node_categories,
)
from shoal.measures.analyses.as_numbers import (
    NumberColumn,
    Numbers,
    number_column,
    unchanged_numbers,
)
from shoal.table.alike import places_alike
from shoal.table.coded_columns import coded_as_text
from shoal.table.coding import Values
from shoal.table.encode import Table
from shoal.table.published_table import Published, codes_of
from shoal.table.recoding import Recoding
from shoal.table.roles import Column, Role, missing_words, naming, other_columns

FEW = 12  # different numbers up to which a column of numbers has categories too


@dataclass(frozen=True, eq=False)
class Tables:
    """A release and its original."""

    columns: Mapping[str, Column]
    missing_values: Sequence[str]
    original: Table
    published: Published
    # The frames of both, row by row; None: they are not in memory, and other columns are left out.
    before: Frame | None = None
    after: Frame | None = None
    recoding: Recoding | None = None  # None: it is not known which record became which
    digest: str | None = None  # of the other columns of `before`; None: it cannot be edited
    taken: Longs | None = None  # int64[rows of `after`], the row of `before` that each was
    # float64[rows of `before`], float64[rows of `after`]: sampling weights; None: there are none.
    weights: tuple[Floats, Floats] | None = None

    @staticmethod
    def of_release(
        columns: Mapping[str, Column],
        missing_values: Sequence[str],
        original: Table,
        published: Published,
        frames: tuple[Frame, Frame],
        recoding: Recoding,
        taken: Longs | None = None,
    ) -> Tables:
        """The tables of a run, to analyze later; until then the original may have been edited."""
        tables = Tables(
            columns, missing_values, original, published, *frames, recoding, taken=taken
        )
        if not tables.others:
            return tables
        return replace(tables, digest=content_digest(frames[0].select(tables.others)))

    def check_unchanged(self) -> None:
        """Raise an error if the frame of the original was edited after the release was made."""
        if self.digest is not None and self.before is not None:
            there = set(self.others) <= set(self.before.names)
            if not there or content_digest(self.before.select(self.others)) != self.digest:
                raise ShoalError(
                    "the frame of the original was changed after the release was made, so that "
                    "they cannot be compared; pass a copy to anonymize, or edit a copy"
                )

    @property
    def others(self) -> list[str]:
        """The columns with the role other that both tables have in memory."""
        if self.before is None or self.after is None:
            return []
        return [
            name
            for name in other_columns(self.columns)
            if name in self.before.names and name in self.after.names
        ]


@dataclass(frozen=True, eq=False)
class Variable:
    """A column of one table: the value of each record, and what each value means."""

    name: str
    role: Role
    codes: Ints  # int32[n], places among the values
    numbers: Numbers | None  # None: it is no column of numbers
    categories: Categories | None  # None: it is a column of many numbers
    in_years: bool = False  # whether its numbers are dates


@dataclass(frozen=True, eq=False)
class Variables:
    """The columns of one table."""

    columns: tuple[Variable, ...]
    # How many records each row stands for, int64[n], or people, float64[n]; None: one.
    weight: Longs | Floats | None

    def counts(self, column: Variable, values: int) -> Floats:
        """How many records have each value of a column, float64[values]."""
        return np.bincount(column.codes, self.weight, values).astype(np.float64)


class QuasiForm(NamedTuple):
    """What the values of a quasi-identifier mean."""

    name: str
    tree: Tree
    numbers: NumberColumn | None
    category: Ints | None  # int32[nodes]

    @staticmethod
    def of(original: Table, j: int, hierarchy: Hierarchy | None) -> QuasiForm:
        """The form of a column of the original."""
        tree = original.trees[j]
        often = original.domains[j].counts
        numbers = number_column(tree, hierarchy or Hierarchy.flat())
        category = None
        if numbers is None or np.count_nonzero(often[np.isfinite(numbers.leaf)]) <= FEW:
            category = node_categories(tree, often)
            category = None if category.max() < 0 else category
        return QuasiForm(original.names[j], tree, numbers, category)

    def variable(
        self,
        codes: Ints,
        covers: Covers,
        weight: Longs | Floats | None,
        spread: Spread | None = None,
    ) -> Variable:
        """The column of a table with these codes: nodes, or free values.

        General values are spread as in the table itself, or as `spread` says.
        """
        used, place = _used(codes, self.tree.size + len(covers))
        categories = None
        if self.category is not None:
            spread = spread or self.spread(codes, weight)
            categories = spread.of_codes(used, covers)
        numbers = None if self.numbers is None else self.numbers.of_codes(used, covers)
        if numbers is not None and not numbers.computable:
            numbers = None
        dates = self.numbers is not None and self.numbers.dates
        return Variable(self.name, "quasi", place, numbers, categories, dates)

    def spread(self, codes: Ints, weight: Longs | Floats | None) -> Spread:
        """How general values are spread over categories, learned from a table."""
        assert self.category is not None
        node = codes < self.tree.size
        often = np.bincount(codes[node], None if weight is None else weight[node], self.tree.size)
        return Spread.of(self.tree, self.category, often.astype(np.float64))


def _used(codes: Ints, size: int) -> tuple[Longs, Ints]:
    """The codes that occur, rising, and the place of each one among them."""
    there = np.bincount(codes, minlength=size) > 0
    place = (np.cumsum(there) - 1).astype(np.int32)
    return np.flatnonzero(there), place[codes]


class UnchangedForm(NamedTuple):
    """What the values of a column that is published unchanged mean; the last one is missing."""

    name: str
    role: Role
    often: Longs  # int64[values], records of the original
    numbers: Floats | None  # float64[values + 1]
    category: Ints | None  # int32[values + 1], with the missing value as one more

    @staticmethod
    def of(name: str, role: Role, often: Longs, numbers: Floats | None) -> UnchangedForm:
        """The form of a column whose values are so frequent in the original."""
        category = None
        if numbers is None or len(often) <= FEW:
            category = most_frequent(often)
            category = np.append(category, category.max(initial=-1) + 1).astype(np.int32)
        if numbers is not None:
            numbers = np.append(numbers, np.nan)
        return UnchangedForm(name, role, often, numbers, category)

    def variable(self, codes: Ints) -> Variable:
        """The column of a table; codes are places among the values of the original."""
        numbers = categories = None
        if self.numbers is not None:
            numbers = Numbers(self.numbers, np.zeros(len(self.numbers)))
        if self.category is not None:
            many = int(self.category[-1])
            share = np.append(np.eye(many), np.zeros((1, many)), axis=0)
            categories = Categories(self.category, share)
        return Variable(self.name, self.role, codes, numbers, categories)


class UnchangedColumn(NamedTuple):
    """A column that is published unchanged, in both tables."""

    form: UnchangedForm
    before: Ints  # int32[n], places among the values of the original; the last one is missing
    after: Ints


class Forms(NamedTuple):
    """The columns that both tables have."""

    quasi: list[QuasiForm]
    unchanged: list[UnchangedColumn]


def forms_of(tables: Tables) -> Forms:
    """Decide from the original what the columns mean."""
    tables.check_unchanged()
    original = tables.original
    quasi = [
        QuasiForm.of(original, j, tables.columns[name].hierarchy)
        for j, name in enumerate(original.names)
    ]
    return Forms(quasi, unchanged_columns(tables))


def unchanged_columns(tables: Tables) -> list[UnchangedColumn]:
    """The columns that both tables have, and that are published unchanged."""
    return [*_sensitive(tables), *_others(tables)]


def variables(
    tables: Tables, forms: Forms, people: tuple[Floats, Floats] | None = None
) -> tuple[Variables, Variables]:
    """The columns of the original and of the release.

    Records are counted, or `people`: so many for each row of the original and of the release.
    """
    quasi, unchanged = forms
    original, published = tables.original, tables.published
    by_row = bool(tables.others)
    unit = published.unit if by_row else None
    weights: tuple[Longs | Floats | None, ...] = original.weight, published.weight
    if by_row:
        assert tables.after is not None
        weights = original.weight, tables.after.weight
    if people is not None:
        weights = people
        if not by_row and published.unit is not None:
            many = np.bincount(published.unit, people[1], len(published.codes))
            weights = people[0], many.astype(np.float64)
    before, after = [], []
    for j, form in enumerate(quasi):
        covers = Covers(form.tree)
        before.append(form.variable(original.codes[:, j], covers, weights[0]))
        codes, covers = published_codes(published, form)
        after.append(form.variable(codes if unit is None else codes[unit], covers, weights[1]))
    for one in unchanged:
        before.append(one.form.variable(one.before))
        after.append(one.form.variable(one.after))
    return Variables(tuple(before), weights[0]), Variables(tuple(after), weights[1])


def published_codes(published: Published, form: QuasiForm) -> tuple[Ints, Covers]:
    """A quasi-identifier of a release as codes of the original's tree, int32[n].

    A missing value that the tree lacks is the root, which says nothing either.
    """
    j = published.names.index(form.name)
    covers = Covers(form.tree)
    with naming(form.name):
        known = codes_of(published.values[j], covers)
    code = np.array([form.tree.node(None), *known], np.int32)
    return np.maximum(code, 0)[published.codes[:, j] + 1], covers


def _sensitive(tables: Tables) -> list[UnchangedColumn]:
    """The sensitive columns of both tables."""
    there = {one.name: one for one in tables.published.sensitive}
    unit = tables.published.unit if tables.others else None
    found = []
    for one in tables.original.sensitive:
        if one.name not in there:
            continue
        other = there[one.name]
        known = [value for value in one.values if value is not None]
        often = one.counted(tables.original.weight)[: len(known)]
        form = UnchangedForm.of(one.name, "sensitive", often, unchanged_numbers(known, None))
        place = np.array(places_alike(other.values, known), np.int32)
        place = np.where(place < 0, len(known), place).astype(np.int32)
        after = place[other.codes]
        found.append(UnchangedColumn(form, one.codes, after if unit is None else after[unit]))
    return found


def _others(tables: Tables) -> list[UnchangedColumn]:
    """The columns with the role other of both tables."""
    found = []
    for name in tables.others:
        assert tables.before is not None
        assert tables.after is not None
        words = missing_words(tables.columns, name, tables.missing_values)
        codes, values = coded_as_text(tables.before, name, words)
        after, shown = coded_as_text(tables.after, name, words)
        before = np.where(codes < 0, len(values), codes).astype(np.int32)
        often = np.bincount(before, tables.before.weight, len(values) + 1)[:-1].astype(np.int64)
        form = UnchangedForm.of(name, "other", often, unchanged_numbers(values, values.array))
        place = np.append(_places(shown, values), len(values)).astype(np.int32)
        found.append(UnchangedColumn(form, before, place[after]))
    return found


def _places(shown: Values, known: Values) -> Longs:
    """The place of each value among those of the original; one past the last if it is not there."""
    array = shown.array
    if array.type != known.array.type:
        array = pa.array([text(value) for value in shown], pa.string())
        known = Values(pa.array([text(value) for value in known], pa.string()))
    place = pc.index_in(array, value_set=known.array)
    found: Any = place.fill_null(len(known)).to_numpy(zero_copy_only=False)
    return np.asarray(found, np.int64)
