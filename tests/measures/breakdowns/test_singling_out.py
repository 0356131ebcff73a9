"""Columns that single people out: counted again on lists."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal import Plan
from shoal.measures.breakdowns import singling_out as module
from shoal.measures.breakdowns.singling_out import singling_out
from shoal.report.facts import facts

NAMES = ["age", "city", "job"]


def people(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "who": rng.integers(0, max(2, n // 2), n),
            "age": rng.integers(20, 60, n),
            "city": rng.choice(["a", "b", "c", "d"], n, p=[0.9, 0.06, 0.03, 0.01]),
            "job": rng.choice(["x", "y", None], n),
        }
    )


def original(table, role):
    columns = {"who": role, **dict.fromkeys(NAMES, "quasi")}
    plan = Plan(columns=columns, models=[{"name": "k-anonymity", "k": 2}], seed=1)
    release = shoal.anonymize(table, plan)
    return release, release.explainer.table


def naive(table, columns, person):
    """People with a record whose values no other person has."""
    rows = [
        (row["who"] if person else i, tuple(str(row[name]) for name in columns))
        for i, row in enumerate(table.to_dict("records"))
    ]
    owners = {}
    for who, values in rows:
        owners.setdefault(values, set()).add(who)
    return len({who for who, values in rows if len(owners[values]) == 1})


@pytest.mark.parametrize("person", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_it_counts_what_naive_code_counts(seed, person):
    table = people(60, seed)
    release, coded = original(table, "person" if person else "identifier")
    found = singling_out(coded)
    assert sorted(found.columns) == sorted(NAMES)
    for one in NAMES:
        assert found.by(one, one) == naive(table, [one], person)
    for one, other in combinations(NAMES, 2):
        assert found.by(one, other) == found.by(other, one) == naive(table, [one, other], person)
    assert found.together == naive(table, NAMES, person)
    assert found.people == (table["who"].nunique() if person else len(table))
    alone = [found.by(name, name) for name in found.columns]
    assert alone == sorted(alone, reverse=True)
    assert facts(release).singling_out == found


def test_a_row_that_stands_for_several_people_is_nobody(tmp_path):
    """The engine that groups records gives the same counts."""
    table = people(80, 9)
    table.drop(columns="who").to_csv(tmp_path / "people.csv", index=False)
    plan = Plan(
        columns=dict.fromkeys(NAMES, "quasi"), models=[{"name": "k-anonymity", "k": 2}], seed=1
    )
    memory = shoal.anonymize(tmp_path / "people.csv", plan)
    grouped = shoal.anonymize(tmp_path / "people.csv", plan.changed(engine="duckdb"))
    assert grouped.explainer.table.weight is not None
    assert singling_out(grouped.explainer.table) == singling_out(memory.explainer.table)


def test_a_large_or_wide_table_is_looked_at_in_part(monkeypatch):
    table = pd.DataFrame({f"q{i}": [(j * i) % (i + 2) for j in range(30)] for i in range(15)})
    plan = Plan(
        columns=dict.fromkeys(table.columns, "quasi"), models=[{"name": "k-anonymity", "k": 2}]
    )
    coded = shoal.anonymize(table, plan).explainer.table
    found = singling_out(coded)
    assert (len(found.columns), found.others) == (module.COLUMNS, 3)
    monkeypatch.setattr(module, "LARGE", 10)
    few = singling_out(coded)
    assert (len(few.columns), few.others) == (module.FEW, 10)
    assert few.together == found.together
