"""Laws about the order of records: it does not change what is published."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import Plan
from shoal.algorithms._shared.parts import cuts
from tests.seeded_releases import K, cases, table

T = {"name": "t-closeness", "column": "diagnosis", "t": 0.7}
EVERY = {name: settings for name, form, settings in cases() if form == "csv"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if place % 7 else [])
        for place, name in enumerate(EVERY)
    ],
)
def test_the_order_of_the_records_does_not_change_the_release(name: str) -> None:
    data, plan = table(), Plan(seed=7, **EVERY[name])
    shuffled = data.take(pa.array(np.random.default_rng(3).permutation(data.num_rows)))
    assert _published(shuffled, plan) == _published(data, plan)


@pytest.mark.parametrize("algorithm", ["peel", "gaa", "mondrian", "mdav", "k-member"])
@pytest.mark.parametrize(
    "models",
    [pytest.param([K], id="k", marks=pytest.mark.slow), pytest.param([K, T], id="k and t")],
)
def test_nor_if_the_table_is_cut(
    monkeypatch: pytest.MonkeyPatch, algorithm: str, models: list
) -> None:
    monkeypatch.setattr(cuts, "FEWEST", 2)
    monkeypatch.setattr(cuts, "SAMPLE", 150)
    asked = {**EVERY["peel, rows"], "algorithm": algorithm, "models": models}
    data, plan = table(), Plan(seed=7, parts=5, **asked)
    shuffled = data.take(pa.array(np.random.default_rng(3).permutation(data.num_rows)))
    assert shoal.anonymize(data, plan).parts > 1
    assert _published(shuffled, plan) == _published(data, plan)


@pytest.mark.parametrize("algorithm", ["k-member", "mdav", "sequential"])
@pytest.mark.parametrize("role", ["other", "sensitive"])
def test_words_for_missing_are_told_apart(algorithm: str, role: str) -> None:
    rng = np.random.default_rng(5)
    data = pa.table(
        {
            "age": rng.choice([20, 30, 40], 24),
            "sex": rng.choice(["f", "m"], 24),
            "note": rng.choice(["NA", "?"], 24),
        }
    )
    ages = {"role": "quasi", "hierarchy": {"ranges": [10, 20]}}
    plan = Plan(
        columns={"age": ages, "sex": "quasi", "note": role},
        models=[{"name": "k-anonymity", "k": 5}],
        algorithm=algorithm,
        missing_values=["NA", "?"],
        seed=3,
    )
    orders = [np.random.default_rng(one).permutation(24) for one in range(4)]
    assert len({repr(_published(data.take(pa.array(order)), plan)) for order in orders}) == 1


@pytest.mark.parametrize("algorithm", ["peel", "gaa", "full-domain", "k-member", "geneir"])
def test_nor_do_people_with_the_same_records(algorithm: str) -> None:
    """They are told apart by columns that are published unchanged, and by nothing else."""
    rng = np.random.default_rng(8)
    who = np.repeat(np.arange(40), rng.choice([1, 2, 3], 40))
    data = pa.table(
        {
            "who": who,
            "age": rng.choice([20, 30, 40], len(who)),
            "sex": rng.choice(["f", "m"], len(who)),
            "note": rng.choice(["x", "y", "z"], len(who)),
        }
    )
    ages = {"role": "quasi", "hierarchy": {"ranges": [20, 40]}}
    plan = Plan(
        columns={"who": "person", "age": ages, "sex": "quasi", "note": "other"},
        models=[{"name": "ir-k-anonymity", "k": 5}],
        algorithm=algorithm,
        seed=3,
    )
    orders = [np.random.default_rng(one).permutation(len(who)) for one in range(4)]
    assert len({repr(_published(data.take(pa.array(order)), plan)) for order in orders}) == 1


def _published(data: pa.Table, plan: Plan) -> object:
    """The published records, sorted; those of a person together, without the person's number."""
    try:
        rows = shoal.anonymize(data, plan).frame.to_pylist()
    except shoal.BrokenPromise as error:
        return type(error)
    person = next((name for name, one in plan.columns.items() if one.role == "person"), None)
    groups: dict[object, list[str]] = {}
    for i, row in enumerate(rows):
        key = i if person is None else row.pop(person)
        groups.setdefault(key, []).append(repr(sorted(row.items(), key=lambda pair: pair[0])))
    return sorted(sorted(group) for group in groups.values())
