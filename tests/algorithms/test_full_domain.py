"""Full-domain: the pruned search finds what trying every node finds, to the tie."""

from __future__ import annotations

import re
from itertools import product
from math import floor

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from benchmarks.peel import adult
from benchmarks.tables import encoded
from shoal import Plan, anonymize, catalog
from shoal.algorithms import full_domain as module
from shoal.algorithms._shared.levels.goals import Found
from shoal.algorithms._shared.levels.judge import Judge
from shoal.algorithms.full_domain import FullDomain, LatticeSearch
from shoal.base.errors import BadPlan, CannotReach
from shoal.base.progress import silent
from shoal.hierarchies.base import Hierarchy
from shoal.kernels.group import group_rows
from shoal.losses._integer_costs import exact_costs
from shoal.losses.nllm import NLLM
from shoal.models.k_anonymity import KAnonymity
from shoal.table.encode import Table
from shoal.table.recoding import SUPPRESSED
from tests.naive.full_domain import full_domain
from tests.random_tables import random_table
from tests.strategies import examples, tables

RNG = np.random.default_rng(0)
MODELS = {
    "distinct-l-diversity": {"l": 2},
    "entropy-l-diversity": {"l": 1.5},
    "frequency-l-diversity": {"l": 1.7},
    "t-closeness": {"t": 0.3},
    "delta-disclosure": {"delta": 1.0},
    "alpha-k-anonymity": {"alpha": 0.6, "k": 2},
    "eir-l-diversity": {"l": 2},
}


def rows_of(recoding):
    codes = recoding.codes().tolist()
    return [
        None if r == SUPPRESSED else tuple(c) for c, r in zip(codes, recoding.record, strict=True)
    ]


def compare(table, models, loss, suppression, objective="loss"):
    costs = exact_costs(loss, table.domains, table.rows, falling=True)
    expected, nodes = full_domain(table, models, costs, suppression, objective)
    algorithm = FullDomain(suppression=suppression, objective=objective)
    if expected is None:
        with pytest.raises(CannotReach):
            algorithm.recode(table, models, loss, RNG)
        return
    got = algorithm.recode(table, models, loss, RNG)
    assert rows_of(got) == expected
    assert f"of all {nodes:,} combinations" in got.notes[0]


@settings(max_examples=examples(120))
@given(
    table=tables(persons=True, most_columns=3),
    k=st.integers(2, 5),
    suppression=st.sampled_from([0.0, 0.1, 0.3, 0.6, 1.0]),
    loss=st.sampled_from(sorted(set(catalog.losses) - {"weights"})),
)
def test_equals_trying_every_node(table, k, suppression, loss):
    compare(table, [KAnonymity(k=k)], catalog.losses[loss](), suppression)


@settings(max_examples=examples(150))
@given(
    table=tables(persons=True, sensitive=True, most_columns=2),
    k=st.sampled_from([None, 2, 3]),
    suppression=st.sampled_from([0.0, 0.1, 0.3, 0.6]),
    names=st.lists(st.sampled_from(sorted(MODELS)), min_size=1, max_size=2, unique=True),
    distance=st.sampled_from(["equal", "hierarchical"]),
    loss=st.sampled_from(["ncp", "entropy"]),
    objective=st.sampled_from(["loss", "loss", "discernibility", "average-class-size"]),
)
def test_equals_trying_every_node_with_secrets(
    table, k, suppression, names, distance, loss, objective
):
    options = {**MODELS, "t-closeness": {"t": 0.3, "distance": distance}}
    models = [catalog.models[name](column="s", **options[name]) for name in names]
    models = [m for m in models if table.people is not None or not m.needs_person_column]
    models += [KAnonymity(k=k)] if k else []
    compare(table, models, catalog.losses[loss](), suppression, objective)


def animals():
    tree = Hierarchy.from_tree({"*": {"Felid": ["Cat", "Lion"], "Dog": None}}).tree()
    sex = Hierarchy.flat().tree("FM")
    return tree, sex


def test_levels_of_an_unbalanced_tree():
    """By hand: at level 1 Cat and Lion are Felid, and Dog, which has nothing between, is the root;
    a Felid of the original stays what it is."""
    tree, sex = animals()
    rows = [("Cat", "F"), ("Lion", "F"), ("Felid", "F"), ("Dog", "M"), ("Dog", "M")]
    codes = np.array([[tree.node(a), sex.node(s)] for a, s in rows], np.int32)
    table = Table(("animal", "sex"), (tree, sex), codes, None, (True, True))
    got = FullDomain().recode(table, [KAnonymity(k=2)], NLLM(), RNG)
    assert [tree.labels[v] for v, _ in rows_of(got)] == ["Felid"] * 3 + ["*"] * 2
    assert [sex.labels[v] for _, v in rows_of(got)] == ["F"] * 3 + ["M"] * 2
    assert got.notes[0].endswith("the levels are animal 1 of 2, sex 0 of 1")


def test_issue_12_item_1_a_record_that_keeps_less_than_nothing_may_be_suppressed():
    """By hand: A has 1 bit, the root 0.92, so that A keeps -0.08; without x and y more is kept."""
    tree = Hierarchy.from_tree({"*": {"A": ["x", "y"], "B": ["z"]}}).tree()
    codes = np.array([[tree.node(v)] for v in "xyzzzzzzzz"], np.int32)
    table = Table(("q",), (tree,), codes, None, (True,))
    judge = Judge(table, [KAnonymity(k=3)], catalog.losses["entropy"](), 2)
    limits = judge.goal.limits(judge.levels, judge.shape, 2)
    worth = judge(np.array([1])).worth
    z = judge(np.array([0])).worth // 8  # of those only z is published
    assert 0 < worth == 8 * z <= limits[1]
    assert judge.goal.limits(judge.levels, judge.shape, 0)[1] < worth
    assert (
        judge.goal.hope(Found(np.array([2]), np.array([2]), np.array([-5])), np.array([True])) == 0
    )


def test_what_is_suppressed():
    """By hand: one row in five is unique; if it may be suppressed, nothing is generalized."""
    tree, sex = animals()
    rows = [("Cat", "F"), ("Cat", "F"), ("Dog", "M"), ("Dog", "M"), ("Lion", "F")]
    codes = np.array([[tree.node(a), sex.node(s)] for a, s in rows], np.int32)
    table = Table(("animal", "sex"), (tree, sex), codes, None, (True, True))
    got = FullDomain(suppression=0.2).recode(table, [KAnonymity(k=2)], NLLM(), RNG)
    assert got.record.tolist() == [0, 0, 1, 1, SUPPRESSED]
    assert (
        FullDomain(suppression=0.19).recode(table, [KAnonymity(k=2)], NLLM(), RNG).suppressed == 0
    )
    # The unique person has two rows: both are suppressed, or none.
    table = Table(
        ("animal", "sex"), (tree, sex), codes[[0, 1, 0, 1, 2, 3, 2, 3, 4, 4]],
        np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 8]), (True, True),
    )  # fmt: skip
    got = FullDomain(suppression=0.19).recode(table, [KAnonymity(k=2)], NLLM(), RNG)
    assert got.suppressed == 0
    got = FullDomain(suppression=0.2).recode(table, [KAnonymity(k=2)], NLLM(), RNG)
    assert got.record.tolist() == [0] * 4 + [1] * 4 + [SUPPRESSED] * 2


@pytest.mark.parametrize("distance", ["equal", "ordered"])
@pytest.mark.parametrize("seed", range(4))
def test_the_published_table_is_what_is_judged(distance, seed):
    """Suppressed rows change the distribution of the table, and so the ranks."""
    rng = np.random.default_rng(seed)
    people = {
        "who": rng.integers(0, 100, 120).tolist(),
        "age": rng.integers(20, 50, 120).tolist(),
        "zip": [f"{v:02}" for v in rng.integers(0, 30, 120)],
        "pay": rng.choice([1, 2, 3, 50], 120, p=[0.4, 0.4, 0.15, 0.05]).tolist(),
    }
    plan = {
        "columns": {
            "who": "person" if seed % 2 else "identifier",
            "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10]}},
            "zip": {"role": "quasi", "hierarchy": {"prefixes": True}},
            "pay": "sensitive",
        },
        "models": [{"name": "k-anonymity", "k": 3},
                   {"name": "t-closeness", "column": "pay", "t": 0.25, "distance": distance}],
        "algorithm": {"name": "full-domain", "suppression": 0.4},
    }  # fmt: skip
    release = shoal.anonymize(pa.table(people), plan)
    assert release.suppressed <= 48
    assert all(check.holds for check in release.checks)
    assert any("proven by looking" in note for note in release.notes)


def test_what_cannot_be_reached_or_searched(monkeypatch):
    tree, sex = animals()
    codes = np.array([[tree.node("Cat"), sex.node("F")]] * 3, np.int32)
    table = Table(("animal", "sex"), (tree, sex), codes, None, (True, True))
    with pytest.raises(CannotReach, match="the best k possible is 3"):
        FullDomain(suppression=0.5).recode(table, [KAnonymity(k=4)], NLLM(), RNG)
    with pytest.raises(BadPlan, match="full-domain needs suppression from 0 to 1"):
        FullDomain(suppression=1.5)
    monkeypatch.setattr(module, "LARGEST", 5)
    with pytest.raises(BadPlan, match="the lattice has 6 nodes"):
        FullDomain().recode(table, [KAnonymity(k=2)], NLLM(), RNG)


def test_adult_within_few_nodes():
    """A fiftieth of the lattice is checked."""
    table = encoded()
    search = LatticeSearch(Judge(table, [KAnonymity(k=5)], NLLM(), floor(0.05 * table.rows)))
    search.descend(silent)
    search.prove(silent)
    assert search.nodes == 12_960
    assert search.checked < 400
    assert round(100 - 100 * search.worth / search.most.flat[0], 2) == 28.10


@pytest.mark.slow
@pytest.mark.parametrize(("k", "suppression"), [(5, 0.05), (2, 0.02), (10, 0.0)])
def test_adult_by_trying_every_node(k, suppression):
    """All 12,960 nodes, grouped by another kernel."""
    table = encoded()
    costs = exact_costs(NLLM(), table.domains, table.rows)
    limit = floor(suppression * table.rows + 1e-9)
    _, first, size = group_rows(table.codes)
    tuples = table.codes[first]
    columns = []  # per column and level the value of every tuple
    for j, tree in enumerate(table.trees):
        values, kept = tuples[:, j].copy(), []
        for level in range(tree.height):
            while (low := tree.level[values] < level).any():
                values[low] = tree.parent[values[low]]
            kept.append(values.copy())
        columns.append(kept)
    best = -1
    for levels in product(*(range(tree.height) for tree in table.trees)):
        codes = np.stack([columns[j][at] for j, at in enumerate(levels)], axis=1)
        label, one, _ = group_rows(np.ascontiguousarray(codes))
        rows = np.bincount(label, size).astype(np.int64)
        good = rows >= k
        if rows[~good].sum() > limit:
            continue
        worth = sum(cost[codes[one, j]] for j, cost in enumerate(costs))
        best = max(best, int((worth * rows)[good].sum()))
    got = FullDomain(suppression=suppression).recode(table, [KAnonymity(k=k)], NLLM(), RNG)
    kept = got.codes()[got.record != SUPPRESSED]
    assert sum(int(cost[kept[:, j]].sum()) for j, cost in enumerate(costs)) == best
    assert got.suppressed <= limit


def test_the_model_that_cannot_be_satisfied_is_the_one_that_is_named():
    """The first one would hold, the second does not at any levels."""
    rows = pa.table({"age": [21, 22, 31, 32] * 3, "s": ["a"] * 11 + ["b"]})
    columns = {"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}, "s": "sensitive"}
    models = [
        {"name": "t-closeness", "column": "s", "t": 0.9},
        {"name": "entropy-l-diversity", "column": "s", "l": 2},
    ]
    algorithm = {"name": "full-domain", "suppression": 0.2}
    with pytest.raises(CannotReach, match=r"^entropy-l-diversity\[s\] with 2") as error:
        shoal.anonymize(rows, shoal.Plan(columns=columns, models=models, algorithm=algorithm))
    assert error.value.model == "entropy-l-diversity[s]"


@pytest.mark.parametrize("objective", ["loss", "discernibility", "average-class-size"])
@pytest.mark.parametrize("person", ["identifier", "person"])
def test_issue_12_item_2_the_objective_is_facts_as_it_was_searched(objective, person):
    """The JSON measures the published table, the note says what the search found."""
    rng = np.random.default_rng(7)
    people = {
        "who": rng.integers(0, 60, 80).tolist(),
        "age": rng.integers(20, 50, 80).tolist(),
        "zip": [f"{v:02}" for v in rng.integers(0, 30, 80)],
    }
    plan = {
        "columns": {
            "who": person,
            "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10]}},
            "zip": {"role": "quasi", "hierarchy": {"prefixes": True}},
        },
        "models": [{"name": "k-anonymity", "k": 3}],
        "algorithm": {"name": "full-domain", "suppression": 0.2, "objective": objective},
        "loss": "entropy",
    }
    release = shoal.anonymize(pa.table(people), plan)
    assert release.suppressed > 0 or objective == "discernibility"
    facts = release.as_dict()
    assert facts["objective"]["name"] == objective
    note = next(note for note in release.notes if "combinations" in note)
    written = float(re.search(r"objective .* is ([\d,.]+)", note)[1].replace(",", ""))
    assert facts["objective"]["value"] == pytest.approx(written, rel=5.1e-6)
    assert f"objective {objective}" in facts["suppressed_records_count_as"]
    if objective == "average-class-size":
        assert written == pytest.approx(80 / (release.classes + 1) / 3, rel=5.1e-6)
    elif objective == "discernibility":
        assert written == release.discernibility
    else:
        assert facts["objective"]["value"] == release.losses["entropy"]


def test_issue_12_item_2_an_unknown_objective_is_refused():
    with pytest.raises(BadPlan, match="discernibility"):
        FullDomain(objective="discernability")


def test_issue_12_item_1_adult_by_entropy(shared):
    """The case of the issue: hierarchies of ARX, k = 5, nothing suppressed; it was 84.248 %."""
    assert shared.is_dir()
    table = adult()
    search = LatticeSearch(Judge(table, [KAnonymity(k=5)], catalog.losses["entropy"](), 0))
    search.descend(silent)
    search.prove(silent)
    assert search.nodes == 12_960
    assert search.checked < 400
    assert "72.9474 %" in search.recoding().notes[0]


@pytest.mark.parametrize("objective", ["loss", "discernibility", "average-class-size"])
def test_issue_12_item_1_no_node_is_worth_more_than_its_bounds(objective):
    """Every node: by what is known before the search, and by a look at any node above or below."""
    tight = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        table = random_table(rng, least_rows=6, most_rows=20)
        models, limit = [KAnonymity(k=int(rng.integers(2, 4)))], int(rng.integers(0, 7))
        judge = Judge(table, models, catalog.losses["entropy"](), limit, objective)
        limits = judge.goal.limits(judge.levels, judge.shape, limit)
        found = {at: judge(np.array(at)) for at in product(*map(range, judge.shape))}
        reached = {at: one.worth for at, one in found.items() if one.worth is not None}
        for at, worth in reached.items():
            assert worth <= limits[at]
            tight += worth == limits[at]
            for other, verdict in found.items():
                if all(a >= b for a, b in zip(at, other, strict=True)):
                    assert verdict.above is None or worth <= verdict.above
                if all(a <= b for a, b in zip(at, other, strict=True)):
                    assert not verdict.dead
                    assert verdict.below is None or worth <= verdict.below
    assert tight > 0


def test_item_1_the_note_says_for_which_rule_of_suppression_it_is_proven():
    """Whether a class is like the table depends on what else is suppressed."""
    levels = [["y1", "y0"], ["y2", "y0"], ["y4", "y3"], ["y5", "y3"], ["y7", "y6"], ["y8", "y6"]]
    columns = {
        "q0": {"role": "quasi", "hierarchy": {"levels": [["x1", "x0", "*"], ["x2", "x0", "*"],
                                                         ["x3", "*"]]}},
        "q1": {"role": "quasi", "hierarchy": {"levels": [[*one, "*"] for one in levels]}},
        "s": {"role": "sensitive"},
    }  # fmt: skip
    table = pa.table(
        {
            "q0": "x3 x3 x3 x1 x1 x2 x3 x3".split(),
            "q1": "y8 y1 y5 y7 y5 y2 y4 y1".split(),
            "s": list("ccbacbcc"),
        }
    )
    models = [{"name": "k-anonymity", "k": 2}]
    plan = Plan(columns=columns, models=models, loss="ncp",
                algorithm={"name": "full-domain", "suppression": 0.5})  # fmt: skip
    assert not any("other choices" in note for note in anonymize(table, plan).notes)
    delta = {"name": "delta-disclosure", "column": "s", "delta": 0.7}
    notes = anonymize(table, plan.changed(models=[*plan.models, delta])).notes
    given = "given that at each combination the classes that violate delta-disclosure[s] are"
    assert any(note.startswith(f"full-domain: {given} suppressed") for note in notes)
