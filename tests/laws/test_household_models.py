"""Laws of household-k-anonymity: every algorithm that serves it hides households."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import catalog
from shoal.algorithms._shared.recode import recode
from shoal.algorithms._shared.table_models import unchanged
from shoal.base.errors import CannotReach
from shoal.losses.ncp import NCP
from shoal.models.average_risk import AverageRisk
from shoal.models.distinct_l_diversity import DistinctLDiversity
from shoal.models.household_k_anonymity import HouseholdKAnonymity
from shoal.models.k_anonymity import KAnonymity
from shoal.models.k_map import KMap
from shoal.models.t_closeness import TCloseness
from shoal.table.equivalence_classes import tally
from shoal.table.population.population import Population
from shoal.table.published_table import preview_release
from shoal.table.recoding import SUPPRESSED, check_covers
from shoal.table.sensitive import Sensitive
from tests.strategies import examples, tables

SERVING = [
    name
    for name, kind in catalog.algorithms.decided.items()
    if kind().serves(HouseholdKAnonymity(k=2))
]
ALSO = [
    [],
    [KAnonymity(k=2)],
    [KAnonymity(k=3), DistinctLDiversity(column="s", l=2)],
    [TCloseness(column="s", t=0.4)],
    [AverageRisk(r=0.4)],
    [KMap(k=4)],
]


@st.composite
def inhabited(draw, **options):
    """A table whose people live in households; a person lives in one."""
    table = draw(tables(sensitive=True, most_rows=12, **options))
    people = np.arange(table.rows) if table.people is None else table.people
    many = int(people.max()) + 1
    homes = np.array(draw(st.lists(st.integers(0, many // 2), min_size=many, max_size=many)))
    home = np.unique(homes[people], return_inverse=True)[1]
    return replace(table, sensitive=(*table.sensitive, Sensitive.of_households("home", home)))


def naive_level(rows, homes, people):
    """1 / the largest share of a household among the records, and the people, of a class."""
    levels = []
    for row in set(rows):
        inside = [i for i, one in enumerate(rows) if one == row]
        by_record = [homes[i] for i in inside]
        by_person = [home for _, home in {(people[i], homes[i]) for i in inside}]
        for each in (by_record, by_person):
            levels.append(Fraction(len(each), max(Counter(each).values())))
    return min(levels)


def homes_of(table):
    return table.sensitive[-1].codes.tolist()


def persons_of(table):
    return list(range(table.rows)) if table.people is None else table.people.tolist()


@given(table=inhabited(persons=True), k=st.integers(2, 4))
def test_it_agrees_with_its_naive_twin(table, k):
    """On the records of a table, on the classes of a release, and on equal ones together."""
    model = HouseholdKAnonymity(k=k)
    homes, people = homes_of(table), persons_of(table)
    own = naive_level([tuple(row) for row in table.codes.tolist()], homes, people)
    found = model.reached(tally(table.codes, table.people, table.sensitive))
    assert found == pytest.approx(float(own))
    published, _ = preview_release(table, unchanged(table))
    assert [one.name for one in published.sensitive] == ["s"]  # attacks do not see households
    shown = naive_level([tuple(row) for row in published.codes.tolist()], homes, people)
    for seen in (published, published.together(), published.known_to(table.names)):
        assert list(seen.classes.histograms) == ["s"]
        assert model.reached(seen.classes) == pytest.approx(float(shown))
        assert model.check(seen.classes).holds == (shown >= k)


@pytest.mark.parametrize("name", SERVING)
@settings(max_examples=examples(40), deadline=None)
@given(
    table=inhabited(persons=True),
    k=st.integers(2, 3),
    also=st.sampled_from(ALSO),
    seed=st.integers(0, 99),
)
def test_households_are_hidden(name, table, k, also, seed):
    algorithm = catalog.algorithms[name]()
    models = [*(model for model in also if algorithm.serves(model)), HouseholdKAnonymity(k=k)]
    if any(model.needs_population for model in models):
        people = Population(replace(table, people=None, sensitive=()), False)
        table = replace(table, population=people)
    possible = all(model.check(table.as_one_class()).holds for model in models)
    try:
        found = recode(algorithm, table, models, NCP(), np.random.default_rng(seed))
    except CannotReach:
        assert not possible
        return
    check_covers(table, found)
    published, _ = preview_release(table, found)
    assert all(model.check(published.classes).holds for model in models)
    left = np.flatnonzero(found.record != SUPPRESSED).tolist()
    rows, homes, people = found.codes().tolist(), homes_of(table), persons_of(table)
    if left:
        level = naive_level(
            [tuple(rows[i]) for i in left], [homes[i] for i in left], [people[i] for i in left]
        )
        assert level >= k


def test_which_algorithms_serve_it():
    assert {*SERVING} >= {"peel", "gaa", "mondrian", "full-domain", "agglomerative", "mdav"}
    assert not {*SERVING} & {"concealment", "freeform", "danonyir", "geneir"}
