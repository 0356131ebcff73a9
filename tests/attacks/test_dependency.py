"""The attack dependency, against its naive twin."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.attacks import _evidence
from shoal.attacks._evidence import Known
from shoal.attacks._relations import Limits, learn
from shoal.attacks._unchanged import Cells
from shoal.attacks.dependency import Dependency
from tests.attacks.dependent_tables import random_case
from tests.naive import attack_dependency as naive


def compared(found, expected, case):
    """The findings of the attack by the names of the twin."""
    columns = {(name,): one["people_below"] for name, one in found["columns"].items()}
    pairs = {tuple(one["columns"]): one["people_below"] for one in found["pairs"]}
    assert columns == {(name,): expected.get((name,), 0) for name in case.unchanged}
    assert pairs == {key: n for key, n in expected.items() if len(key) == 2 and n}
    for key in ("people_below", "alone", "fewest_left"):
        assert found[key] == expected[key], key


# Pairs of values in a table of counts; sorted instead, in blocks of a few rows, and with each value
# judged by itself.
WAYS = {"table": {}, "sorted": {"DENSE": 0}, "blocks": {"DENSE": 0, "AT_A_TIME": 40, "FEW": 3}}


@pytest.mark.parametrize("original", [True, False])
@pytest.mark.parametrize(("seed", "way"), [(n, list(WAYS)[n % 3]) for n in range(60)])
def test_agrees_with_its_naive_twin(seed, way, original, monkeypatch):
    for name, value in WAYS[way].items():
        monkeypatch.setattr(_evidence, name, value)
    case = random_case(seed)
    k, rare, chance = 2 + seed % 4, [0.05, 0.3][seed % 2], [0.9, 0.2][seed // 2 % 2]
    found = Dependency(rare=rare, chance=chance).run(
        case.published, unchanged=case.read(k, original)
    )
    expected = naive.attack(
        case.records, case.unchanged, len(case.published.names), k, rare, chance, original
    )
    compared(found, expected, case)


def if_known(seed, k, rare, chance, persons, weights):
    """What the attack and its twin find if the dependency is known: people below k, and alone."""
    case = random_case(seed, persons=persons, weights=weights)
    found = Dependency(rare=rare, chance=chance).run(case.published, unchanged=case.read(k))
    expected = naive.attack_if_known(
        case.known, case.unchanged, len(case.published.names), k, rare, chance
    )
    columns = {(name,): one["people_below_if_known"] for name, one in found["columns"].items()}
    assert columns == {(name,): expected[name,] for name in case.unchanged}
    people = sum({one.person: one.weight for one in case.records}.values())
    assert found["people_below_if_known"] == expected["people_below"]
    assert found["percent_if_known"] == pytest.approx(100 * expected["people_below"] / people)
    assert found["alone_if_known"] == expected["alone"]
    assert found["fewest_left_if_known"] == expected["fewest_left"]
    return expected


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 100_000),
    k=st.integers(2, 5),
    rare=st.sampled_from([0.05, 0.3]),
    chance=st.sampled_from([0.01, 0.2, 0.9]),
    persons=st.booleans(),
    weights=st.booleans(),
)
def test_what_is_found_if_the_dependency_is_known_agrees_with_the_twin(
    seed, k, rare, chance, persons, weights
):
    if_known(seed, k, rare, chance, persons, weights)


@pytest.mark.parametrize("persons", [False, True], ids=["records", "people"])
@pytest.mark.parametrize("weights", [False, True], ids=["one each", "weighted"])
def test_somebody_is_found_if_the_dependency_is_known(persons, weights):
    """The comparison is about people who are found, also where only one is left."""
    some = [if_known(seed, 3, 0.05, 0.9, persons, weights) for seed in range(8)]
    assert sum(one["people_below"] > 0 for one in some) >= 2
    assert sum(one["alone"] for one in some) > 0


@pytest.mark.parametrize("rare", [0.05, 0.3, 0.6])
@pytest.mark.parametrize("once", [False, True], ids=["records", "classes"])
def test_independent_columns_rule_hardly_anything_out(once, rare):
    """In fewer tables than `chance` allows; a column that follows from another one is found."""
    rng, tables, chance = np.random.default_rng(1), 60, 0.1
    place = np.arange(900) // (3 if once else 1)
    wrong = 0
    for _ in range(tables):
        leaves = [int(n) for n in rng.integers(2, 30, 2)]
        leaf = [rng.integers(0, n, 900).astype(np.int32)[: place[-1] + 1] for n in leaves]
        codes = tuple(rng.integers(0, n, 900).astype(np.int32) for n in rng.integers(2, 30, 3))
        known = Known(place, leaf, leaves, None, once=once)
        wrong += bool(learn(Cells(None, codes, None), known, Limits(rare, chance)))
        follows = leaf[0][place]
        assert learn(Cells(None, (follows,), None), known, Limits(rare, chance))
    assert wrong <= chance * tables


def test_an_audit_says_that_it_does_not_know_who_is_misled():
    """The run that made the release knows, and may have found fewer people."""
    rows = [("AB"[a], str(x), "ab"[a]) for x in range(30) for a in (0, 1) for _ in range(5)]
    rows += [("*", "99", code) for code in "aaabbb"]
    roles = {"area": "quasi", "place": "quasi", "code": "sensitive"}
    table = pa.table({name: [row[i] for row in rows] for i, name in enumerate(roles)})
    plan = shoal.Plan(
        columns={name: {"role": role} for name, role in roles.items()},
        models=[{"name": "k-anonymity", "k": 5}],
    )
    audit = shoal.audit(table, plan)
    assert audit.exposure.attacks["dependency"]["people_below"] == 6
    assert any("an audit does not know whose record is whose" in note for note in audit.notes)
    fewer = plan.changed(columns={name: plan.columns[name] for name in ("area", "place")})
    assert not shoal.audit(table.drop(["code"]), fewer).notes
