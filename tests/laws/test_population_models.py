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
from shoal.models.delta_presence import DeltaPresence
from shoal.models.k_anonymity import KAnonymity
from shoal.models.k_map import KMap
from shoal.models.population_uniqueness import PopulationUniqueness
from shoal.table.encode import Table
from shoal.table.population.population import Population
from shoal.table.published_table import preview_release
from shoal.table.recoding import check_covers
from tests.naive.coverage import covered_people
from tests.naive.full_domain import at_level, height, left_in
from tests.naive.requirements import (
    ABOUT_TABLE,
    EVERY,
    Release,
    combined,
    population_level,
    satisfies,
)
from tests.random_tables import random_table
from tests.strategies import examples, inhabited, sampled, tables

ASKED = [
    [KMap(k=2)],
    [KMap(k=5)],
    [DeltaPresence(high=0.5)],
    [DeltaPresence(high=0.8, low=0.1)],
    [DeltaPresence(high=0.9, low=0.3)],
    [KMap(k=4), DeltaPresence(high=0.7)],
]
UNIQUENESS = [
    PopulationUniqueness(u=0.1, sampling_fraction=0.4),
    PopulationUniqueness(u=0.05, sampling_fraction=0.1),
    PopulationUniqueness(u=0.02, sampling_fraction=0.8),
]
ALSO = st.lists(
    st.sampled_from([*EVERY, *ABOUT_TABLE, *UNIQUENESS]), max_size=2, unique_by=lambda one: one.name
)
ESTIMATED = [
    KMap(k=4, sampling_fraction=0.5),
    KMap(k=4, sampling_fraction=0.3, estimator="poisson", significance=0.2),
    KMap(k=20, sampling_fraction=0.02, significance=0.1),
]
PERSONS = tables(sensitive=True, most_rows=9, persons=True)
SAMPLED = sampled(tables(sensitive=True, most_rows=9))
FORMING = [
    name for name, kind in catalog.algorithms.decided.items() if kind().serves(KAnonymity(k=2))
]


def check_release(table, recoding, models):
    """The release satisfies the models: as they judge it, and by their naive twins."""
    check_covers(table, recoding)
    published, _ = preview_release(table, recoding)
    release = Release.of(table, recoding)
    for model in models:
        check = model.check(published.classes)
        assert check.holds, model
        assert satisfies(release, model), model
        if model.needs_population:
            assert check.reached == pytest.approx(population_level(release, model))


def test_every_algorithm_that_forms_classes_supports_them():
    for name in FORMING:
        assert all(catalog.algorithms[name]().serves(m) for asked in ASKED for m in asked)
    for name in ("concealment", "freeform"):
        assert not any(catalog.algorithms[name]().serves(m) for asked in ASKED for m in asked)


@settings(max_examples=examples(60), deadline=None)
@pytest.mark.parametrize("name", FORMING)
@given(
    table=st.one_of(sampled(PERSONS), sampled(inhabited(PERSONS))),
    asked=st.sampled_from(ASKED),
    also=ALSO,
    seed=st.integers(0, 99),
)
def test_every_requirement_is_satisfied(name, table, asked, also, seed):
    """Together with every other model that the algorithm supports."""
    algorithm = catalog.algorithms[name]()
    models = combined(algorithm, table, asked, also, reachable=seed > 9)
    whole = Release.as_one_class(table)
    possible = all(satisfies(whole, model) for model in models)
    try:
        one = recode(algorithm, table, models, NCP(), np.random.default_rng(seed))
    except CannotReach:
        # It suppresses people, and too few may be published for a lower limit on presence.
        low = any(model.name == "delta-presence" and model.low > 0 for model in models)
        assert not possible or (name == "danonyir" and low)
        return
    assert possible
    check_release(table, one, models)
    again = recode(algorithm, table, models, NCP(), np.random.default_rng(seed))
    assert np.array_equal(one.codes(), again.codes())


@settings(max_examples=examples(40), deadline=None)
@pytest.mark.parametrize("name", FORMING)
@given(
    table=tables(persons=True, sensitive=True),
    asked=st.sampled_from(ESTIMATED),
    seed=st.integers(0, 99),
)
def test_an_estimate_requires_classes_of_so_many_people(name, table, asked, seed):
    """By each algorithm the same release as k-anonymity with the number that is enough."""
    algorithm = catalog.algorithms[name]()
    assert asked.min_people > 1
    assert algorithm.serves(asked)
    if table.person_count < asked.min_people:
        with pytest.raises(CannotReach, match="k-map"):
            recode(algorithm, table, [asked], NCP(), np.random.default_rng(seed))
        return
    one = recode(algorithm, table, [asked], NCP(), np.random.default_rng(seed))
    check_release(table, one, [asked])
    same = KAnonymity(k=asked.min_people)
    other = recode(algorithm, table, [same], NCP(), np.random.default_rng(seed))
    assert np.array_equal(one.codes(), other.codes())


def test_an_estimate_that_accepts_every_class_requires_nothing():
    table = random_table(np.random.default_rng(0))
    asked = KMap(k=2, sampling_fraction=0.001, estimator="poisson")
    assert asked.min_people == 1
    for name in FORMING:
        algorithm = catalog.algorithms[name]()
        found = recode(algorithm, table, [asked], NCP(), np.random.default_rng(0))
        check_release(table, found, [asked])


@pytest.mark.parametrize("name", FORMING)
def test_the_estimated_uniqueness_is_satisfied_where_generalizing_raises_it(name):
    """Classes that become equal change their sizes, and with them the estimate."""
    asked = [
        (16, KMap(k=2), PopulationUniqueness(u=0.02, sampling_fraction=0.1)),
        (16, KMap(k=2), PopulationUniqueness(u=0.03, sampling_fraction=0.2)),
        (46, DeltaPresence(high=0.6), PopulationUniqueness(u=0.02, sampling_fraction=0.1)),
        (48, DeltaPresence(high=0.6), PopulationUniqueness(u=0.1, sampling_fraction=0.4)),
    ]
    for seed, *models in asked:
        rng = np.random.default_rng(seed)
        table = random_table(rng, most_rows=30, least_rows=6)
        more = rng.integers(0, len(table.codes), 20)
        codes = np.concatenate([table.codes, table.codes[more]]).astype(np.int32)
        people = Table(table.names, table.trees, codes, None, table.exact)
        table = replace(table, population=Population(people, False))
        algorithm = catalog.algorithms[name]()
        found = recode(algorithm, table, models, NCP(), np.random.default_rng(0))
        check_release(table, found, models)


FREE = [name for name in FORMING if catalog.algorithms[name].free]


@settings(max_examples=examples(60), deadline=None)
@pytest.mark.parametrize("name", FREE)
@given(
    table=sampled(tables(sensitive=True, most_rows=9, free=True)),
    asked=st.sampled_from(ASKED),
    also=ALSO,
)
def test_free_values_are_generalized_too(name, table, asked, also):
    algorithm = catalog.algorithms[name]()
    models = combined(algorithm, table, asked, also)
    whole = Release.as_one_class(table)
    possible = all(satisfies(whole, model) for model in models)
    try:
        one = recode(algorithm, table, models, NCP(), np.random.default_rng(0))
    except CannotReach:
        assert not possible
        return
    assert possible
    check_release(table, one, models)


@settings(max_examples=examples(150), deadline=None)
@given(
    table=sampled(tables(sensitive=True, most_rows=9, persons=True, most_columns=3)),
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
        seen = Release.with_rows(
            table,
            range(table.rows),
            [[t.labels[v] for t, v in zip(table.trees, row, strict=True)] for row in rows],
        )
        if all(satisfies(seen, model) for model in asked):
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
@given(table=SAMPLED, k=st.integers(2, 6), suppression=st.sampled_from([0.2, 0.5]))
def test_full_domain_suppresses_what_cannot_be_hidden(table, k, suppression):
    models = [KMap(k=k), DeltaPresence(high=0.6)]
    whole = Release.as_one_class(table)
    try:
        found = FullDomain(suppression=suppression).recode(
            table, models, NCP(), np.random.default_rng(0)
        )
    except CannotReach:
        assert not all(satisfies(whole, model) for model in models)
        return
    check_release(table, found, models)
    assert found.suppressed <= suppression * table.rows


@settings(max_examples=examples(100), deadline=None)
@given(table=SAMPLED, k=st.integers(2, 6))
def test_k_map_generalizes_nothing_in_vain(table, k):
    """By itself: no value of a class can be one step less general."""
    try:
        rng = np.random.default_rng(0)
        found = recode(catalog.algorithms["peel"](), table, [KMap(k=k)], NCP(), rng)
    except CannotReach:
        assert not satisfies(Release.as_one_class(table), KMap(k=k))
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
            (people,) = covered_people(table.population.table, [vector])
            assert len(people) < k or mates >= k
