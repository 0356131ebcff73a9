"""Laws of parts: a table that is cut satisfies every model, and its order does not matter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import catalog
from shoal.algorithms._shared.parts import cuts
from shoal.algorithms._shared.parts.cuts import Parting
from shoal.algorithms._shared.recode import recode
from shoal.base.errors import CannotReach
from shoal.losses.ncp import NCP
from shoal.models.alpha_k_anonymity import AlphaKAnonymity
from shoal.models.average_risk import AverageRisk
from shoal.models.beta_likeness import BetaLikeness
from shoal.models.delta_disclosure import DeltaDisclosure
from shoal.models.distinct_l_diversity import DistinctLDiversity
from shoal.models.entropy_l_diversity import EntropyLDiversity
from shoal.models.k_anonymity import KAnonymity
from shoal.models.t_closeness import TCloseness
from shoal.table.recoding import SUPPRESSED, check_covers
from tests.laws.test_table_models import classes_of, whole
from tests.strategies import examples, tables

WORKING = [
    name
    for name, kind in catalog.algorithms.decided.items()
    if kind.works_in_parts and kind().serves(KAnonymity(k=2))
]
MODELS = [
    [KAnonymity(k=2)],
    [KAnonymity(k=4)],
    [KAnonymity(k=2), DistinctLDiversity(column="s", l=2)],
    [EntropyLDiversity(column="s", l=1.5)],
    [TCloseness(column="s", t=0.3)],
    [KAnonymity(k=2), BetaLikeness(column="s", beta=1.0)],
    [DeltaDisclosure(column="s", delta=3.0)],
    [AlphaKAnonymity(column="s", alpha=0.6, k=2)],
    [KAnonymity(k=2), AverageRisk(r=0.3)],
]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Parts of small tables have enough people, too."""
    monkeypatch.setattr(cuts, "FEWEST", 1)


def recoded(name, table, models, parting, seed=3):
    rng = np.random.default_rng(seed)
    return recode(catalog.algorithms[name](), table, models, NCP(), rng, parting=parting)


PARTINGS = st.one_of(
    st.integers(2, 30).map(Parting), st.integers(1, 12).map(lambda limit: Parting(limit=limit))
)


@settings(max_examples=examples(60), deadline=None)
@pytest.mark.parametrize("name", WORKING)
@given(
    table=tables(sensitive=True, most_rows=24, least_rows=6),
    models=st.sampled_from(MODELS),
    parting=PARTINGS,
)
def test_every_requirement_is_satisfied(name, table, models, parting):
    algorithm = catalog.algorithms[name]()
    models = [model for model in models if algorithm.serves(model)]
    possible = all(model.check(whole(table)).holds for model in models)
    try:
        found = recoded(name, table, models, parting)
    except CannotReach:
        assert not possible
        return
    assert possible
    check_covers(table, found)
    assert (found.record != SUPPRESSED).all()
    assert len(np.unique(found.vectors, axis=0)) == len(found.vectors)
    assert all(model.check(classes_of(table, found)).holds for model in models)
    assert np.array_equal(found.codes(), recoded(name, table, models, parting).codes())


@settings(max_examples=examples(40), deadline=None)
@pytest.mark.parametrize("name", [name for name in WORKING if catalog.algorithms[name].free])
@given(
    table=tables(sensitive=True, most_rows=24, least_rows=6, free=True),
    models=st.sampled_from(MODELS[:5]),
    parting=PARTINGS,
)
def test_free_values_are_cut_too(name, table, models, parting):
    algorithm = catalog.algorithms[name]()
    models = [model for model in models if algorithm.serves(model)]
    try:
        found = recoded(name, table, models, parting)
    except CannotReach:
        return
    check_covers(table, found)
    assert all(model.check(classes_of(table, found)).holds for model in models)


@settings(max_examples=examples(40), deadline=None)
@pytest.mark.parametrize("name", ["peel", "gaa", "mondrian", "mdav"])
@given(
    table=tables(sensitive=True, most_rows=24, least_rows=6),
    models=st.sampled_from(MODELS),
    parting=PARTINGS,
    seed=st.integers(0, 99),
)
def test_the_order_of_the_records_does_not_matter(name, table, models, parting, seed):
    order = np.random.default_rng(seed).permutation(table.rows)
    try:
        found = recoded(name, table, models, parting)
    except CannotReach:
        return
    again = recoded(name, table.take(order), models, parting)
    assert again.parts == found.parts
    assert sorted(again.codes().tolist()) == sorted(found.codes()[order].tolist())


def test_small_tables_are_cut():
    """Otherwise these laws say nothing."""
    found = []

    @settings(max_examples=40, deadline=None, database=None, derandomize=True)
    @given(table=tables(most_rows=24, least_rows=6), parting=PARTINGS)
    def cut(table, parting):
        found.append(recoded("peel", table, [KAnonymity(k=2)], parting).parts)

    cut()
    assert sum(parts > 1 for parts in found) > len(found) / 4
    assert max(found) > 3


@settings(max_examples=examples(60), deadline=None)
@given(table=tables(most_rows=24, least_rows=6), k=st.integers(2, 4))
def test_a_table_that_fits_is_not_cut(table, k):
    if table.rows < k:
        return
    alone = recode(
        catalog.algorithms["peel"](), table, [KAnonymity(k=k)], NCP(), np.random.default_rng(3)
    )
    for parting in (Parting(limit=table.rows), Parting(memory=10**9)):
        found = recoded("peel", table, [KAnonymity(k=k)], parting)
        assert found.parts == 1
        assert np.array_equal(found.codes(), alone.codes())
