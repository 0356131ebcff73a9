"""A table as a reader sees it: published values, grouped into classes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.base.arrays import Bools, Floats, Ints, Longs
from shoal.base.errors import BadTable, did_you_mean, preview
from shoal.base.threads import cached_property, in_threads
from shoal.hierarchies.free_values import Covers, FreeTree
from shoal.hierarchies.values import ROOT, plain, text
from shoal.io.frames import Frame
from shoal.kernels.group import group_rows
from shoal.table.coded_columns import code_all, coded, forget_codes, person_codes, side_by_side
from shoal.table.encode import Table, sensitive_columns
from shoal.table.equivalence_classes import Classes, CountedRows, tally
from shoal.table.profiles import Profiles
from shoal.table.recoding import SUPPRESSED, Recoding
from shoal.table.roles import (
    Column,
    check_index,
    columns_with_role,
    empty_words,
    household_apart,
    linking_columns,
    missing_words,
)
from shoal.table.sensitive import Sensitive

if TYPE_CHECKING:
    from shoal.table.population.population import Population


@dataclass(frozen=True, eq=False)
class Published(CountedRows):
    """The published values of a table, and the person of each record."""

    names: tuple[str, ...]
    codes: Ints  # int32[n, q], -1 is a missing value
    values: tuple[Sequence[Any], ...]  # per column, the value of each code
    people: Longs | None
    sensitive: tuple[Sensitive, ...] = ()
    # int64[n], how many equal records each row of `codes` stands for, as in a Table; None: one.
    weight: Longs | None = None
    # int64[rows of the frame], the row of `codes` of each; None: they are the same rows.
    unit: Longs | None = None
    single_people: Longs | None = None  # the same for `people`, if people were counted together
    population: Population | None = None  # all people who could be in it; None: it is not known
    # The household of each record, if members are generalized each by itself; it is not published.
    homes: Sensitive | None = None

    @property
    def missing_cells(self) -> int:
        """Quasi-identifiers that are missing, over all records."""
        lacks = (self.codes < 0).sum(axis=1)
        return int(lacks.sum() if self.weight is None else lacks @ self.weight)

    @cached_property
    def classes(self) -> Classes:
        """The classes of equal published values."""
        counted = self.sensitive if self.homes is None else (*self.sensitive, self.homes)
        found = tally(self.codes, self.people, counted, self.weight).without_households()
        if self.population is None:
            return found
        reader = self.population.reader(self.names, self.values, self.people is not None)
        coverage = reader.coverage(self.codes[found.first])
        return replace(found, coverage=coverage.without(_in_several(found, self.people)))

    def known_to(self, names: Collection[str]) -> Published:
        """The same for an attacker who knows only these quasi-identifiers."""
        known = [j for j, name in enumerate(self.names) if name in names]
        return replace(
            self,
            names=tuple(self.names[j] for j in known),
            codes=np.ascontiguousarray(self.codes[:, known]),
            values=tuple(self.values[j] for j in known),
        )

    def without_numbers(self, names: Collection[str]) -> Published:
        """The same with * in place of these columns, whose values do not state what they cover."""
        codes, values = self.codes.copy(), list(self.values)
        for j, name in enumerate(self.names):
            if name in names:
                codes[:, j], values[j] = 0, (ROOT,)
        return replace(self, codes=codes, values=tuple(values))

    def together(self) -> Published:
        """The same with equal records counted together, or people with equal records."""
        if self.unit is not None or (self.weight is not None and self.people is not None):
            return self
        codes = self.codes
        homes = () if self.homes is None else (self.homes,)
        if self.sensitive or homes:
            secret = [one.codes[:, None] for one in (*self.sensitive, *homes)]
            codes = np.concatenate([codes, *secret], axis=1)
        unit, first, weight = group_rows(codes)
        if self.weight is not None:
            weight = np.bincount(unit, self.weight, len(first)).astype(np.int64)
        people = self.people
        if people is not None:
            profiles = Profiles.of(people, unit)
            unit, first, weight = profiles.row, profiles.first, profiles.weight()
            people = profiles.people
        return replace(
            self,
            codes=self.codes[first],
            people=people,
            sensitive=tuple(replace(one, codes=one.codes[first]) for one in self.sensitive),
            homes=next((replace(one, codes=one.codes[first]) for one in homes), None),
            weight=weight,
            unit=unit,
            single_people=self.people,
        )

    @property
    def class_of_row(self) -> Longs:
        """The class of each row of the frame, int64[rows of the frame]."""
        label = self.classes.label
        return label if self.unit is None else label[self.unit]

    @property
    def person_of_row(self) -> Longs | None:
        """The person of each row of the frame, int64[rows of the frame]; None: each is one."""
        return self.people if self.unit is None else self.single_people

    def often(self, j: int) -> Longs:
        """How many records have each value of a column, missing first; int64[values + 1]."""
        return self._often[j]

    @cached_property
    def _often(self) -> list[Longs]:
        def count(j: int) -> Longs:
            codes, values = self.codes[:, j], self.values[j]
            return np.bincount(codes + 1, self.weight, len(values) + 1).astype(np.int64)

        return in_threads(count, range(len(self.names)))

    def vectors(self, table: Table, holder: str, hint: str = "") -> tuple[Ints, tuple[Covers, ...]]:
        """The published values of each class as codes of a table, int32[classes, q].

        They are nodes of its trees, or free values. `holder` names the table in messages, which end
        with a `hint`.
        """
        vectors = np.empty((len(self.classes), len(self.names)), np.int32)
        found = []
        for j, name in enumerate(self.names):
            covers = Covers(table.trees[table.names.index(name)])
            known = codes_of(self.values[j], covers)
            codes = self.codes[self.classes.first, j]  # -1 is missing, and the last one
            vectors[:, j] = np.array([*known, covers.tree.node(None)], np.int32)[codes]
            strange = np.unique(codes[vectors[:, j] < 0])
            if len(strange):
                shown = preview("missing" if c < 0 else self.values[j][c] for c in strange)
                raise BadTable(
                    f"column {name!r} publishes {shown}, which neither the {holder} nor its "
                    f"hierarchy has; give the {holder} that includes all people of the table, and "
                    f"the plan that the release was made with{hint}"
                )
            found.append(covers)
        return vectors, tuple(found)

    def counts(self, table: Table) -> list[ValueCounts]:
        """How often each node of the original's trees, and each free value, is published.

        Suppressed records count at the root, as all of their information is lost.
        """
        lost = float(max(table.rows - self.rows, 0))
        return self._counts(table, [self.often(j) for j in range(len(self.names))], lost)

    def weighted_counts(self, table: Table, weights: Floats, total: float) -> list[ValueCounts]:
        """The same in people of the population: the rows of the frame have these weights.

        The original has a `total` of them.
        """
        if self.unit is not None:
            weights = np.bincount(self.unit, weights, len(self.codes)).astype(np.float64)
        often = [
            np.bincount(self.codes[:, j] + 1, weights, len(self.values[j]) + 1)
            for j in range(len(self.names))
        ]
        return self._counts(table, often, max(total - float(weights.sum()), 0.0))

    def _counts(self, table: Table, each: Sequence[Any], lost: float) -> list[ValueCounts]:
        counts = []
        for j, tree in enumerate(table.trees):
            covers = Covers(tree)
            often = each[j]
            codes = np.array([tree.node(None), *codes_of(self.values[j], covers)])
            strange = [
                "missing" if place == 0 else self.values[j][place - 1]
                for place in np.flatnonzero((codes < 0) & (often > 0)).tolist()
            ]
            if strange:
                raise BadTable(
                    f"column {table.names[j]!r} publishes {preview(strange)}, which its hierarchy "
                    "lacks; use the plan that the release was made with"
                )
            there = codes >= 0
            count = np.zeros(tree.size + len(covers))
            np.add.at(count, codes[there], often[there])
            count[0] += lost
            counts.append(ValueCounts(count[: tree.size], count[tree.size :], covers))
        return counts


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """How often the values of one column are published."""

    nodes: Floats  # float64[nodes]
    free: Floats  # float64[covers]
    covers: Covers

    def spread(self) -> Floats:
        """The same as counts of nodes alone that have the same cost, float64[nodes].

        All leaves of a free column have the same cost, and a free value of width W costs W times
        as much as the root (eq. 11 and 12, Wang 2018): it counts W at the root, the rest at a
        leaf.
        """
        if not len(self.free):
            return self.nodes
        wide = float(self.free @ self.covers.widths())
        spread = self.nodes.copy()
        spread[0] += wide
        spread[-1] += float(self.free.sum()) - wide
        return spread


def _in_several(classes: Classes, people: Longs | None) -> Bools:
    """The classes of people whose records are in several classes, bool[classes]."""
    if people is None:
        return np.zeros(len(classes), np.bool_)
    pairs = np.unique(people * len(classes) + classes.label)
    person, label = np.divmod(pairs, len(classes))
    found = np.zeros(len(classes), np.bool_)
    found[label[np.bincount(person)[person] > 1]] = True
    return found


def codes_of(values: Iterable[object], covers: Covers) -> list[int]:
    """The code of each published value, a node or a free value; -1 if it is neither."""
    tree = covers.tree
    codes = []
    for value in values:
        label = text(value)
        node = tree.find(label)
        if node < 0 and isinstance(tree, FreeTree):
            cover = tree.cover(label)
            node = -1 if cover is None else covers.code(cover)
        codes.append(node)
    return codes


def preview_release(
    table: Table, recoding: Recoding, rows: Longs | None = None
) -> tuple[Published, Table]:
    """The table that a recoding publishes as a reader sees it, and its originals.

    Records are in the order of the table, or in that of `rows`. Columns that are microaggregated
    have the ranges of their classes.
    """
    if rows is None:
        rows = np.flatnonzero(recoding.record != SUPPRESSED)
    part = table.take(rows)
    codes = recoding.vectors[recoding.record[rows]].astype(np.int32)  # int32[published, q]
    values = []
    for j, tree in enumerate(table.trees):
        labels = recoding.covers[j].labels() if recoding.covers else list(tree.labels)
        codes[:, j] = np.where([label is None for label in labels], -1, np.arange(len(labels)))[
            codes[:, j]
        ]
        values.append(labels)
    published = Published(
        table.names,
        codes,
        tuple(values),
        part.people,
        tuple(one for one in part.sensitive if not one.is_household),
        part.weight,
        population=table.population,
        homes=next((one for one in part.sensitive if one.is_household), None),
    )
    return published, part


def read_published(
    frame: Frame,
    columns: Mapping[str, Column],
    missing_values: Sequence[str] = (),
    people: Longs | None = None,
    households: Longs | None = None,
) -> Published:
    """Read the quasi-identifiers and the persons of a table, as any reader of it could.

    `people` numbers the person of each record if the table has no person column. `households` are
    those of the records if members are generalized each by itself, and the table lacks them.
    """
    names = columns_with_role(columns, "quasi")
    if not names:
        raise BadTable("the plan has no quasi-identifier; give some column the role quasi")
    check_index(columns, frame)
    lacking = [name for name in names if name not in frame.names]
    if lacking:
        raise BadTable(
            f"the table lacks the quasi-identifiers {preview(lacking)} of the plan"
            f"{did_you_mean(lacking[0], frame.names)}"
        )
    if frame.height == 0:
        raise BadTable("the table has no rows; there is nothing to measure")
    held = [name for name in columns_with_role(columns, "sensitive") if name in frame.names]
    words = {name: missing_words(columns, name, missing_values) for name in columns}
    # Different words for missing are different values to any reader.
    shown = {name: empty_words(words[name]) for name in names}
    code_all(frame, shown | {name: words[name] for name in held})
    each, values = zip(*(coded(frame, name, shown[name]) for name in names), strict=True)
    codes = side_by_side(each)  # int32[n, q]
    del each
    links = [*linking_columns(columns), *columns_with_role(columns, "person")]
    for name in links if people is None else ():  # a release may lack its household numbers
        if name in frame.names:
            people = person_codes(frame, name, words[name])
            break
    sensitive = sensitive_columns(frame, columns, missing_values)
    forget_codes(frame, frame.packed)
    apart = household_apart(columns)
    if apart is not None and households is None and apart in frame.names:
        households = person_codes(frame, apart, words[apart])
    homes = None
    if apart is not None and households is not None:
        homes = Sensitive.of_households(apart, households)
    return Published(tuple(names), codes, values, people, sensitive, frame.weight, homes=homes)


def places(values: Iterable[object], known: dict[str, int], nowhere: int) -> list[int]:
    """The place of each value among known labels, in any spelling: 17 and 17.0 are the same."""
    labels = [text(value) for value in values]
    found = [known.get(label, nowhere) for label in labels]
    if nowhere in found:
        alike = {plain(label): place for label, place in known.items()}
        for i, place in enumerate(found):
            if place == nowhere:
                found[i] = alike.get(plain(labels[i]), nowhere)
    return found
