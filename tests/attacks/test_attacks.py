"""The attacks against their naive twins, on random tables."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import catalog
from shoal.attacks import LinkageAttack
from shoal.attacks.similarity import Similarity
from shoal.hierarchies.base import Hierarchy
from shoal.table.published_table import Published
from shoal.table.sensitive import Sensitive
from tests.attacks import naive
from tests.attacks.tables import TABLE_2, TABLE_4, TABLE_5, VIRUS
from tests.strategies import trees

TREE = Hierarchy.from_tree({"*": {"a": {"b": ["0", "1"], "2": None}, "c": ["3", "4"], "5": None}})
TWINS = {
    "homogeneity": naive.homogeneity,
    "background-knowledge": naive.background_knowledge,
    "skewness": naive.skewness,
}


@st.composite
def columns(draw, values=("0", "1", "2", "3", "4", "5", None)):
    """Two columns of published values, and a sensitive one with its rows."""
    rows = draw(st.integers(1, 24))
    codes = draw(st.lists(st.tuples(*[st.integers(0, 2)] * 2), min_size=rows, max_size=rows))
    sensitive = draw(st.lists(st.sampled_from(values), min_size=rows, max_size=rows))
    return codes, sensitive


def look(codes, values, hierarchy=None):
    known = sorted({value for value in values if value is not None}, key=str)
    places = np.array([-1 if v is None else known.index(v) for v in values], np.int32)
    column = Sensitive.of("s", places, known, hierarchy)
    names = list("xyz")
    return Published(("p", "q"), np.array(codes, np.int32), (names, names), None, (column,))


@pytest.mark.parametrize("name", TWINS)
@given(table=columns())
def test_agrees_with_its_naive_twin(name, table):
    found = catalog.attacks[name]().run(look(*table))
    assert found == {"s": pytest.approx(TWINS[name](*table), abs=1e-12)}


@given(table=columns(), limits=st.tuples(*[st.sampled_from([0, 0.1, 1 / 3, 0.5, 0.9, 1])] * 2))
def test_skewness_with_other_limits(table, limits):
    attack = catalog.attacks["skewness"](gain=limits[0], belief=limits[1])
    assert attack.run(look(*table))["s"] == pytest.approx(naive.skewness(*table, *limits))


@given(tree=trees(), data=st.data())
def test_similarity_by_hierarchy(tree, data):
    codes, values = data.draw(columns((*tree.labels, None)))
    hierarchy = Hierarchy.from_tree({"n0": {}})
    hierarchy._tree = tree
    found = Similarity().run(look(codes, values, hierarchy))["s"]
    expected = naive.one_branch(codes, values, tree.with_missing())
    assert {key: found[key] for key in expected} == pytest.approx(expected)


@given(
    table=columns((-40, 0, 1, 2, 3.5, 5, 6, 7, 9, 100, None)), narrow=st.sampled_from([0, 0.3, 1])
)
def test_similarity_by_numbers(table, narrow):
    found = Similarity(narrow=narrow).run(look(*table))["s"]
    if found["judged_by"] == "nothing":  # all values are missing
        assert set(table[1]) == {None}
        assert found["percent"] is None
        return
    expected = naive.narrow_range(*table, narrow)
    assert {key: found[key] for key in expected} == pytest.approx(expected)


@pytest.mark.parametrize("name", catalog.attacks)
@given(table=columns(), seed=st.integers(0, 99))
def test_does_not_care_about_row_order(name, table, seed):
    codes, values = table
    order = np.random.default_rng(seed).permutation(len(codes))
    attack = catalog.attacks[name]()
    turned = look([codes[i] for i in order], [values[i] for i in order], TREE)
    assert attack.run(turned) == attack.run(look(codes, values, TREE))


@pytest.mark.parametrize("name", catalog.attacks)
@given(table=columns((None, "a", 1, 2.5, True, float("inf"), Decimal("0.1"), date(2024, 5, 17))))
def test_findings_are_fit_for_json(name, table):
    found = catalog.attacks[name]().run(look(*table))
    assert json.loads(json.dumps(found, allow_nan=False)) == found


@pytest.mark.parametrize("name", catalog.attacks)
@pytest.mark.parametrize("table", [TABLE_2, TABLE_4, TABLE_5, VIRUS])
def test_findings_hold_no_published_quasi_identifier(name, table):
    found = json.dumps(catalog.attacks[name]().run(table), allow_nan=False, ensure_ascii=False)
    for values in table.values:
        assert not any(f'"{value}"' in found for value in values)


def test_many_classes_are_no_burden():
    rng = np.random.default_rng(1)
    codes = np.arange(300_000, dtype=np.int32)[:, None] // 3
    numbers = rng.integers(0, 1000, 300_000).astype(np.int32)
    column = Sensitive("s", numbers, tuple(range(1000)), Hierarchy.ranges([10, 100]))
    table = Published(("p",), codes, (list(range(100_000)),), None, (column,))
    for kind in catalog.attacks.values():
        assert issubclass(kind, LinkageAttack) or kind().run(table)
