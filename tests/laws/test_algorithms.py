"""Laws that hold for every algorithm of the catalog."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import catalog
from shoal.base.errors import CannotReach
from shoal.losses.ncp import NCP
from shoal.models.distinct_l_diversity import DistinctLDiversity
from shoal.models.k_anonymity import KAnonymity
from shoal.models.k_concealment import KConcealment
from shoal.table.equivalence_classes import tally
from shoal.table.match_graph import link
from shoal.table.recoding import SUPPRESSED, check_covers
from tests.strategies import examples, tables
from tests.table.test_match_graph import all_matches, as_published


@settings(max_examples=examples(60))
@pytest.mark.parametrize("name", catalog.algorithms.decided)
@given(table=tables(persons=True), k=st.integers(2, 4), seed=st.integers(0, 99))
def test_covers_satisfies_and_repeats(name, table, k, seed):
    algorithm = catalog.algorithms[name]()
    model = KAnonymity(k=k)
    if not algorithm.serves(model) or table.person_count < k:
        return
    runs = [algorithm.recode(table, [model], NCP(), np.random.default_rng(seed)) for _ in range(2)]
    check_covers(table, runs[0])
    published = runs[0].codes()
    kept = runs[0].record != SUPPRESSED
    assert kept.any()
    people = None if table.people is None else np.unique(table.people[kept], return_inverse=True)[1]
    assert model.check(tally(published[kept], people)).holds
    assert np.array_equal(published, runs[1].codes())
    if table.people is not None:
        for who in range(table.person_count):
            assert len({tuple(row) for row in published[table.people == who].tolist()}) == 1


FREE = [name for name, kind in catalog.algorithms.decided.items() if kind.free]


@settings(max_examples=examples(40))
@pytest.mark.parametrize("name", FREE)
@given(
    table=tables(persons=True, sensitive=True, free=True),
    k=st.integers(2, 3),
    secret=st.booleans(),
)
def test_free_values_cover_and_satisfy_the_models(name, table, k, secret):
    algorithm = catalog.algorithms[name]()
    models = [KAnonymity(k=k)] + [DistinctLDiversity(column="s", l=2)] * secret
    if not all(algorithm.serves(model) for model in models):
        return
    try:
        recoding = algorithm.recode(table, models, NCP(), np.random.default_rng(0))
    except CannotReach:
        return
    check_covers(table, recoding)
    rows = np.flatnonzero(recoding.record != SUPPRESSED)
    people = None if table.people is None else np.unique(table.people[rows], return_inverse=True)[1]
    sensitive = [column.take(rows) for column in table.sensitive]
    classes = tally(recoding.codes()[rows], people, sensitive)
    assert all(model.check(classes).holds for model in models)


@settings(max_examples=examples(25), deadline=None)
@pytest.mark.parametrize("name", catalog.algorithms.decided)
@given(table=tables(most_rows=7), k=st.integers(2, 4), seed=st.integers(0, 99))
def test_everybody_is_concealed(name, table, k, seed):
    """Every k-anonymous table is k-concealed; checked by trying all perfect matchings."""
    k = min(k, table.rows)
    algorithm = catalog.algorithms[name]()
    model = KAnonymity(k=k) if algorithm.serves(KAnonymity(k=k)) else KConcealment(k=k)
    recoding = algorithm.recode(table, [model], NCP(), np.random.default_rng(seed))
    if recoding.suppressed:
        return  # then there is no perfect matching of all
    published = recoding.codes()
    found, _ = all_matches(table, published.tolist())
    assert min(map(len, found)) >= k
    linkage = link(table, as_published(table, published))
    assert linkage.candidates.tolist() == [len(some) for some in found]


@pytest.mark.parametrize("kind", catalog.registries)
def test_everything_is_described(kind):
    for name, thing in catalog.registries[kind].items():
        assert thing.name == name
        assert thing.summary().endswith((".", "?"))
        module = thing.__module__.rsplit(".", 1)[1]
        word = name.replace("1-k", "one-k") if name[0] == "1" else name  # no digit begins a name
        assert module == word.replace("-", "_"), "a file is named as the thing in it"
