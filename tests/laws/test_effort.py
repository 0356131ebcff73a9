"""High effort never loses more than normal effort, whatever is required besides the class size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.algorithms._shared.key_sets import recode_for
from shoal.algorithms._shared.peeling import exhaustive, recreate
from shoal.algorithms.peel import Peel
from shoal.base.errors import CannotReach
from shoal.losses._alterations import alterations
from shoal.losses.lm import LM
from shoal.losses.nllm import NLLM
from shoal.models.average_risk import AverageRisk
from shoal.models.delta_presence import DeltaPresence
from shoal.models.k_anonymity import KAnonymity
from shoal.models.k_map import KMap
from shoal.models.strict_average_risk import StrictAverageRisk
from shoal.table.recoding import NOT_USED, check_covers
from tests.random_tables import random_table
from tests.strategies import examples, sampled, tables

OF_TABLE = [AverageRisk(r=0.3), AverageRisk(r=0.1), StrictAverageRisk(r=0.2, k=2)]
OF_POPULATION = [KMap(k=4), DeltaPresence(high=0.6), DeltaPresence(high=0.8, low=0.1)]


@pytest.fixture(autouse=True)
def few_attempts(monkeypatch):
    monkeypatch.setattr(recreate, "LOOKS", 3_000)
    monkeypatch.setattr(recreate, "MORE_LOOKS", 0)
    monkeypatch.setattr(exhaustive, "FEW", 3)


def lost(table, models, loss, known, effort):
    """What a release loses, and its notes; None if there is none."""
    try:
        made = recode_for(
            Peel(effort=effort), table, models, loss, np.random.default_rng(1), known=known
        )
    except CannotReach:
        return None, ()
    check_covers(table, made)
    return alterations(table, made, [loss])[0], made.notes


def check(table, models, loss, known=()):
    (normal, _), (high, notes) = (
        lost(table, models, loss, known, effort) for effort in ("normal", "high")
    )
    assert (normal is None) == (high is None)
    if normal is not None:
        assert high <= normal + 1e-7
    return any(NOT_USED in note for note in notes)


def test_with_models_of_the_whole_table_and_several_attackers():
    unused = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        table = random_table(rng, most_rows=40, most_columns=3, least_rows=10)
        k, loss = KAnonymity(k=int(rng.integers(2, 4))), (NLLM(), LM())[seed % 2]
        unused += check(table, [k, OF_TABLE[seed % len(OF_TABLE)]], loss)
        if len(table.names) == 3:
            unused += check(table, [k], loss, [table.names[:2], table.names[1:]])
    assert unused > 0  # there are tables on which better classes lose more in the end


@settings(
    max_examples=examples(60), deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(
    table=sampled(tables(most_rows=12)), asked=st.sampled_from(OF_POPULATION), k=st.integers(2, 3)
)
def test_with_a_table_of_the_population(table, asked, k):
    check(table, [KAnonymity(k=k), asked], NLLM())
