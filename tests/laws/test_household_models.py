"""Laws of household-k-anonymity: every algorithm that serves it hides households."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import catalog
from shoal.algorithms._shared.recode import recode
from shoal.algorithms._shared.table_models import unchanged
from shoal.base.errors import CannotReach
from shoal.losses.ncp import NCP
from shoal.models.household_k_anonymity import HouseholdKAnonymity
from shoal.models.k_anonymity import KAnonymity
from shoal.table.equivalence_classes import tally
from shoal.table.population.population import Population
from shoal.table.published_table import preview_release
from shoal.table.recoding import check_covers
from tests.naive.requirements import EVERY, Release, combined, household_level, satisfies
from tests.strategies import examples, inhabited, tables

SERVING = [
    name
    for name, kind in catalog.algorithms.decided.items()
    if kind().serves(HouseholdKAnonymity(k=2))
]
HOMES = inhabited(tables(sensitive=True, most_rows=12, persons=True))
ALSO = st.lists(st.sampled_from(EVERY), max_size=2, unique_by=lambda one: one.name)


@given(table=HOMES, k=st.integers(2, 4))
def test_it_agrees_with_its_naive_twin(table, k):
    """On the records of a table, on the classes of a release, and on equal ones together."""
    model = HouseholdKAnonymity(k=k)
    original = Release.with_rows(table, range(table.rows), table.codes.tolist())
    own = household_level(original)
    found = model.reached(tally(table.codes, table.people, table.sensitive))
    assert found == pytest.approx(float(own))
    published, _ = preview_release(table, unchanged(table))
    assert [one.name for one in published.sensitive] == ["s"]  # attacks do not see households
    shown = household_level(
        replace(original, rows=[tuple(row) for row in published.codes.tolist()])
    )
    for seen in (published, published.together(), published.known_to(table.names)):
        assert list(seen.classes.histograms) == ["s"]
        assert model.reached(seen.classes) == pytest.approx(float(shown))
        assert model.check(seen.classes).holds == (shown >= k)


@pytest.mark.parametrize("name", SERVING)
@settings(max_examples=examples(40), deadline=None)
@given(table=HOMES, k=st.integers(2, 3), also=ALSO, seed=st.integers(0, 99))
def test_households_are_hidden(name, table, k, also, seed):
    """Together with every other model that the algorithm supports."""
    algorithm = catalog.algorithms[name]()
    people = Population(replace(table, people=None, sensitive=()), False)
    table = replace(table, population=people)
    models = combined(algorithm, table, [HouseholdKAnonymity(k=k)], also, reachable=seed > 9)
    whole = Release.as_one_class(table)
    possible = all(satisfies(whole, model) for model in models)
    try:
        found = recode(algorithm, table, models, NCP(), np.random.default_rng(seed))
    except CannotReach:
        assert not possible
        return
    check_covers(table, found)
    published, _ = preview_release(table, found)
    release = Release.of(table, found)
    for model in models:
        assert model.check(published.classes).holds, model
        assert satisfies(release, model), model


def test_which_algorithms_serve_it():
    """All that form classes, but for the two that are about several records per person."""
    forming = {n for n, a in catalog.algorithms.decided.items() if a().serves(KAnonymity(k=2))}
    assert {*SERVING} == forming - {"danonyir", "geneir"}
