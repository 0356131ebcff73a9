"""Peeling: the bounded search takes the cells that a look at all of them would."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import catalog
from shoal.algorithms.peel import Peel, Task
from shoal.classes import tally
from shoal.errors import CannotReach
from shoal.exact import exact_costs
from shoal.losses.ncp import NCP
from shoal.losses.nllm import NLLM
from shoal.models.distinct_l_diversity import DistinctLDiversity
from shoal.models.k_anonymity import KAnonymity
from shoal.models.t_closeness import TCloseness
from shoal.progress import silent
from shoal.recoding import check_covers
from tests.naive.peel import peel
from tests.strategies import tables

RNG = np.random.default_rng(0)


def recode(table, k, loss=None, **options):
    return Peel(**options).recode(table, [KAnonymity(k=k)], loss or NLLM(), RNG)


@settings(max_examples=150)
@given(
    table=tables(persons=True, most_rows=12, most_columns=3),
    k=st.integers(2, 5),
    loss=st.sampled_from(sorted(set(catalog.losses) - {"weights"})),
)
def test_equals_a_look_at_all_cells(table, k, loss):
    guide = catalog.losses[loss]()
    if table.crowd < k:
        with pytest.raises(CannotReach):
            recode(table, k, guide)
        return
    costs = exact_costs(guide, table.domains, table.rows)
    order = Task(table, k, (), costs, silent).order.tolist()
    expected = peel(table.codes, table.trees, costs, k, order, table.people)
    got = recode(table, k, guide).codes()
    assert [tuple(row) for row in got.tolist()] == expected


@settings(max_examples=60)
@given(
    table=tables(persons=True, sensitive=True),
    k=st.integers(2, 4),
    t=st.sampled_from([0.2, 0.4]),
)
def test_keeps_other_promises(table, k, t):
    models = [KAnonymity(k=k), TCloseness(column="s", t=t), DistinctLDiversity(column="s", l=2)]
    try:
        recoding = Peel().recode(table, models, NCP(), RNG)
    except CannotReach:
        return
    check_covers(table, recoding)
    classes = tally(recoding.codes(), table.people, table.sensitive)
    assert all(model.check(classes).holds for model in models)
