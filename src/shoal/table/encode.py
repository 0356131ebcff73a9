"""Encode: turn a frame into a Table of integer codes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from shoal.base.arrays import Floats, Ints, Longs
from shoal.base.errors import SHOWN, BadHierarchy, BadTable
from shoal.base.progress import Progress, silent
from shoal.base.threads import cached_property, in_threads
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.free_values import Covers, FreeTree, join_rows
from shoal.hierarchies.tree import Tree
from shoal.hierarchies.values import text
from shoal.io.frames import Frame
from shoal.kernels.candidates import join_people
from shoal.table.allowed.at_most import Tops, if_any, tops_of
from shoal.table.coded_columns import (
    code_all,
    coded,
    coded_as_text,
    merged_codes,
    person_codes,
    side_by_side,
)
from shoal.table.coding import Values, Watch, Watched, not_missing, without
from shoal.table.equivalence_classes import Classes, CountedRows, tally
from shoal.table.header import check_header
from shoal.table.population.coverage import Coverage
from shoal.table.roles import (
    UNCHANGED,
    Column,
    Missing,
    check_columns,
    columns_with_role,
    empty_words,
    household_apart,
    linking_columns,
    missing_words,
    naming,
    relative_importance,
)
from shoal.table.samples.survey import survey_of
from shoal.table.sensitive import Sensitive

if TYPE_CHECKING:
    from shoal.table.population.population import Population
    from shoal.table.population.reader import Reader


@dataclass(frozen=True, eq=False)
class Domain:
    """One quasi-identifier: its name, its tree, and how often each value occurs."""

    name: str
    tree: Tree
    counts: Longs  # int64[nodes]
    importance: float = 1.0  # how many times its losses count, see `losses.costs_of`


class Domains(tuple[Domain, ...]):
    """The quasi-identifiers of one table; `losses.costs_of` keeps here what it has computed."""

    # Those of the table that this is a part of, if the trees are cut off above some nodes.
    whole: Domains | None = None
    tops: tuple[int, ...] = ()  # these nodes

    def __init__(self, domains: Iterable[Domain]) -> None:  # noqa: ARG002 (a tuple takes it)
        self.costs: dict[Hashable, list[Floats]] = {}
        self.exact_costs: dict[Hashable, list[Longs]] = {}  # the same as integers

    def below(self, tops: Sequence[int], trees: Sequence[Tree]) -> Domains:
        """The same quasi-identifiers with the trees below these nodes; costs stay the same."""
        found = Domains(
            replace(one, tree=tree, counts=one.counts[top : top + tree.size])
            for one, top, tree in zip(self, tops, trees, strict=True)
        )
        found.whole, found.tops = self, tuple(tops)
        return found


@dataclass(frozen=True, eq=False)
class Table(CountedRows):
    """A table as integer codes, the input of models, losses and algorithms."""

    names: tuple[str, ...]  # the quasi-identifiers
    trees: tuple[Tree, ...]
    codes: Ints  # int32[n, q], nodes of the trees
    people: Longs | None  # int64[n], 0 and up, all in use; None: each record is one person
    exact: tuple[bool, ...]  # per column, whether different values have different codes
    sensitive: tuple[Sensitive, ...] = ()
    # int64[n], how many equal records each row of `codes` stands for, each of another person; None:
    # one. It is the same for all rows of a person: so many people have records like all of them.
    weight: Longs | None = None
    # Numbers the records by the sensitive and other values, which are published unchanged, sorted:
    # the last word on their order. None: it is decided already.
    others: Callable[[], Longs] | None = None
    importance: tuple[float, ...] = ()  # per column, 1 on average; empty: all are 1
    tops: tuple[Tops | None, ...] = ()  # per column, what at_most allows; empty: everything
    population: Population | None = None  # all people who could be in it; None: it is not known

    @cached_property
    def in_population(self) -> Reader:
        """Finds the people of the population whom vectors of nodes cover."""
        assert self.population is not None
        return self.population.reader(self.names, [tree.labels for tree in self.trees])

    @property
    def unified(self) -> Ints:
        """The codes with all records of a person generalized to the same values.

        The records of a person stay linked in a release. In different classes they would single
        out the few people who are in all of those classes.
        """
        return self._joined[0]

    @property
    def covers(self) -> tuple[Covers, ...]:
        """The free values among the unified codes, per column."""
        return self._joined[1]

    @cached_property
    def _joined(self) -> tuple[Ints, tuple[Covers, ...]]:
        if self.people is None or self.person_count == self.rows:
            return self.codes, tuple(Covers(tree) for tree in self.trees)
        columns, covers = [], []
        for j, tree in enumerate(self.trees):
            if isinstance(tree, FreeTree):
                joined, found = join_rows(tree, self.codes[:, j], self.people)
            else:
                found = Covers(tree)
                column = np.ascontiguousarray(self.codes[:, j])  # the type of `closures`
                people = int(self.people.max()) + 1
                joined = join_people(column, self.people, people, tree.parent, tree.end)
            columns.append(joined)
            covers.append(found)
        return np.stack(columns, axis=1), tuple(covers)

    def take(self, rows: Longs) -> Table:
        """These records, with the people who have one of them."""
        people = self.people
        return Table(
            self.names,
            self.trees,
            self.codes[rows],
            None if people is None else np.unique(people[rows], return_inverse=True)[1],
            self.exact,
            tuple(one.take(rows) for one in self.sensitive),
            None if self.weight is None else self.weight[rows],
            None if self.others is None else partial(_taken, self.others, rows),
            self.importance,
            self.tops,
            self.population,
        )

    @property
    def free(self) -> list[str]:
        """The columns that may be published as free ranges or sets."""
        both = zip(self.names, self.trees, strict=True)
        return [name for name, tree in both if isinstance(tree, FreeTree)]

    @cached_property
    def domains(self) -> Domains:
        """The quasi-identifiers, with how often each value occurs."""

        def domain(j: int) -> Domain:
            tree, often = self.trees[j], self._often(self.codes[:, j], self.trees[j].size)
            return Domain(self.names[j], tree, often, (self.importance or (1.0,) * (j + 1))[j])

        return Domains(in_threads(domain, range(len(self.names))))

    def _often(self, codes: Ints, size: int) -> Longs:
        """How many records have each code."""
        return np.bincount(codes, self.weight, size).astype(np.int64)

    def tally(self, sensitive: bool = False) -> Classes:
        """The distinct tuples, a person's records being generalized to common values."""
        return tally(self.unified, self.people, self.sensitive if sensitive else (), self.weight)

    def as_one_class(self) -> Classes:
        """The whole table as one class."""
        nothing = np.zeros((len(self.codes), 1), np.int32)
        found = tally(nothing, self.people, self.sensitive, self.weight)
        if self.population is None:
            return found
        everybody = np.array([self.population.people])
        coverage = Coverage(everybody, np.zeros(1, np.bool_), 0, self.population.incomplete)
        return replace(found, coverage=coverage)


def encode(
    frame: Frame,
    columns: Mapping[str, Column],
    missing: Missing = "value",
    missing_values: Sequence[str] = (),
    progress: Progress = silent,
) -> Table:
    """Turn a frame into a Table of integer codes."""
    check_columns(columns, frame)
    check_header(frame)
    names = columns_with_role(columns, "quasi")
    if not names:
        raise BadTable("the plan has no quasi-identifier; give some column the role quasi")
    trees, exact = [], []
    many = len(names) + len(linking_columns(columns)) + len(columns_with_role(columns, "sensitive"))
    # The first half: number the values of each column. The second half: place them in hierarchies.
    held = [name for name in columns_with_role(columns, "sensitive") if name in frame.names]
    words = {name: missing_words(columns, name, missing_values) for name in columns}
    # Words that are published as they are written are values here.
    absent = {n: empty_words(words[n]) if missing == "value" else words[n] for n in names}
    code_all(
        frame,
        absent | {name: words[name] for name in held},
        lambda share: progress("encode", share / 2),
    )
    codes = np.empty((len(names), frame.height), np.int32)  # int32[q, n]
    for j, name in enumerate(names):
        progress("encode", (1 + j / many) / 2)
        hierarchy = columns[name].hierarchy or Hierarchy.flat()
        with naming(name):
            tree, one_to_one = _encode_quasi(
                coded(frame, name, absent[name]),
                frame,
                hierarchy,
                missing,
                words[name] if missing == "value" else (),
                codes[j],
                lambda share, j=j: progress(  # type: ignore[misc]
                    "encode", (1 + (j + share) / many) / 2
                ),
            )
        trees.append(tree)
        exact.append(one_to_one)
    survey_of(frame, columns, missing_values)  # raises errors before the work
    people = None
    for name in linking_columns(columns):
        progress("encode", (1 + len(names) / many) / 2)
        people = person_codes(frame, name, words[name])
    sensitive = sensitive_columns(
        frame, columns, missing_values, lambda i: progress("encode", 1 - i / many / 2)
    )
    if (apart := household_apart(columns)) is not None:
        homes = person_codes(frame, apart, words[apart])
        sensitive = (*sensitive, Sensitive.of_households(apart, homes))
    return Table(
        tuple(names),
        tuple(trees),
        side_by_side(list(codes)),
        people,
        tuple(exact),
        sensitive,
        frame.weight,
        others=partial(_other_values, frame, columns, missing_values),
        importance=relative_importance(columns),
        tops=_tops(columns, names, trees),
    )


def _tops(
    columns: Mapping[str, Column], names: Sequence[str], trees: Sequence[Tree]
) -> tuple[Tops | None, ...]:
    """What `at_most` allows of each quasi-identifier; empty if there is none that has an effect."""
    found: list[Tops | None] = []
    for name, tree in zip(names, trees, strict=True):
        at_most = columns[name].at_most
        tops = None if at_most is None else tops_of(at_most, columns[name].hierarchy, tree)
        if tops is not None and columns[name].derive is not None:
            tops = replace(tops, fixed=True)
        found.append(None if tops is not None and tops.without_effect else tops)
    return if_any(found)


def _encode_quasi(
    column: tuple[Ints, Values],
    frame: Frame,
    hierarchy: Hierarchy,
    missing: Missing,
    words: Sequence[str],
    out: Ints,
    watch: Watch,
) -> tuple[Tree, bool]:
    """Encode one quasi-identifier into `out`; return its tree, and whether codes are unique.

    `words` are the values that mean missing and are published as they are written.
    """
    indices, values = column  # int32[n] with -1, distinct values
    lacks = indices.min() < 0
    if lacks and missing == "error":
        where = np.flatnonzero(indices < 0)
        many = len(where) if frame.weight is None else frame.weight[where].sum()
        first = f" (first in row {frame.row_number(where[0])})" if frame.numbered else ""
        raise BadHierarchy(
            f"missing values in {many} rows{first}, which the "
            "plan does not allow; fill them, or set missing = 'value' or 'root'"
        )
    ordinary = not_missing(values, words)  # bool[values]
    places, rest = without(indices, values, ordinary)
    placed = None if rest.texts is None else hierarchy.placed(rest.texts)
    if placed is None:
        tree, known = _place(rest, frame, hierarchy, places, watch)
    else:
        tree, known = placed
    said = [text(values[i]) for i in np.flatnonzero(~ordinary).tolist()]
    leaf = missing in ("value", "empty")
    if leaf and (lacks or said):  # in the order of the plan, not of the records
        tree = tree.with_missing([word for word in words if word in said], bool(lacks))
    elif lacks and isinstance(tree, FreeTree):
        tree = tree.opened()
    nodes = np.empty(len(values) + 1, np.int32)  # the last one is for missing values
    nodes[:-1][ordinary] = known
    nodes[:-1][~ordinary] = [tree.node(word) for word in said]
    nodes[-1] = tree.node(None) if leaf and lacks else 0
    np.take(nodes, indices, out=out, mode="wrap")  # the default mode makes a copy first
    used = np.zeros(tree.size, np.bool_)
    used[nodes[:-1]] = True
    alone = np.count_nonzero(used) == len(values)
    # Null, NaN and empty cells all mean missing, and must be published alike.
    return tree, alone and not lacks


def _place(
    values: Values, frame: Frame, hierarchy: Hierarchy, indices: Ints, watch: Watch
) -> tuple[Tree, Longs]:
    """The tree of a column and the node of each value, int64[values]; one value at a time."""
    try:
        tree = hierarchy.tree(Watched(values, watch, 0.0, 0.5))
    except BadHierarchy as error:
        strange = [i for i, value in enumerate(values) if not hierarchy.knows(value)]
        raise BadHierarchy(f"{error}{_rows(frame, indices, strange)}") from None
    nodes = np.empty(len(values), np.int64)
    strange = []
    for i, value in enumerate(Watched(values, watch, 0.5, 1.0)):
        nodes[i] = tree.find(text(value))
        if nodes[i] < 0:
            strange.append(i)
    if strange:
        shown = ", ".join(
            repr(text(values[i])) + _row(frame, np.argmax(indices == i)) for i in strange[:SHOWN]
        )
        more = f" and {len(strange) - SHOWN} more" if len(strange) > SHOWN else ""
        raise BadHierarchy(
            f"the hierarchy lacks values of the table: {shown}{more}; add them to the "
            "hierarchy, or, if they mean missing, list them under missing_values in the plan"
        )
    return tree, nodes


def _row(frame: Frame, place: np.intp) -> str:
    return f" (row {frame.row_number(place)})" if frame.numbered else ""


def _rows(frame: Frame, indices: Ints, strange: list[int]) -> str:
    """The first rows with these values, for a message; "" if there are none. Rows start at 1."""
    if not strange or not frame.numbered:
        return ""
    first = [frame.row_number(np.argmax(indices == i)) for i in strange[:SHOWN]]
    more = f" and {len(strange) - SHOWN} more" if len(strange) > SHOWN else ""
    word = "first in row" if len(strange) == 1 else "first in the rows"
    return f" ({word} {', '.join(map(str, sorted(first)))}{more})"


def _taken(others: Callable[[], Longs], rows: Longs) -> Longs:
    return others()[rows]


def _other_values(
    frame: Frame, columns: Mapping[str, Column], missing_values: Sequence[str]
) -> Longs:
    """Number the records by the values that are published unchanged, in sorted order; int64[n]."""
    number = np.zeros(frame.height, np.int64)
    for name, column in columns.items():
        if column.role in ("sensitive", *UNCHANGED) and column.publish:
            words = missing_words(columns, name, missing_values)
            codes, values = coded_as_text(frame, name, words)
            if words and (codes < 0).any():
                # Words for missing are published as they are: they count as values here.
                codes, values = coded_as_text(frame, name)
            shown = np.array([text(value) for value in values], object)
            rank = np.append(np.unique(shown, return_inverse=True)[1] + 1, 0)  # missing first
            number = np.unique(number * (len(values) + 1) + rank[codes], return_inverse=True)[1]
    return number


def sensitive_columns(
    frame: Frame,
    columns: Mapping[str, Column],
    missing_values: Sequence[str] = (),
    left: Callable[[int], None] = lambda _: None,
) -> tuple[Sensitive, ...]:
    """The sensitive columns of the plan that the frame has.

    `left` is called with the number of columns that remain.
    """
    names = [name for name in columns_with_role(columns, "sensitive") if name in frame.names]
    found = []
    for i, name in enumerate(names):
        left(len(names) - i)
        one = merged_codes(frame, name, missing_words(columns, name, missing_values))
        column = Sensitive.of(name, one.codes, one.values, columns[name].hierarchy, one.spellings)
        if one.spellings and column.tree is not None:
            _ = column.nodes  # raises an error if the hierarchy separates spellings of a value
        found.append(column)
    return tuple(found)
