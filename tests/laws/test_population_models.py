"""Laws of models about a population: every algorithm that forms classes satisfies them."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import catalog
from shoal.algorithms._shared.recode import recode
from shoal.algorithms.full_domain import FullDomain
from shoal.base.errors import CannotReach
from shoal.losses._integer_costs import exact_costs
from shoal.losses.ncp import NCP
from shoal.models.average_risk import AverageRisk
from shoal.models.delta_presence import DeltaPresence
from shoal.models.distinct_l_diversity import DistinctLDiversity
from shoal.models.k_anonymity import KAnonymity
from shoal.models.k_map import KMap
from shoal.models.t_closeness import TCloseness
from shoal.table.encode import Table
from shoal.table.population.population import Population
from shoal.table.published_table import preview_release
from shoal.table.recoding import SUPPRESSED, check_covers
from tests.naive.coverage import covered_rows, k_map_level, presence_level
from tests.naive.full_domain import at_level, height, left_in
from tests.strategies import examples, tables

ASKED = [
    [KMap(k=2)],
    [KMap(k=5)],
    [DeltaPresence(high=0.5)],
    [DeltaPresence(high=0.8, low=0.1)],
    [KMap(k=4), DeltaPresence(high=0.7)],
]
ALSO = [
    [],
    [KAnonymity(k=2)],
    [KAnonymity(k=2), DistinctLDiversity(column="s", l=2)],
    [TCloseness(column="s", t=0.4)],
    [AverageRisk(r=0.5)],
]
FORMING = [
    name for name, kind in catalog.algorithms.decided.items() if kind().serves(KAnonymity(k=2))
]


@st.composite
def sampled(draw, **options):
    """A table that is a sample of a population: the population has its records, and more."""
    table = draw(tables(sensitive=True, most_rows=9, **options))
    more = draw(st.integers(0, 14))
    pools = [[v for v in range(tree.size) if tree.end[v] == v + 1] for tree in table.trees]
    extra = [[draw(st.sampled_from(pool)) for pool in pools] for _ in range(more)]
    # Of a person with several records the population has what they have in common.
    start = table.tally()
    own = np.repeat(np.arange(len(start)), start.people)
    mine = table.codes[start.first][own]
    if table.people is not None:
        mine = np.array([table.codes[table.people == who][0] for who in range(table.person_count)])
    codes = np.concatenate([mine, np.array(extra, np.int32).reshape(more, len(pools))])
    people = Table(table.names, table.trees, codes.astype(np.int32), None, table.exact)
    return replace(table, population=Population(people, draw(st.booleans())))


def seen(table, recoding):
    """The labels and the people of each class that a reader of the release sees."""
    found = {}
    codes = recoding.codes()
    for i in np.flatnonzero(recoding.record != SUPPRESSED).tolist():
        known = [
            recoding.covers[j].labels() if recoding.covers else tree.labels
            for j, tree in enumerate(table.trees)
        ]
        vector = tuple(known[j][code] for j, code in enumerate(codes[i]))
        found.setdefault(vector, set()).add(i if table.people is None else int(table.people[i]))
    return list(found), [len(one) for one in found.values()]


def level(model, table, vectors, own):
    rows = covered_rows(table.population.table, vectors)
    if isinstance(model, KMap):
        return k_map_level(own, rows)
    everybody, incomplete = len(table.population.table.codes), table.population.incomplete
    return presence_level(own, rows, everybody, model.low, incomplete)


def check_release(table, recoding, models):
    check_covers(table, recoding)
    published, _ = preview_release(table, recoding)
    vectors, own = seen(table, recoding)
    for model in models:
        check = model.check(published.classes)
        assert check.holds, model
        if model.needs_population:
            assert check.reached == pytest.approx(level(model, table, vectors, own))


def test_every_algorithm_that_forms_classes_supports_them():
    for name in FORMING:
        assert all(catalog.algorithms[name]().serves(m) for asked in ASKED for m in asked)
    for name in ("concealment", "freeform"):
        assert not any(catalog.algorithms[name]().serves(m) for asked in ASKED for m in asked)


@settings(max_examples=examples(60), deadline=None)
@pytest.mark.parametrize("name", FORMING)
@given(
    table=sampled(persons=True),
    asked=st.sampled_from(ASKED),
    also=st.sampled_from(ALSO),
    seed=st.integers(0, 99),
)
def test_every_requirement_is_satisfied(name, table, asked, also, seed):
    algorithm = catalog.algorithms[name]()
    models = [*(model for model in also if algorithm.serves(model)), *asked]
    possible = all(model.check(table.as_one_class()).holds for model in models)
    try:
        one = recode(algorithm, table, models, NCP(), np.random.default_rng(seed))
    except CannotReach:
        assert not possible or name == "danonyir"  # which may suppress people
        return
    assert possible
    check_release(table, one, models)
    again = recode(algorithm, table, models, NCP(), np.random.default_rng(seed))
    assert np.array_equal(one.codes(), again.codes())


FREE = [name for name in FORMING if catalog.algorithms[name].free]


@settings(max_examples=examples(60), deadline=None)
@pytest.mark.parametrize("name", FREE)
@given(table=sampled(free=True), asked=st.sampled_from(ASKED), also=st.sampled_from(ALSO))
def test_free_values_are_generalized_too(name, table, asked, also):
    algorithm = catalog.algorithms[name]()
    models = [*(model for model in also if algorithm.serves(model)), *asked]
    try:
        one = recode(algorithm, table, models, NCP(), np.random.default_rng(0))
    except CannotReach:
        return
    check_release(table, one, models)


@settings(max_examples=examples(150), deadline=None)
@given(
    table=sampled(persons=True, most_columns=3),
    asked=st.sampled_from(ASKED),
    k=st.sampled_from([1, 1, 2]),
)
def test_full_domain_is_the_best_of_all_levels(table, asked, k):
    """Brute force over all combinations of levels, judged by comparing all pairs of records."""
    also = [KAnonymity(k=k)] if k > 1 else []
    costs = exact_costs(NCP(), table.domains, table.rows, falling=True)
    wide = table.unified.tolist()
    best = None
    for levels in product(*(range(height(tree, 0) + 1) for tree in table.trees)):
        rows = [
            tuple(at_level(*one) for one in zip(table.trees, row, levels, strict=True))
            for row in wide
        ]
        if len(left_in(table, rows, list(range(table.rows)), also)) < table.rows:
            continue
        classes = {}
        for i, row in enumerate(rows):
            who = i if table.people is None else int(table.people[i])
            classes.setdefault(row, set()).add(who)
        vectors = [
            tuple(tree.labels[v] for tree, v in zip(table.trees, row, strict=True))
            for row in classes
        ]
        own = [len(one) for one in classes.values()]
        if all(model.holds(level(model, table, vectors, own)) for model in asked):
            worth = sum(int(c[v]) for row in rows for c, v in zip(costs, row, strict=True))
            best = worth if best is None or worth > best else best
    try:
        found = FullDomain().recode(table, [*also, *asked], NCP(), np.random.default_rng(0))
    except CannotReach:
        assert best is None
        return
    worth = sum(int(c[v]) for row in found.codes() for c, v in zip(costs, row, strict=True))
    assert worth == best
    check_release(table, found, [*also, *asked])


@settings(max_examples=examples(100), deadline=None)
@given(table=sampled(), k=st.integers(2, 6), suppression=st.sampled_from([0.2, 0.5]))
def test_full_domain_suppresses_what_cannot_be_hidden(table, k, suppression):
    try:
        models = [KMap(k=k), DeltaPresence(high=0.6)]
        found = FullDomain(suppression=suppression).recode(
            table, models, NCP(), np.random.default_rng(0)
        )
    except CannotReach:
        return
    check_release(table, found, models)
    assert found.suppressed <= suppression * table.rows


@settings(max_examples=examples(100), deadline=None)
@given(table=sampled(), k=st.integers(2, 6))
def test_k_map_generalizes_nothing_in_vain(table, k):
    """By itself: no value of a class can be one step less general."""
    try:
        rng = np.random.default_rng(0)
        found = recode(catalog.algorithms["peel"](), table, [KMap(k=k)], NCP(), rng)
    except CannotReach:
        return
    if found.record.max() < 0 or len(found.vectors) < table.rows // k:
        return  # classes of k people of the table lost less
    codes = found.codes()
    for i, row in enumerate(codes.tolist()):
        for j, tree in enumerate(table.trees):
            low = int(table.codes[i, j])
            if row[j] == low:
                continue
            while int(tree.parent[low]) != row[j]:
                low = int(tree.parent[low])
            less = [*row[:j], low, *row[j + 1 :]]
            vector = tuple(t.labels[v] for t, v in zip(table.trees, less, strict=True))
            mates = sum(bool((codes[m] == codes[i]).all()) for m in range(table.rows))
            (people,) = covered_rows(table.population.table, [vector])
            assert len(people) < k or mates >= k
