"""GeneIR: its guarantees and its steps."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Plan, catalog
from shoal.algorithms.geneir import GeneIR
from shoal.base.errors import CannotReach
from shoal.losses.lm import LM
from shoal.table.equivalence_classes import tally
from shoal.table.recoding import SUPPRESSED, check_covers
from tests.algorithms.test_danonyir import MODELS
from tests.strategies import examples, tables


@settings(deadline=None, max_examples=examples(100))
@given(tables(persons=True, sensitive=True), MODELS, st.integers(0, 99))
def test_every_class_satisfies_the_model(table, asked, seed):
    model = catalog.models.make(asked)
    people = np.arange(table.rows) if table.people is None else table.people
    table = type(table)(table.names, table.trees, table.codes, people, table.exact, table.sensitive)
    try:
        recoding = GeneIR().recode(table, [model], LM(), np.random.default_rng(seed))
    except CannotReach:
        whole = tally(np.zeros((table.rows, 1), np.int32), people, table.sensitive)
        assert not model.satisfied(whole).all()
        return
    check_covers(table, recoding)
    kept = recoding.record != SUPPRESSED
    who = np.unique(people[kept], return_inverse=True)[1]
    column = table.sensitive[0]
    inside = type(column)(column.name, column.codes[kept], column.values, column.hierarchy)
    classes = tally(recoding.codes()[kept], who, [inside])
    assert model.satisfied(classes).all()
    for p in range(table.person_count):
        assert len(set(recoding.record[people == p].tolist())) == 1


def test_a_class_that_is_sound_is_left_as_it_is():
    table = pa.table(
        {
            "who": list(range(9)),
            "age": ["31"] * 3 + ["45"] * 3 + ["52", "53", "61"],
            "disease": ["flu", "cold", "gout"] * 3,
        }
    )
    plan = Plan(
        columns={
            "who": "person",
            "age": {"role": "quasi", "hierarchy": {"ranges": [10, 20]}},
            "disease": "sensitive",
        },
        models=[{"name": "ir-kl-anonymity", "column": "disease", "k": 3, "l": 3}],
        algorithm="geneir",
    )
    ages = shoal.anonymize(table, plan).frame["age"].to_pylist()
    assert ages.count("31") == 3
    assert ages.count("45") == 3
    assert ages.count("*") == 3


def test_danonyir_loses_less():
    rng = np.random.default_rng(1)
    n = 2000
    who = rng.integers(0, 700, n)
    table = pa.table(
        {
            "who": who,
            "age": rng.integers(20, 80, 700)[who],
            "sex": rng.choice(["f", "m"], 700)[who],
            "zip": rng.choice([f"{z:03d}" for z in range(60)], 700)[who],
            "disease": rng.choice(list("abcdefgh"), n),
        }
    )
    lost = {}
    for name in ("danonyir", "geneir"):
        plan = Plan(
            columns={
                "who": "person",
                "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20]}},
                "sex": "quasi",
                "zip": {"role": "quasi", "hierarchy": {"prefixes": True}},
                "disease": "sensitive",
            },
            models=[{"name": "eir-l-diversity", "column": "disease", "l": 4}],
            algorithm=name,
            loss="lm",
            seed=1,
        )
        lost[name] = shoal.anonymize(table, plan).losses["lm"]
    assert lost["danonyir"] < lost["geneir"]


def test_what_it_does_not_serve():
    with pytest.raises(shoal.BadPlan, match="geneir does not support t-closeness"):
        Plan(
            columns={"a": "quasi", "s": "sensitive"},
            models=[{"name": "t-closeness", "column": "s", "t": 0.2}],
            algorithm="geneir",
        ).check_served()
