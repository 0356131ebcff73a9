"""Small random hierarchies and tables for the laws."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import strategies as st

from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.free_values import FreeTree
from shoal.table.encode import Table
from shoal.table.population.population import Population
from shoal.table.sensitive import Sensitive


def examples(many):
    """How many random examples a law is tried on: a quarter of them in `make test`."""
    return max(10, round(many * float(os.environ.get("SHOAL_EXAMPLES", "0.25"))))


ALL = examples(100) == 100  # `make test-all`: nothing is left out to save time


def first_of(seeds, first=1):
    """The first seeds; the others only with `make test-all`."""
    slow = [pytest.mark.slow]
    return [pytest.param(seed, marks=slow * (seed >= first)) for seed in range(seeds)]


@st.composite
def hierarchies(draw, most=9):
    """Any small tree: unbalanced, with chains of single children, roots not called *."""
    size = draw(st.integers(1, most))
    above = [draw(st.integers(0, i - 1)) for i in range(1, size)]
    if not above:
        return Hierarchy.from_levels([["only"]])
    return Hierarchy.from_parents({f"n{i}": f"n{p}" for i, p in enumerate(above, 1)})


@st.composite
def trees(draw, most=9):
    """The tree of any small hierarchy."""
    return draw(hierarchies(most)).tree()


@st.composite
def sensitive_columns(draw, rows, name="s"):
    """A sensitive column with a hierarchy: leaves, now and then inner nodes and missing values."""
    hierarchy = draw(hierarchies())
    tree = hierarchy.tree()
    general = draw(st.integers(0, 3)) == 0
    pool = [tree.labels[v] for v in range(tree.size) if general or tree.end[v] == v + 1]
    if draw(st.integers(0, 3)) == 0:
        pool = [*pool, None]
    drawn = draw(st.lists(st.sampled_from(pool), min_size=rows, max_size=rows))
    values = list(dict.fromkeys(value for value in drawn if value is not None))
    codes = np.array([-1 if v is None else values.index(v) for v in drawn], np.int32)
    return Sensitive.of(name, codes, values, hierarchy)


@st.composite
def free_trees(draw, most=7):
    """Free ranges or free sets, now and then with missing values, or with a * in the column."""
    spots = draw(st.lists(st.integers(0, 9), min_size=1, max_size=most, unique=True))
    if draw(st.integers(0, 5)) == 0:  # sets of more than one word
        spots = list(range(draw(st.sampled_from([62, 63, 64, 65, 130]))))
    values = [*map(str, spots), *draw(st.sampled_from([[], [], ["*"]]))]
    ends = draw(st.sampled_from([{}, {}, {"low": -1}, {"low": 0, "high": 200}]))
    hierarchy = draw(st.sampled_from([Hierarchy.free_sets(), Hierarchy.free_ranges(**ends)]))
    tree = hierarchy.tree(values)
    return tree.with_missing() if draw(st.integers(0, 3)) == 0 else tree


@st.composite
def tables(
    draw, most_rows=14, most_columns=4, persons=False, sensitive=False, free=False, least_rows=2
):
    """A table whose values are leaves, and now and then a value that is general already.

    With `sensitive` it has the sensitive column "s". With `free` columns may have free values.
    """
    kinds = st.one_of(trees(), free_trees()) if free else trees()
    columns = draw(st.lists(kinds, min_size=1, max_size=most_columns))
    rows = draw(st.integers(least_rows, most_rows))
    codes = np.empty((rows, len(columns)), np.int32)
    for j, tree in enumerate(columns):
        leaves = [v for v in range(tree.size) if tree.end[v] == v + 1]
        general = draw(st.integers(0, 9)) == 0
        if general and isinstance(tree, FreeTree):
            columns[j] = tree.opened()  # as `encode` does where the root is an original value
        pool = range(tree.size) if general else leaves
        codes[:, j] = draw(st.lists(st.sampled_from(list(pool)), min_size=rows, max_size=rows))
    people = None
    if persons and draw(st.booleans()):
        drawn = draw(st.lists(st.integers(0, rows), min_size=rows, max_size=rows))
        people = np.unique(drawn, return_inverse=True)[1]
    names = tuple(f"q{j}" for j in range(len(columns)))
    secret = (draw(sensitive_columns(rows)),) if sensitive else ()
    return Table(names, tuple(columns), codes, people, (True,) * len(columns), secret)


@st.composite
def inhabited(draw, of):
    """Such a table whose people live in households, the column "home"; a person lives in one."""
    table = draw(of)
    people = np.arange(table.rows) if table.people is None else table.people
    many = int(people.max()) + 1
    homes = np.array(draw(st.lists(st.integers(0, many // 2), min_size=many, max_size=many)))
    home = np.unique(homes[people], return_inverse=True)[1]
    return replace(table, sensitive=(*table.sensitive, Sensitive.of_households("home", home)))


@st.composite
def sampled(draw, of):
    """Such a table that is a sample of a population: it has the records of the table, and more.

    Where people have several records, the population has all of them, or one record per person.
    """
    table = draw(of)
    more = draw(st.integers(0, 14))
    pools = [[v for v in range(tree.size) if tree.end[v] == v + 1] for tree in table.trees]
    extra = [[draw(st.sampled_from(pool)) for pool in pools] for _ in range(more)]
    if table.people is not None and draw(st.booleans()):
        other = draw(st.lists(st.integers(0, 5), min_size=more, max_size=more))
        codes = np.concatenate([table.codes, np.array(extra, np.int32).reshape(more, len(pools))])
        whose = np.append(table.people, np.array(other, np.int64) + table.person_count)
        whose = np.unique(whose, return_inverse=True)[1]
        people = Table(table.names, table.trees, codes.astype(np.int32), whose, table.exact)
        return replace(table, population=Population(people, draw(st.booleans())))
    # Of a person with several records the population has what they have in common.
    start = table.tally()
    own = np.repeat(np.arange(len(start)), start.people)
    mine = table.codes[start.first][own]
    if table.people is not None:
        mine = np.array([table.codes[table.people == who][0] for who in range(table.person_count)])
    codes = np.concatenate([mine, np.array(extra, np.int32).reshape(more, len(pools))])
    people = Table(table.names, table.trees, codes.astype(np.int32), None, table.exact)
    return replace(table, population=Population(people, draw(st.booleans())))
