"""Laws about the importance of columns: it weights every loss, and only its ratios matter."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import BadPlan, Plan, catalog
from shoal.losses import costs_of
from shoal.losses._alterations import alterations
from shoal.losses._integer_costs import exact_costs
from shoal.table.recoding import Recoding
from tests.naive.proofs import Meter
from tests.random_tables import random_loss, random_table, weighted

K = [{"name": "k-anonymity", "k": 4}]
AGES = {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20, 40]}}
CLASS_FORMING = [
    n for n, kind in catalog.algorithms.decided.items() if n not in ("concealment", "freeform")
]


def people(rows: int = 120) -> pa.Table:
    """Two columns of the same kind, so that nothing but importance tells them apart."""
    rng = np.random.default_rng(2)
    return pa.table({"a": rng.integers(0, 80, rows), "b": rng.integers(0, 80, rows)})


def plan(a: float = 1, b: float = 1, **more) -> Plan:
    columns = {"a": {**AGES, "importance": a}, "b": {**AGES, "importance": b}}
    return Plan(columns=columns, models=K, seed=1, **more)


@pytest.mark.parametrize("name", sorted(catalog.losses))
def test_every_loss_is_weighted(name):
    """Against the definitions, cell by cell, also of the means over metrics."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        table = weighted(random_table(rng), rng)
        loss, weights = random_loss(name, table, rng)
        up = [int(rng.integers(0, tree.height + 1)) for tree in table.trees]
        wide = table.codes.copy()
        for j, tree in enumerate(table.trees):
            for _ in range(up[j]):
                wide[:, j] = tree.parent[wide[:, j]]
        published = [tuple(map(int, row)) for row in wide]
        vectors = np.array(sorted(set(published)), np.int32)
        record = np.array([sorted(set(published)).index(row) for row in published])
        (found,) = alterations(table, Recoding(vectors, record), [loss])
        assert found == pytest.approx(Meter(table, name, weights).percent(published), abs=1e-7)


@pytest.mark.parametrize("name", sorted(set(catalog.losses) - {"weights"}))
def test_integer_costs_are_those_of_the_loss(name):
    """What algorithms compute with is proportional to what is reported."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        table = weighted(random_table(rng), rng)
        loss = catalog.losses[name]()
        real = np.concatenate(costs_of(loss, table.domains))
        whole = np.concatenate(exact_costs(loss, table.domains, table.rows, falling=True))
        if np.abs(real).max() > 0:
            scale = whole[np.abs(real).argmax()] / real[np.abs(real).argmax()]
            assert whole / scale == pytest.approx(real, abs=1e-6 * np.abs(real).max())


@pytest.mark.parametrize("algorithm", CLASS_FORMING)
def test_what_matters_loses_less(algorithm):
    if algorithm == "geneir":  # it draws the column to generalize at random
        return
    lost = {
        times: shoal.anonymize(people(), plan(a=times, algorithm=algorithm)).quality.columns
        for times in (1, 20)
    }
    assert lost[20]["a"] < lost[1]["a"]
    assert lost[20]["a"] < lost[20]["b"]


@pytest.mark.parametrize("algorithm", ["peel", "gaa", "mondrian", "full-domain"])
def test_only_the_ratios_matter(algorithm):
    """Importances that are all the same, or all three times as large, change nothing."""

    def release(a, b):
        made = shoal.anonymize(people(), plan(a, b, algorithm=algorithm))
        return made.frame.to_pydict(), made.losses, made.bound.percent

    assert release(7, 7) == release(1, 1)
    frame, losses, bound = release(2, 1)
    assert release(6, 3) == (frame, losses, bound)
    assert release(1e300, 0.5e300) == (frame, losses, bound)
    assert losses != release(1, 1)[1]


def test_the_weighted_loss_of_a_release_is_reported():
    release = shoal.anonymize(people(), plan(a=3, loss="ncp"))
    a, b = release.quality.columns["a"], release.quality.columns["b"]
    counts = release.explainer.table.domains
    most = [
        float(cost @ one.counts)
        for cost, one in zip(catalog.losses["ncp"]().costs(counts), counts, strict=True)
    ]
    weights = 3 * most[0], most[1]
    assert release.losses["ncp"] == pytest.approx(np.average([a, b], weights=weights))
    assert release.as_dict()["importance"] == {"a": 3, "b": 1}
    assert any("importance" in note and "'a' 3" in note for note in release.notes)
    assert not any("importance" in note for note in shoal.anonymize(people(), plan()).notes)
    audit = shoal.audit(release.frame, release.plan, original=people())
    assert audit.quality.losses == pytest.approx(release.losses)


def test_free_ranges_and_sets_are_weighted_too():
    free = {"role": "quasi", "hierarchy": {"free_ranges": True}}
    lost = {}
    for times in (1, 20):
        columns = {"a": {**free, "importance": times}, "b": free}
        release = shoal.anonymize(people(), Plan(columns=columns, models=K, seed=1))
        lost[times] = release.quality.columns
    assert lost[20]["a"] < lost[1]["a"]


def test_a_plan_with_importance_is_the_same_from_its_file(tmp_path):
    made = plan(a=3, b=0.5)
    made.save(tmp_path / "plan.toml")
    assert "importance = 3 }" in (tmp_path / "plan.toml").read_text()
    again = Plan.load(tmp_path / "plan.toml")
    assert again.to_toml() == made.to_toml()
    assert [one.importance for one in again.columns.values()] == [3, 0.5]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"role": "quasi", "importance": 0}, "column 'a' needs importance above 0 and finite"),
        ({"role": "quasi", "importance": -1}, "above 0"),
        ({"role": "quasi", "importance": float("inf")}, "finite"),
        ({"role": "quasi", "importance": float("nan")}, "importance"),
        ({"role": "quasi", "importance": "3"}, "importance='3'"),
        ({"role": "quasi", "importance": True}, "importance=True"),
        ({"role": "sensitive", "importance": 3}, "only with the role quasi, not sensitive"),
        ({"role": "other", "importance": 3}, "only with the role quasi, not other"),
    ],
)
def test_importance_that_makes_no_sense_is_refused(column, message):
    with pytest.raises(BadPlan, match=message):
        Plan(columns={"a": column, "b": "quasi"}, models=K)
