"""The lower bound: never above the best of all partitions."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from math import comb

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import shoal
from shoal import Plan, catalog
from shoal.cli.release_tables import show_release
from shoal.cli.screens.comparison_table import show_comparison
from shoal.hierarchies.base import Hierarchy
from shoal.losses import alteration
from shoal.losses._integer_costs import exact_costs
from shoal.losses.ncp import NCP
from shoal.losses.nllm import NLLM
from shoal.measures.bounds.lower_bound import (
    GAIN,
    IN_PROPORTION,
    Bound,
    lower_bound,
    scoped,
)
from shoal.models import min_class_size
from shoal.models.eir_l_diversity import EIRLDiversity
from shoal.models.k_anonymity import KAnonymity
from shoal.models.k_concealment import KConcealment
from shoal.models.t_closeness import TCloseness
from shoal.table.encode import Table
from tests.cli.test_console import printed
from tests.naive.clusters import publish
from tests.naive.peel import cells, covers
from tests.naive.proofs import partitions, within
from tests.random_tables import limited, random_table
from tests.strategies import examples, tables

LOSSES = sorted(set(catalog.losses) - {"weights", "entropy"})


def percent(table, loss, published):
    codes = np.array(published, np.int32)
    after = [np.bincount(codes[:, j], minlength=t.size) for j, t in enumerate(table.trees)]
    return alteration(loss.costs(table.domains), [d.counts for d in table.domains], after)


@settings(max_examples=examples(120), deadline=None)
@given(
    table=tables(most_rows=6, most_columns=3, persons=True),
    k=st.integers(2, 3),
    loss=st.sampled_from(LOSSES),
)
def test_never_above_the_optimum(table, k, loss):
    """Whoever is in a class of fewer than k people is suppressed: published as the roots."""
    guide = catalog.losses[loss]()
    bound = lower_bound(table, k, guide)
    if table.person_count < k:
        assert bound.percent is None
        assert "fewer than k" in bound.reason
        return
    people = table.people if table.people is not None else range(table.rows)
    found = []
    for parting in partitions(list(range(table.rows))):
        published = publish(table.codes, table.trees, parting)
        for members in parting:
            if len({people[i] for i in members}) < k:
                for i in members:
                    published[i] = (0,) * len(table.trees)
        found.append(percent(table, guide, published))
    assert bound.percent <= min(found) + 1e-9
    assert not bound.reason


@settings(max_examples=examples(100))
@given(
    table=tables(most_rows=10, most_columns=3, persons=True),
    k=st.integers(2, 4),
    loss=st.sampled_from(LOSSES),
    most=st.sampled_from([20, 100, 10**9]),
)
def test_equals_a_search_of_all_cells(table, k, loss, most):
    if table.person_count < k:
        return
    guide = catalog.losses[loss]()
    costs = exact_costs(guide, table.domains, table.rows)
    rows = [tuple(int(v) for v in row) for row in table.codes]
    people = table.people if table.people is not None else range(table.rows)
    alone, together, possible = by_all_cells(rows, people, table.trees, costs, k)
    assert together >= alone
    bound = lower_bound(table, k, guide, most)
    if bound.reason:
        assert most < 10**9
        assert bound.percent is None or bound.percent <= float(100 * alone / possible) + 1e-9
    elif most == 10**9:
        assert bound.percent == pytest.approx(float(100 * together / possible), abs=1e-9)
    else:
        assert bound.percent >= float(100 * alone / possible) - 1e-9


def by_all_cells(rows, people, trees, costs, k):
    """What the records lose at least, each alone and all together, and what they can lose."""
    kept, owned = {}, [sum(int(c[v]) for c, v in zip(costs, row, strict=True)) for row in rows]
    for cell in {cell for row in rows for cell in cells(row, trees)}:
        covered = [i for i, row in enumerate(rows) if covers(trees, cell, row)]
        if len({(rows[i], people[i]) for i in covered}) >= k:  # each tuple has people of its own
            kept[tuple(covered)] = max(
                sum(int(c[v]) for c, v in zip(costs, cell, strict=True)),
                kept.get(tuple(covered), 0),
            )
    caps = [Fraction(max(keeps for c, keeps in kept.items() if i in c)) for i in range(len(rows))]
    possible = sum(owned) or 1
    alone = lost = sum(owned) - sum(caps)
    while True:
        falls = list(caps)
        for covered, keeps in kept.items():
            room = sum(sorted(caps[i] for i in covered)[:k]) / k - keeps
            for i in covered:
                falls[i] = min(falls[i], room)
        caps = [cap - fall for cap, fall in zip(caps, falls, strict=True)]
        lost += sum(falls)
        if sum(falls) <= Fraction(GAIN) * lost:
            return alone, lost, possible


def table_of(values, tree):
    codes = np.array([[tree.node(v)] for v in values], np.int32)
    return Table(("q",), (tree,), codes, None, (True,))


def test_a_record_apart_pays_for_its_company():
    """A costs a third. Alone b pays it, which is 1/15 of all; but an a has to join it."""
    tree = Hierarchy.from_tree({"*": {"A": ["a", "b"], "B": ["c", "d"]}}).tree()
    table = table_of("aaaab", tree)
    best = min(
        percent(table, NLLM(), publish(table.codes, table.trees, parting))
        for parting in partitions(list(range(5)))
        if min(map(len, parting)) >= 2
    )
    assert best == pytest.approx(200 / 15)
    assert 200 / 15 - 0.2 < lower_bound(table, 2, NLLM()).percent < 200 / 15  # as far as it pays


def test_a_suppressed_record_loses_no_more_than_all():
    table = table_of("aaab", Hierarchy.flat().tree("ab"))
    assert lower_bound(table, 2, NLLM()).percent == pytest.approx(25.0)
    assert lower_bound(table, 2, NCP()).percent == pytest.approx(25.0)


@pytest.mark.parametrize("depth", [100, 127, 128, 129, 200, 300])
def test_deep_trees(depth):
    """Codes that are already shortened stand anywhere on their way to the root."""
    rng = np.random.default_rng(depth)
    codes = ["".join(rng.choice(list("ab"), depth, p=[0.99, 0.01])) for _ in range(40)]
    tree = Hierarchy.prefixes(length=0).tree(codes)
    leaves = [tree.node(code) for code in codes]
    inner = rng.integers(0, tree.size, 20)
    table = Table(("q",), (tree,), np.array([*leaves, *inner], np.int32)[:, None], None, (True,))
    lost = []
    for name in ("peel", "agglomerative", "sequential"):
        algorithm = catalog.algorithms[name]()
        codes = algorithm.recode(table, [KAnonymity(k=3)], NLLM(), rng).codes()
        lost.append(percent(table, NLLM(), codes))
    assert lower_bound(table, 3, NLLM()).percent <= min(lost) + 1e-9
    assert lost[0] < 1.02 * min(lost)


def test_a_loss_that_falls_is_skipped():
    tree = Hierarchy.from_tree({"*": {"A": ["x", "y"], "z": None}}).tree()
    codes = np.array([[tree.node(v)] for v in "xyzzzzzzzz"], np.int32)
    table = Table(("q",), (tree,), codes, None, (True,))
    bound = lower_bound(table, 2, catalog.losses["entropy"]())
    assert bound.percent is None
    assert "can cost less" in bound.reason


def test_free_values_have_no_bound():
    """Their cells are not those of a tree: a set of two values loses less than the root."""
    tree = Hierarchy.free_sets().tree(["a", "b", "c"])
    table = Table(("x",), (tree,), np.array([[1], [2], [3]], np.int32), None, (True,))
    found = lower_bound(table, 2, NCP())
    assert found.percent is None
    assert "'x' may be published as free" in found.reason


def test_class_sizes_that_models_require():
    many = [KAnonymity(k=3), EIRLDiversity(column="disease", l=4), TCloseness(column="pay", t=0.2)]
    assert min_class_size(many) == 4
    assert min_class_size([TCloseness(column="pay", t=0.2)]) == 1
    assert min_class_size([KConcealment(k=7)]) == 1  # no classes


@pytest.mark.parametrize("algorithm", ["peel", {"name": "full-domain", "suppression": 0.3}])
@pytest.mark.parametrize("missing", ["value", "root"])
def test_no_release_is_below_it(algorithm, missing):
    """Also with rows that are left out, and values that are missing."""
    rng = np.random.default_rng(3)
    people = pd.DataFrame({"age": rng.integers(20, 60, 60), "sex": rng.choice(["f", "m"], 60)})
    people.loc[::9, "sex"] = None
    columns = {
        "age": {"role": "quasi", "hierarchy": {"ranges": [5, 20]}},
        "sex": "quasi",
    }
    models = [{"name": "k-anonymity", "k": 4}]
    plan = Plan(columns=columns, models=models, algorithm=algorithm, missing=missing, seed=1)
    release = shoal.anonymize(people, plan)
    assert 0 < release.bound.percent <= release.losses["nllm"]
    assert release.as_dict()["bound"]["percent"] == release.bound.percent


@pytest.mark.parametrize("k", [2, 3])
def test_within_at_most_high_effort_solves_the_linear_program(k):
    """Of all groups of k records that may be published together; who is in none loses all."""
    strict = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        table = replace(random_table(rng, most_rows=8, least_rows=5), people=None, weight=None)
        table = limited(table, rng)
        costs = exact_costs(NLLM(), table.domains, table.rows)
        own = sum(int(c[table.codes[:, j]].sum()) for j, c in enumerate(costs))
        if not own or not table.tops:
            continue
        kept = []
        groups = list(combinations(range(table.rows), k))
        for group in groups:
            wide = publish(table.codes[list(group)], table.trees, [list(range(k))])[0]
            worth = sum(int(c[v]) for c, v in zip(costs, wide, strict=True))
            kept.append(k * worth if within(table, wide) else 0)
        inside = np.zeros((table.rows, len(groups)))
        for column, group in enumerate(groups):
            inside[list(group), column] = 1.0
        most = -linprog(-np.array(kept, float), A_ub=inside, b_ub=np.ones(table.rows)).fun
        found = lower_bound(table, k, NLLM(), effort="high").percent
        assert found == pytest.approx(100 * (1 - most / own), abs=1e-3)
        strict += lower_bound(table, k, NLLM()).percent < found - 1e-3
    assert strict > 0


@settings(max_examples=examples(25), deadline=None)
@given(table=tables(most_rows=5, most_columns=2), k=st.integers(2, 3))
def test_no_records_without_classes_lose_less(table, k):
    """Whatever is published below the bound, somebody's record needs a higher probability."""
    n, guide = table.rows, NLLM()
    bound = lower_bound(table, k, guide).percent
    if n < k or not bound:
        return
    rows = [tuple(map(int, row)) for row in table.codes]
    every = sorted({cell for row in rows for cell in cells(row, table.trees)})
    if comb(len(every) + n - 1, n) > MOST_TABLES:
        return
    fit = {cell: [covers(table.trees, cell, row) for row in rows] for cell in every}
    for published in combinations_with_replacement(every, n):
        fits = np.array([fit[cell] for cell in published]).T
        # With fewer than k records for a person, or people for a record, one needs more than 1 / k.
        if min(fits.sum(axis=0).min(), fits.sum(axis=1).min()) < k:
            continue
        if percent(table, guide, published) < bound - 1e-9:
            assert not is_possible(fits, 1 / k)


def is_possible(fits, most):
    """Whether no pair of a person and a record needs a probability above `most`."""
    n = len(fits)
    each = np.zeros((2 * n, n * n))
    for i, j in product(range(n), repeat=2):
        each[[i, n + j], i * n + j] = 1.0
    limits = [(0, most if fit else 0) for fit in fits.ravel()]
    found = linprog(np.zeros(n * n), A_eq=each, b_eq=np.ones(2 * n), bounds=limits)
    return found.status == 0


@pytest.mark.parametrize(
    ("model", "algorithm"),
    [
        ({"name": "k-belief", "k": 4}, "freeform"),
        ({"name": "max-belief", "rho": 0.26}, "freeform"),
        ({"name": "matching-belief", "belief": 0.25}, "concealment"),
    ],
)
def test_models_about_beliefs_have_the_bound_of_their_k(model, algorithm):
    people = pd.DataFrame({"age": range(20, 40), "sex": list("fm") * 10})
    columns = {"age": {"role": "quasi", "hierarchy": {"ranges": [5, 10]}}, "sex": "quasi"}
    plan = Plan(columns=columns, models=[model], algorithm=algorithm, seed=1)
    release = shoal.anonymize(people, plan)
    classes = plan.changed(models=[{"name": "k-anonymity", "k": 4}], algorithm="peel")
    assert release.bound.percent == shoal.anonymize(people, classes).bound.percent
    assert 0 < release.bound.percent <= release.losses["nllm"] + 1e-9
    assert release.bound.covers == (model["name"],)
    assert release.bound.without_classes
    assert release.bound.scope == f"for {model['name']} (k = 4)"
    if "k" in model:
        compared = shoal.compare(people, plan, k=[4], algorithms=[algorithm])
        assert compared.lower_bounds == {4: pytest.approx(release.bound.percent)}


def test_models_without_classes_have_no_bound():
    people = pd.DataFrame({"age": range(20, 32), "sex": list("fm") * 6})
    columns = {"age": {"role": "quasi", "hierarchy": {"ranges": [5, 10]}}, "sex": "quasi"}
    models = [{"name": "k-concealment", "k": 3}]
    plan = Plan(columns=columns, models=models, algorithm="concealment", seed=1)
    bound = shoal.anonymize(people, plan).bound
    assert bound.percent is None
    assert "k-concealment needs no classes" in bound.reason


EIR = EIRLDiversity(column="disease", l=4)
CLOSE = TCloseness(column="pay", t=0.2)
MOST_TABLES = 20_000  # that may be published, of which all are tried


@pytest.mark.parametrize(
    ("models", "k", "scope"),
    [
        ([KAnonymity(k=5)], 5, "for k-anonymity (k = 5)"),
        (
            [KAnonymity(k=5), CLOSE],
            5,
            "for k-anonymity (k = 5) alone; it does not account for t-closeness[pay]",
        ),
        (
            [EIR],
            4,
            "for the class size that eir-l-diversity[disease] requires (at least 4 people) alone; "
            "it does not account for the rest of eir-l-diversity[disease]",
        ),
        (
            [KAnonymity(k=3), CLOSE, EIR],
            4,
            "for the class size that k-anonymity and eir-l-diversity[disease] require (at least "
            "4 people) alone; it does not account for t-closeness[pay] and the rest of "
            "eir-l-diversity[disease]",
        ),
    ],
)
def test_issue_12_item_6_a_bound_says_which_requirements_it_covers(models, k, scope):
    found = scoped(Bound(0.9, k=min_class_size(models)), models)
    assert found.k == k
    assert found.scope == scope
    assert found.complete == ("alone" not in scope)


def test_issue_12_item_6_the_scope_stands_wherever_the_bound_does(tmp_path):
    """Screen, report, JSON, and the table, CSV, notes and plot of a comparison."""
    rng = np.random.default_rng(5)
    people = pd.DataFrame(
        {"age": rng.integers(20, 60, 80), "pay": rng.choice(["low", "mid", "high"], 80)}
    )
    columns = {"age": {"role": "quasi", "hierarchy": {"ranges": [5, 20]}}, "pay": "sensitive"}
    models = [
        {"name": "k-anonymity", "k": 4},
        {"name": "entropy-l-diversity", "column": "pay", "l": 1.5},
    ]
    plan = Plan(columns=columns, models=models, algorithm="mondrian", seed=1)
    release = shoal.anonymize(people, plan)
    scope = "for k-anonymity (k = 4) alone; it does not account for entropy-l-diversity[pay]"
    told = release.as_dict()["bound"]
    assert told["value"] == told["percent"] == release.bound.percent
    assert told["covers"] == ["k-anonymity"]
    assert told["does_not_cover"] == ["entropy-l-diversity[pay]"]
    assert told["scope"] == scope
    out = " ".join(printed(show_release, release, width=150).split())
    assert f"lower bound on the loss {scope}" in out
    release.report(tmp_path / "r.html")
    assert f"It is a lower bound on the loss {scope}." in (tmp_path / "r.html").read_text()
    found = shoal.compare(people, plan, algorithms=["mondrian"], apart=False)
    assert found.as_dict()["bound"]["4"] == {**told, **found.bounds[4].as_dict()}
    assert found.table()[0]["bound_scope"] == scope
    assert scope in found.csv()
    label = "proven lower bound (k-anonymity alone)"
    out = " ".join(printed(show_comparison, found, width=150).split())
    assert "proven lower bound" in out
    assert "(k-anonymity alone)" in out
    assert f"the proven lower bound of k = 4 is {scope}" in out
    several = shoal.compare(people, plan, k=[2, 4], algorithms=["mondrian"], apart=False)
    about = "k-anonymity alone; it does not account for entropy-l-diversity[pay]"
    assert f"the proven lower bound of k = 2 and 4 is for {about}" in several.notes
    found.plot(tmp_path / "c.svg")
    drawn = (tmp_path / "c.svg").read_text()
    assert label in drawn
    assert "it does not account for entropy-l-diversity[pay]" in drawn


def test_issue_12_item_6_a_larger_table_is_given_more_looks(monkeypatch):
    """Looks are counted, not timed: with few of them a bound is lower, in proportion it is not."""
    rng = np.random.default_rng(0)
    tree = Hierarchy.ranges([2, 10, 20]).tree(range(100))
    codes = np.stack([[tree.node(str(v)) for v in rng.integers(0, 100, 400)] for _ in "ab"], axis=1)
    table = Table(("a", "b"), (tree, tree), codes.astype(np.int32), None, (True, True))
    monkeypatch.setattr("shoal.measures.bounds.lower_bound.LEAST", 20_000)
    monkeypatch.setattr("shoal.measures.bounds.lower_bound.EACH", 0)
    few = lower_bound(table, 5, NLLM(), IN_PROPORTION).percent
    monkeypatch.setattr("shoal.measures.bounds.lower_bound.EACH", 4_000)
    enough = lower_bound(table, 5, NLLM(), IN_PROPORTION).percent
    assert few < enough == lower_bound(table, 5, NLLM()).percent


def test_high_effort_without_a_solver_says_so(monkeypatch):
    tree = Hierarchy.from_tree({"*": {"A": ["a", "b"], "B": ["c", "d"]}}).tree()
    table = table_of("aaaabccd", tree)
    exact = lower_bound(table, 2, NLLM(), effort="high")
    assert exact.reason == ""
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    found = lower_bound(table, 2, NLLM(), effort="high")
    assert "HiGHS of scipy cannot be loaded" in found.reason
    assert lower_bound(table, 2, NLLM()).percent <= found.percent <= exact.percent + 1e-9
    assert lower_bound(table, 2, NLLM()).reason == ""


def test_a_model_that_is_covered_is_not_named_as_a_class_size():
    covered = ("k-anonymity", "p-sensitivity[pay]")
    part = ("household-k-anonymity",)
    bound = Bound(0.9, k=5, covers=covered, covers_partly=part, beyond_size=covered[1:])
    assert bound.scope == (
        "for the class size that k-anonymity and household-k-anonymity require (at least 5 people) "
        "and p-sensitivity[pay] alone; it does not account for the rest of household-k-anonymity"
    )
