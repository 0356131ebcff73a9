"""The agglomerative algorithm, and models other than k-anonymity for all that cluster."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import catalog
from shoal.algorithms._shared import sensitive_merge as _diversify
from shoal.algorithms.agglomerative import Agglomerative
from shoal.base.errors import BadPlan, CannotReach
from shoal.hierarchies.base import Hierarchy
from shoal.losses._integer_costs import exact_costs
from shoal.losses.lm import LM
from shoal.losses.ncp import NCP
from shoal.models.k_anonymity import KAnonymity
from shoal.table.encode import Table
from tests.hierarchies.test_free import boxed
from tests.naive.clusters import agglomerative, diversify, free_table, larger_table
from tests.strategies import examples, tables

RNG = np.random.default_rng(0)
LOSSES = sorted(set(catalog.losses) - {"weights"})
CLUSTERING = ["agglomerative", "forest", "k-member", "kaca", "mdav", "sequential"]


def rows_of(recoding):
    return [tuple(row) for row in recoding.codes().tolist()]


@settings(max_examples=examples(150))
@given(
    table=tables(persons=True),
    k=st.integers(2, 6),
    weight=st.sampled_from(["size", "unit"]),
    loss=st.sampled_from(LOSSES),
)
def test_equals_the_plain_scan(table, k, weight, loss):
    guide = catalog.losses[loss]()
    if table.person_count < k:
        with pytest.raises(CannotReach) as error:
            Agglomerative(weight=weight).recode(table, [KAnonymity(k=k)], guide, RNG)
        assert error.value.best == table.person_count
        return
    got = Agglomerative(weight=weight).recode(table, [KAnonymity(k=k)], guide, RNG)
    costs = exact_costs(guide, table.domains, table.rows)
    assert rows_of(got) == agglomerative(table.codes, table.trees, costs, k, weight, table.people)


@pytest.mark.parametrize("seed", range(3))
def test_equals_the_plain_scan_on_larger_tables(seed):
    table = larger_table(seed, 45)
    costs = exact_costs(NCP(), table.domains, table.rows)
    got = Agglomerative().recode(table, [KAnonymity(k=3 + seed)], NCP(), RNG)
    assert rows_of(got) == agglomerative(
        table.codes, table.trees, costs, 3 + seed, "size", table.people
    )


def test_ties_where_climbing_is_free():
    """Nearly every pair costs nothing: the rule for ties alone decides."""
    for seed in range(250):
        table = free_table(seed)
        k, weight = 2 + seed % 3, ("size", "unit")[seed % 2]
        loss = catalog.losses[("llm", "ncp", "entropy")[seed % 3]]()
        costs = exact_costs(loss, table.domains, table.rows)
        expected = agglomerative(table.codes, table.trees, costs, k, weight)
        for one in (table, boxed(table)):
            got = Agglomerative(weight=weight).recode(one, [KAnonymity(k=k)], loss, RNG)
            assert rows_of(got) == expected


def test_the_rest_goes_to_the_nearest_one_by_one():
    """By hand: four a and four d are set aside; b and e, left as one cluster, part again."""
    tree = Hierarchy.from_tree({"*": {"A": ["a", "b", "c"], "D": ["d", "e", "f"]}}).tree()
    codes = np.array([[tree.node(v)] for v in "aaaaddddbe"], np.int32)
    table = Table(("q",), (tree,), codes, None, (True,))
    got = Agglomerative().recode(table, [KAnonymity(k=4)], LM(), RNG)
    assert "".join(tree.labels[v] for (v,) in rows_of(got)) == "AAAADDDDAD"


MODELS = {
    "frequency-l-diversity": {"l": 1.7},
    "entropy-l-diversity": {"l": 1.5},
    "distinct-l-diversity": {"l": 2},
    "t-closeness": {"t": 0.3},
    "delta-disclosure": {"delta": 1.0},
    "recursive-cl-diversity": {"c": 1.5, "l": 2},
    "alpha-k-anonymity": {"alpha": 0.6, "k": 3},
    "eir-l-diversity": {"l": 2},
    "eir-alpha-beta-anonymity": {"alpha": 0.7, "beta": 0.8},
}


@settings(max_examples=examples(100))
@given(
    table=tables(sensitive=True, persons=True),
    k=st.sampled_from([None, 2, 3]),
    names=st.lists(st.sampled_from(sorted(MODELS)), min_size=1, max_size=2, unique=True),
    w=st.sampled_from([0.0, 0.15, 0.5, 0.999, 1.0]),
    few=st.booleans(),
)
def test_algorithm_8_equals_the_plain_scan(table, k, names, w, few):
    others = [catalog.models[name](column="s", **MODELS[name]) for name in names]
    others = [
        model for model in others if table.people is not None or not model.needs_person_column
    ]
    models = [*others, *([KAnonymity(k=k)] if k else [])]
    costs = exact_costs(LM(), table.domains, table.rows)
    with pytest.MonkeyPatch.context() as patch:
        if few:  # so that small tables take all three ways to candidates
            patch.setattr(_diversify, "NEAR", (1, 2))
        try:
            got = Agglomerative(w=w).recode(table, models, LM(), RNG)
        except CannotReach:
            return
    start = agglomerative(table.codes, table.trees, costs, k or 1, "size", table.people)
    assert rows_of(got) == diversify(start, table, costs, others, w)


def test_algorithm_8_by_hand():
    """Four pairs of one disease each; a merge within a group is cheaper, one across is diverse."""
    groups = Hierarchy.from_tree({"*": {"A": ["a", "b"], "C": ["c", "d"]}})
    plan = {
        "columns": {"q": {"role": "quasi", "hierarchy": groups}, "s": "sensitive"},
        "models": [{"name": "k-anonymity", "k": 2},
                   {"name": "frequency-l-diversity", "column": "s", "l": 2}],
        "loss": "lm",
    }  # fmt: skip
    people = {"q": list("aabbccdd"), "s": ["flu"] * 4 + ["hiv"] * 4}
    wide = {"name": "agglomerative", "w": 0.15}  # diversity is expensive: flu meets hiv
    release = shoal.anonymize(pa.table(people), {**plan, "algorithm": wide}, keep_order=True)
    assert set(release.frame["q"].to_pylist()) == {"*"}
    people["s"] = ["flu", "flu", "hiv", "hiv"] * 2
    release = shoal.anonymize(pa.table(people), {**plan, "algorithm": wide}, keep_order=True)
    assert release.frame["q"].to_pylist() == ["A"] * 4 + ["C"] * 4


def every(columns, people, models, algorithm, **more):
    plan = {"columns": columns, "models": models, "algorithm": algorithm, "loss": "lm", **more}
    return shoal.anonymize(pa.table(people), plan)


@pytest.mark.parametrize("name", CLUSTERING)
def test_several_requirements_at_once(name):
    rng = np.random.default_rng(5)
    people = {
        "who": rng.integers(0, 250, 300).tolist(),
        "age": rng.integers(18, 80, 300).tolist(),
        "zip": [f"{v:04}" for v in rng.integers(0, 60, 300) * 7],
        "disease": rng.choice(["flu", "cold", "hiv", "none"], 300, p=[0.3, 0.3, 0.1, 0.3]).tolist(),
    }
    columns = {
        "who": "person",
        "age": {"role": "quasi", "hierarchy": Hierarchy.ranges([5, 10, 20])},
        "zip": {"role": "quasi", "hierarchy": Hierarchy.prefixes()},
        "disease": "sensitive",
    }
    models = [
        {"name": "k-anonymity", "k": 4},
        {"name": "frequency-l-diversity", "column": "disease", "l": 1.8},
        {"name": "t-closeness", "column": "disease", "t": 0.35},
        {"name": "delta-disclosure", "column": "disease", "delta": 1.5},
    ]
    releases = [every(columns, people, models, name, seed=3) for _ in range(2)]
    assert all(check.holds for check in releases[0].checks)
    assert len(releases[0].checks) == 4
    assert releases[0].frame.equals(releases[1].frame)
    alone = every(columns, people, models[:1], name, seed=3)
    assert alone.quality.losses["lm"] <= releases[0].quality.losses["lm"] < 100


@pytest.mark.parametrize("name", CLUSTERING)
def test_small_tables(name):
    algorithm = catalog.algorithms[name]()
    tree = Hierarchy.from_tree({"*": {"A": ["a", "b"], "C": ["c", "d"]}}).tree()

    def run(values, k=None):
        codes = np.array([[tree.node(v)] for v in values], np.int32)
        models = [] if k is None else [KAnonymity(k=k)]
        table = Table(("q",), (tree,), codes, None, (True,))
        got = algorithm.recode(table, models, LM(), np.random.default_rng(1))
        return "".join(tree.labels[v] for (v,) in rows_of(got))

    assert run("a") == "a"  # one row, no requirement
    assert run("abcd") == "abcd"
    assert run("aaaaaaa", 3) == "aaaaaaa"
    assert run("abcd", 4) == "****"  # k = n
    assert run("abaab", 5) == "AAAAA"
    with pytest.raises(CannotReach, match="the best k possible is 4"):
        run("abcd", 5)


@pytest.mark.parametrize("name", CLUSTERING)
def test_options_and_what_is_supported(name):
    kind = catalog.algorithms[name]
    with pytest.raises(BadPlan, match=f"{name} needs w from 0 to 1, got w=1.5"):
        kind(w=1.5)
    for model in catalog.models.values():
        assert kind().serves(model.model_construct()) is not model.linkage


def test_progress_is_reported():
    table = larger_table(1, 300)
    for name in CLUSTERING:
        reported = []
        catalog.algorithms[name]().recode(
            table,
            [KAnonymity(k=5)],
            LM(),
            np.random.default_rng(0),
            lambda *a, t=reported: t.append(a),
        )
        assert reported
        assert all(0 <= share <= 1 for _, share in reported)
