"""The attacks on people with several records, against loops over lists."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import Plan, catalog
from shoal.attacks.similarity import Similarity
from shoal.hierarchies.base import Hierarchy
from tests.attacks.tables import columns, look
from tests.attacks.test_attacks import TREE
from tests.naive import attacks as naive
from tests.strategies import trees

COLUMNS = {"town": "quasi", "who": "person", "disease": "sensitive"}


@st.composite
def records(draw, values=("0", "1", "2", "3", "4", "5", None)):
    """Records of few people, some of whom are in several classes."""
    codes, sensitive = draw(columns(values))
    people = draw(st.lists(st.integers(0, 7), min_size=len(codes), max_size=len(codes)))
    return list(zip(codes, people, sensitive, strict=True))


def seen(table, hierarchy=None):
    people = np.unique([who for _, who, _ in table], return_inverse=True)[1].astype(np.int64)
    published = look([row for row, _, _ in table], [value for *_, value in table], hierarchy)
    return replace(published, people=people)


@given(table=records())
def test_homogeneity(table):
    assert catalog.attacks["homogeneity"]().run(seen(table))["s"] == pytest.approx(
        naive.people_homogeneity(table)
    )


@given(table=records(), knows=st.integers(0, 3))
def test_background_knowledge(table, knows):
    found = catalog.attacks["background-knowledge"](knows=knows).run(seen(table))["s"]
    assert found == pytest.approx(naive.people_background_knowledge(table, knows))


@given(
    table=records(),
    limits=st.tuples(*[st.sampled_from([0, 0.1, 0.2, 1 / 3, 0.5, 0.9, 1])] * 2),
)
def test_skewness(table, limits):
    attack = catalog.attacks["skewness"](gain=limits[0], belief=limits[1])
    found = attack.run(seen(table))["s"]
    assert found == pytest.approx(naive.people_skewness(table, *limits))


@given(tree=trees(), data=st.data())
def test_similarity_by_hierarchy(tree, data):
    table = data.draw(records((*tree.labels, None)))
    hierarchy = Hierarchy.from_tree({"n0": {}})
    hierarchy._tree = tree
    found = Similarity().run(seen(table, hierarchy))["s"]
    if all(value is None for *_, value in table):
        assert found["records"] == 0
        return
    expected = naive.people_one_branch(table, tree.with_missing())
    assert {key: found[key] for key in expected} == pytest.approx(expected)


@pytest.mark.parametrize("name", catalog.attacks)
@given(table=columns())
def test_one_record_per_person_is_as_without_a_person_column(name, table):
    """All that is told without persons is told with them, and in the same numbers."""
    codes, values = table
    records = [(row, i, value) for i, (row, value) in enumerate(zip(codes, values, strict=True))]
    attack = catalog.attacks[name]()
    if attack.needs_original:
        return
    bare, persons = attack.run(look(codes, values, TREE)), attack.run(seen(records, TREE))
    bare, persons = bare.get("s", bare), persons.get("s", persons)
    assert {key: persons[key] for key in bare} == bare
    if "people" in persons:
        assert persons["people"] == persons["records"]
        assert persons["people_percent"] == persons["percent"]


@pytest.mark.parametrize("name", catalog.attacks)
@given(table=records(), seed=st.integers(0, 99))
def test_does_not_care_about_row_order(name, table, seed):
    order = np.random.default_rng(seed).permutation(len(table))
    attack = catalog.attacks[name]()
    turned = attack.run(seen([table[i] for i in order], TREE))
    assert turned == attack.run(seen(table, TREE))
    assert json.loads(json.dumps(turned, allow_nan=False)) == turned


def hospital():
    """In the north nine of ten have gout, beside ten diseases of their own; in the south nobody."""
    rows = []
    for i in range(10):
        rows += [("north", f"n{i}", f"other {10 * i + j}") for j in range(10)]
        rows += [("north", f"n{i}", "gout")] * (i > 0)
        rows += [("south", f"s{i}", f"other {10 * i + j}") for j in range(10)]
    return pa.table(dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True)))


def test_a_value_that_most_people_have_is_found_though_it_is_in_few_rows():
    found = shoal.audit(hospital(), Plan(columns=COLUMNS)).attacks["skewness"]["disease"]
    assert (found["classes_by_rows"], found["classes_by_people"]) == (0, 1)
    assert (found["records"], found["people"], found["people_percent"]) == (109, 10, 50.0)
    assert (found["value"], found["counted_by"]) == ("gout", "people")
    assert (found["belief_before"], found["belief_after"]) == (0.45, 0.9)


def test_two_values_of_which_everybody_has_one():
    """Mike has no cold: then he has the flu, as all have who have no cold."""
    rows = [("*", "a", "flu"), ("*", "a", "gout"), ("*", "b", "cold"), ("*", "b", "measles")]
    rows += [("*", "c", "flu"), ("*", "c", "mumps"), ("*", "d", "cold"), ("*", "d", "angina")]
    table = pa.table(dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True)))
    models = [{"name": "eir-l-diversity", "column": "disease", "l": 2}]
    audit = shoal.audit(table, Plan(columns=COLUMNS, models=models))
    found = audit.attacks["background-knowledge"]["disease"]
    assert found["classes_by_rows"] == 0  # of six values five would have to be ruled out
    assert (found["classes_by_people"], found["people"]) == (1, 4)
    assert found["fewest_to_rule_out"] == audit.checks[0].reached - 1 == 1
