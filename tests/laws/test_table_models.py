"""Laws of models about the whole table: every algorithm that forms classes serves them."""

from __future__ import annotations

from math import floor

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Plan, catalog
from shoal.algorithms._shared.recode import recode
from shoal.algorithms.full_domain import FullDomain
from shoal.base.errors import CannotReach
from shoal.kernels.grouping import table_merge
from shoal.losses._integer_costs import exact_costs
from shoal.losses.ncp import NCP
from shoal.models import TableModel
from shoal.models.average_risk import AverageRisk
from shoal.models.distinct_l_diversity import DistinctLDiversity
from shoal.models.k_anonymity import KAnonymity
from shoal.models.population_uniqueness import PopulationUniqueness
from shoal.models.share_at_risk import ShareAtRisk
from shoal.models.strict_average_risk import StrictAverageRisk
from shoal.models.t_closeness import TCloseness
from shoal.table.equivalence_classes import tally
from shoal.table.published_table import preview_release
from shoal.table.recoding import SUPPRESSED, check_covers
from tests.naive.full_domain import full_domain
from tests.naive.requirements import ABOUT_TABLE, EVERY, Release, combined, satisfies
from tests.strategies import examples, inhabited, tables

RISKS = [
    [AverageRisk(r=0.5)],
    [AverageRisk(r=0.21)],
    [ShareAtRisk(share=0.25, threshold=0.34)],
    [ShareAtRisk(share=0.0, threshold=0.5)],
    [AverageRisk(r=0.4), ShareAtRisk(share=0.1, threshold=0.5)],
    [StrictAverageRisk(r=0.3, k=2)],
    [StrictAverageRisk(r=0.5, k=3)],
    [StrictAverageRisk(r=0.4, k=2), ShareAtRisk(share=0.5, threshold=0.34)],
    [PopulationUniqueness(u=0.1, sampling_fraction=0.4)],
    [PopulationUniqueness(u=0.02, sampling_fraction=0.1), AverageRisk(r=0.6)],
]
ALSO = [
    [],
    [KAnonymity(k=2)],
    [KAnonymity(k=2), DistinctLDiversity(column="s", l=2)],
    [TCloseness(column="s", t=0.4)],
]
EACH_OTHER = st.lists(
    st.sampled_from(ABOUT_TABLE), min_size=1, max_size=3, unique_by=lambda one: one.name
)
OTHERS = st.lists(st.sampled_from(EVERY), max_size=2, unique_by=lambda one: one.name)
PERSONS = tables(persons=True, sensitive=True)
FORMING = [
    name for name, kind in catalog.algorithms.decided.items() if kind().serves(KAnonymity(k=2))
]


def classes_of(table, recoding):
    """The classes that a reader of the release sees."""
    rows = np.flatnonzero(recoding.record != SUPPRESSED)
    people = None if table.people is None else np.unique(table.people[rows], return_inverse=True)[1]
    sensitive = [column.take(rows) for column in table.sensitive]
    return tally(recoding.codes()[rows], people, sensitive)


def whole(table):
    """The table as one class."""
    return tally(np.zeros((table.rows, 1), np.int32), table.people, table.sensitive)


def test_every_algorithm_that_forms_classes_supports_them():
    for kind in catalog.models.values():
        if issubclass(kind, TableModel):
            model = kind(**kind.loosest)
            assert [n for n in catalog.algorithms.decided if catalog.algorithms[n]().serves(model)]
            assert all(catalog.algorithms[name]().serves(model) for name in FORMING)


@settings(max_examples=examples(40))
@pytest.mark.parametrize("name", FORMING)
@given(
    table=st.one_of(PERSONS, inhabited(PERSONS)),
    risks=st.one_of(st.sampled_from(RISKS), EACH_OTHER),
    also=OTHERS,
    seed=st.integers(0, 99),
)
def test_every_requirement_is_satisfied(name, table, risks, also, seed):
    """Together with each other, and with every other model that the algorithm supports."""
    algorithm = catalog.algorithms[name]()
    models = combined(algorithm, table, risks, also, reachable=seed > 9)
    whole = Release.as_one_class(table)
    possible = all(satisfies(whole, model) for model in models)
    try:
        one = recode(algorithm, table, models, NCP(), np.random.default_rng(seed))
    except CannotReach:
        assert not possible
        return
    assert possible
    check_covers(table, one)
    assert (one.record != SUPPRESSED).any()
    published, _ = preview_release(table, one)
    release = Release.of(table, one)
    for model in models:
        assert model.check(published.classes).holds, model
        assert satisfies(release, model), model
    again = recode(algorithm, table, models, NCP(), np.random.default_rng(seed))
    assert np.array_equal(one.codes(), again.codes())
    if table.people is not None:
        for who in range(table.person_count):
            assert len({tuple(row) for row in one.codes()[table.people == who].tolist()}) == 1


FREE = [name for name in FORMING if catalog.algorithms[name].free]


@settings(max_examples=examples(25))
@pytest.mark.parametrize("name", FREE)
@given(
    table=tables(persons=True, sensitive=True, free=True),
    risks=st.sampled_from(RISKS),
    also=OTHERS,
)
def test_free_values_are_merged_too(name, table, risks, also):
    algorithm = catalog.algorithms[name]()
    models = combined(algorithm, table, risks, also)
    whole = Release.as_one_class(table)
    possible = all(satisfies(whole, model) for model in models)
    try:
        one = recode(algorithm, table, models, NCP(), np.random.default_rng(0))
    except CannotReach:
        assert not possible
        return
    assert possible
    check_covers(table, one)
    assert all(model.check(classes_of(table, one)).holds for model in models)
    assert all(satisfies(Release.of(table, one), model) for model in models)


@settings(max_examples=examples(120), deadline=None)
@given(
    table=tables(persons=True, sensitive=True, most_rows=9, most_columns=3),
    risks=st.sampled_from(RISKS),
    also=st.sampled_from(ALSO),
    suppression=st.sampled_from([0.0, 0.0, 0.2, 0.5]),
    objective=st.sampled_from(["loss", "discernibility", "average-class-size"]),
)
def test_full_domain_is_the_best_of_all_levels(table, risks, also, suppression, objective):
    """Brute force over all combinations of levels; without suppression that is a full proof."""
    models = [*also, *risks]
    costs = exact_costs(NCP(), table.domains, table.rows, falling=True)
    best, _ = full_domain(table, models, costs, suppression, objective)
    algorithm = FullDomain(suppression=suppression, objective=objective)
    try:
        found = algorithm.recode(table, models, NCP(), np.random.default_rng(0))
    except CannotReach:
        assert best is None
        return
    shown = [None if at == SUPPRESSED else tuple(found.vectors[at].tolist()) for at in found.record]
    assert shown == best
    assert shown.count(None) <= floor(suppression * table.rows + 1e-9)
    assert all(model.check(classes_of(table, found)).holds for model in models)
    assert ". That is" not in found.notes[0]  # the condition comes first
    searched = "other choices of what to suppress were not searched" in found.notes[0]
    assert searched == (suppression * table.rows >= 1)


def test_progress_moves_while_the_nearest_classes_are_searched(monkeypatch):
    """The first search took most of the time, 50 s on a large table, without a sign of life."""
    rng = np.random.default_rng(1)
    people = pa.table({name: rng.integers(0, 30, 3_000) for name in ("a", "b", "c")})
    columns = {name: {"role": "quasi", "hierarchy": {"ranges": [5, 10]}} for name in "abc"}
    shares, before_merging = [], []
    merge_pairs = table_merge.merge_pairs

    def merged(*args):
        before_merging.append(len(shares))
        return merge_pairs(*args)

    def note(stage, share):
        if stage == "merging classes":
            shares.append(share)

    monkeypatch.setattr(table_merge, "merge_pairs", merged)
    models = [{"name": "average-risk", "r": 0.1}]
    shoal.anonymize(people, Plan(columns=columns, models=models, algorithm="gaa"), progress=note)
    assert len(set(shares[: before_merging[0]])) > 2
    assert shares[-1] == 1.0
    assert shares == sorted(shares)
