"""Risks: chances among the people of the table, and among those of a population."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal.table.covering
from shoal import BadTable, audit
from shoal.hierarchies.base import Hierarchy
from shoal.io.frames import open_frame
from shoal.measures.risks import record_risks, risks
from shoal.table.encode import Table, encode
from shoal.table.equivalence_classes import tally
from shoal.table.population.covered import covered
from shoal.table.published_table import Published, read_published
from shoal.table.roles import Column
from tests.naive.coverage import covered_people, fitting_people
from tests.strategies import tables

COLUMNS = {
    "age": Column(role="quasi", hierarchy=Hierarchy.ranges([10])),
    "zip": Column(role="quasi", hierarchy=Hierarchy.prefixes()),
}


def look(ages, zips, people=None):
    table = pa.table({"age": ages, "zip": zips})
    columns = dict(COLUMNS)
    if people is not None:
        table = table.append_column("who", pa.array(people))
        columns["who"] = Column(role="person")
    return read_published(open_frame(table), columns)


RELEASE = look(["[20, 30)"] * 3 + ["31", "[30, 40)"], ["47*"] * 3 + ["481", "4**"])


def test_three_attackers_without_a_population():
    found = risks(RELEASE)
    assert found.prosecutor == 1
    assert found.average == found.marketer == pytest.approx(3 / 5)  # classes per record
    assert found.unique == pytest.approx(2 / 5)
    assert found.journalist is None
    assert record_risks(RELEASE) == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1, 1])
    assert json.loads(json.dumps(found.as_dict(), allow_nan=False))["journalist"] is None


def test_a_population_that_was_generalized_in_the_same_way():
    population = look(
        # 31 as a number and as a text are the same
        ["[20, 30)"] * 4 + ["31"] * 2 + ["[30, 40)"] * 5 + ["[50, 60)"] * 9,
        ["47*"] * 4 + ["481"] * 2 + ["4**"] * 5 + ["4**"] * 9,
    )
    found = risks(RELEASE, population)
    assert found.journalist == 1 / 2
    assert found.prosecutor == 1
    assert found.average == pytest.approx(3 / 5)
    assert found.marketer == pytest.approx((3 / 4 + 1 / 2 + 1 / 5) / 5)
    assert record_risks(RELEASE, population) == pytest.approx([1 / 4] * 3 + [1 / 2, 1 / 5])


def test_the_table_as_its_own_population():
    found = risks(RELEASE, RELEASE)
    assert found.journalist == found.prosecutor
    assert found.marketer == found.average


def test_a_population_of_original_values():
    ages, zips = [21, 25, 29, 20, 31, 31, 39, 30], ["471", "472", "471", "471", *["481"] * 3, "471"]
    frame = open_frame(pa.table({"age": ages, "zip": zips}))
    found = record_risks(RELEASE, encode(frame, COLUMNS))
    assert found == pytest.approx([1 / 4] * 3 + [1 / 2, 1 / 4])


def test_columns_of_a_population_may_be_in_another_order():
    turned = Published(
        ("more", *RELEASE.names[::-1]),
        np.hstack([RELEASE.codes[:, :1], RELEASE.codes[:, ::-1]]),
        (RELEASE.values[0], *RELEASE.values[::-1]),
        None,
    )
    assert risks(RELEASE, turned) == risks(RELEASE, RELEASE)


def test_missing_values_match_missing_values():
    table = look([None, None], ["47*", None])
    population = look([None, None, "31", None], ["47*", "47*", "47*", None])
    assert record_risks(table, population).tolist() == [1 / 2, 1]
    frame = open_frame(pa.table({"age": [None, None, 31, None], "zip": ["471"] * 4}))
    assert record_risks(look([None, None], ["47*"] * 2), encode(frame, COLUMNS)).tolist() == [
        1 / 3,
        1 / 3,
    ]


def test_people_are_counted_not_rows():
    table = look(["[20, 30)"] * 3, ["47*"] * 3, ["a", "a", "b"])
    population = look(["[20, 30)"] * 6, ["47*"] * 6, ["a", "a", "b", "c", "c", "c"])
    assert risks(table, population).journalist == pytest.approx(1 / 3)


def test_whoever_fits_a_person_fits_the_rarest_of_the_rows():
    table = look(["[20, 30)", "[30, 40)"], ["47*", "47*"], ["a", "a"])
    population = look(["[20, 30)"] * 5 + ["[30, 40)"] * 2, ["47*"] * 7)
    assert record_risks(table, population).tolist() == [1 / 2, 1 / 2]


@pytest.mark.parametrize(
    ("population", "said"),
    [
        (
            look(["[20, 30)"] * 9, ["47*"] * 9),
            "lacks people of the table, in 2 groups of.*1 in the table, 0",
        ),
        (
            look(["31", "[30, 40)", "[20, 30)"], ["481", "4**", "47*"]),
            "1 group of .*'47\\*': 3 in the table, 1 there",
        ),
        (look(["[20, 30)"] * 2, ["47*"] * 2), "age='31', zip='481'"),
        (Published(("zipp",), RELEASE.codes[:, :1], RELEASE.values[:1], None), "lacks the quasi"),
        (
            encode(open_frame(pa.table({"age": [25, 31], "zip": ["471", "481"]})), COLUMNS),
            "lacks people of the table",
        ),
        (
            encode(open_frame(pa.table({"age": [25, 51], "zip": ["471", "491"]})), COLUMNS),
            "column 'age' publishes '31', '\\[30, 40\\)', which neither",
        ),
    ],
)
def test_a_population_that_lacks_people_of_the_table(population, said):
    with pytest.raises(BadTable, match=said):
        risks(RELEASE, population)


@pytest.mark.parametrize("jobs", [["a", "a", "b"], ["b", "c", "b"], ["z"]])
def test_an_incomplete_population_counts_the_table_where_it_has_fewer(jobs):
    """The way on that the error offers: risks are too high rather than too low."""
    table = {"job": ["a", "a", "a", "b", "c"]}
    population = pa.table({"job": jobs})
    plan = {"columns": {"job": "quasi"}}
    with pytest.raises(BadTable, match=r"or set incomplete = true under \[population\]"):
        audit(pa.table(table), plan, population=population)
    found = audit(
        pa.table(table), {**plan, "population": {"incomplete": True}}, population=population
    )
    most = [max(jobs.count(job), table["job"].count(job)) for job in table["job"]]
    assert found.risks.journalist == 1 / min(most)
    assert found.risks.marketer == pytest.approx(sum(1 / one for one in most) / len(most))


@st.composite
def vectors(draw):
    """A population, and vectors of any nodes of its trees."""
    table = draw(tables(most_rows=20, persons=True))
    node = st.tuples(*(st.integers(0, tree.size - 1) for tree in table.trees))
    return table, np.array(draw(st.lists(node, min_size=1, max_size=12)), np.int32)


def labels_of(vectors, table):
    """The labels of vectors of nodes."""
    return [
        [tree.labels[v] for tree, v in zip(table.trees, vector, strict=True)] for vector in vectors
    ]


def covered_by_hand(vectors, table):
    """How many people have a record that each vector covers."""
    found = []
    for vector in vectors:
        who = set()
        for i, row in enumerate(table.codes):
            if all(t.covers(a, b) for t, a, b in zip(table.trees, vector, row, strict=True)):
                who.add(i if table.people is None else int(table.people[i]))
        found.append(len(who))
    return found


@pytest.mark.parametrize("block", [1, 3, 1 << 20])
@given(given_=vectors())
def test_covered_agrees_with_all_pairs(block, given_):
    table, wide = given_
    usual, shoal.table.covering.BLOCK = shoal.table.covering.BLOCK, block
    try:
        people = [len(one) for one in covered_people(table, labels_of(wide, table))]
        assert covered(wide, table).tolist() == people
        assert covered(wide, table, linked=False).tolist() == covered_by_hand(wide, table)
    finally:
        shoal.table.covering.BLOCK = usual


def test_nothing_is_covered_by_no_vector():
    table = encode(open_frame(pa.table({"age": [25, 51], "zip": ["471", "491"]})), COLUMNS)
    assert covered(np.zeros((0, 2), np.int32), table).tolist() == []


@given(table=tables(persons=True), extra=st.integers(0, 3), seed=st.integers(0, 999))
def test_journalist_agrees_with_all_pairs(table, extra, seed):
    rng = np.random.default_rng(seed)
    up = table.codes.copy()  # publish the parents of some values
    for j, tree in enumerate(table.trees):
        some = rng.random(table.rows) < 0.5
        up[some, j] = tree.parent[up[some, j]]
    labels = tuple(list(tree.labels) for tree in table.trees)
    published = Published(table.names, up, labels, table.people)
    more = table.codes[rng.integers(0, table.rows, extra)]
    people = None
    if table.people is not None:
        people = np.append(table.people, table.person_count + rng.integers(0, 2, extra))
        people = np.unique(people, return_inverse=True)[1]
    population = Table(
        table.names, table.trees, np.concatenate([table.codes, more]), people, table.exact
    )
    expected = np.array(covered_by_hand(up, population))
    if table.people is not None:
        several = population.person_count < population.rows
        for who in range(table.person_count):
            mine = table.people == who
            could = fitting_people(population, labels_of(up[mine], table))
            expected[mine] = len(could) if several else expected[mine].min()
    assert record_risks(published, population) == pytest.approx(1 / expected)
    found = risks(published, population)
    assert found.journalist == pytest.approx(1 / expected.min())
    assert found.marketer == pytest.approx((1 / expected).mean())

    order = rng.permutation(table.rows)
    turned = Published(
        table.names, up[order], labels, None if table.people is None else table.people[order]
    )
    assert risks(turned, population) == found


@given(table=tables(persons=True))
def test_without_a_population_it_is_the_candidates(table):
    labels = tuple(list(tree.labels) for tree in table.trees)
    published = Published(table.names, table.codes, labels, table.people)
    chance = 1 / tally(table.codes, table.people).candidates
    found = risks(published)
    assert record_risks(published).tolist() == chance.tolist()
    assert found.prosecutor == chance.max()
    assert found.average == found.marketer == pytest.approx(chance.mean())
    assert found.unique == pytest.approx((chance == 1).mean())
