"""Laws that hold for every model of the catalog."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import catalog
from shoal.classes import tally
from tests.naive.models import EXAMPLES, LEVELS
from tests.strategies import tables


def test_every_model_has_a_naive_twin():
    assert set(LEVELS) == set(EXAMPLES) == set(catalog.models)


@pytest.mark.parametrize("name", catalog.models)
@given(table=tables(persons=True))
def test_agrees_with_its_naive_twin(name, table):
    model = catalog.models[name](**EXAMPLES[name])
    classes = tally(table.codes, table.people)
    assert model.reached(classes) == pytest.approx(LEVELS[name](table.codes, table.people))
    assert min(model.levels(classes)) == model.reached(classes)
    assert len(model.levels(classes)) == len(classes)
    check = model.check(classes)
    assert check.holds == model.holds(check.reached)
    assert check.required == model.required


@pytest.mark.parametrize("name", catalog.models)
@given(table=tables(persons=True), seed=st.integers(0, 1000))
def test_does_not_care_about_row_order(name, table, seed):
    order = np.random.default_rng(seed).permutation(table.rows)
    model = catalog.models[name](**EXAMPLES[name])
    people = None if table.people is None else table.people[order]
    turned = model.reached(tally(table.codes[order], people))
    assert turned == model.reached(tally(table.codes, table.people))
