"""The lower bound with models about sensitive values: never above the best of all partitions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal import Plan
from shoal.base.progress import silent
from shoal.kernels.search.model_cells import Needs, Scratch, lowest_with_values
from shoal.losses._integer_costs import exact_costs
from shoal.losses.nllm import NLLM
from shoal.measures.bounds.lower_bound import lower_bound, scoped
from shoal.measures.bounds.model_bound import _Units, covered_by_bound
from shoal.models.alpha_k_anonymity import AlphaKAnonymity
from shoal.models.distinct_l_diversity import DistinctLDiversity
from shoal.models.entropy_l_diversity import EntropyLDiversity
from shoal.models.frequency_l_diversity import FrequencyLDiversity
from shoal.models.k_anonymity import KAnonymity
from shoal.models.p_sensitivity import PSensitivity
from shoal.models.t_closeness import TCloseness
from shoal.table.sensitive import Sensitive
from tests.naive.peel import cells, covers
from tests.naive.proofs import Meter, partitions
from tests.random_tables import random_loss, random_table, weighted

NAMES = ["nllm", "lm", "ncp"]


def random_case(seed, most_rows=7):
    """A small table with a sensitive column s, a model about it, and k."""
    rng = np.random.default_rng(seed)
    table = replace(random_table(rng, most_rows=most_rows, least_rows=4), people=None)
    values = int(rng.integers(2, 5))
    share = rng.dirichlet(np.full(values, rng.choice([0.5, 2.0])))
    codes = rng.choice(values, table.rows, p=share).astype(np.int32)
    _, codes = np.unique(codes, return_inverse=True)
    column = Sensitive("s", codes.astype(np.int32), tuple("abcd"[: codes.max() + 1]))
    model = [
        lambda: DistinctLDiversity(column="s", l=int(rng.integers(2, 4))),
        lambda: PSensitivity(column="s", p=2),
        lambda: FrequencyLDiversity(column="s", l=float(rng.choice([1.3, 1.5, 2.0, 2.5, 3.0]))),
        lambda: AlphaKAnonymity(column="s", alpha=float(rng.choice([0.4, 0.5, 0.7])), k=2),
        lambda: TCloseness(column="s", t=float(rng.choice([0.0, 0.1, 0.2, 0.3, 0.5]))),
        lambda: TCloseness(column="s", t=float(rng.choice([0.1, 0.5])), distance="l1"),
    ][int(rng.integers(6))]()
    loss, weights = random_loss(str(rng.choice(NAMES)), table, rng)
    table = replace(table, sensitive=(column,))
    return table, model, int(rng.integers(1, 4)), loss, Meter(table, loss.name, weights)


def satisfies(model, members, shown, values):
    """Whether a class satisfies a model, by its definition; `shown`: all published records."""
    count = {v: sum(values[i] == v for i in members) for v in {values[i] for i in members}}
    top = Fraction(max(count.values()), len(members))
    match model:
        case DistinctLDiversity():
            return len(count) >= model.l
        case PSensitivity():
            return len(count) >= model.p
        case FrequencyLDiversity():
            return top * Fraction(model.l) <= 1 + Fraction(1, 10**9)
        case AlphaKAnonymity():
            return len(members) >= model.k and top <= Fraction(model.alpha) + Fraction(1, 10**9)
    work = Fraction(0)
    for v in {values[i] for i in shown}:
        whole = Fraction(sum(values[i] == v for i in shown), len(shown))
        work += abs(Fraction(count.get(v, 0), len(members)) - whole)
    if model.distance == "equal":
        work /= 2
    return work <= Fraction(model.t) + Fraction(1, 10**9)


def least_loss(table, models, k, meter):
    """The least alteration of any release: each partition of each set of published records."""
    values = table.sensitive[0].codes.tolist()
    columns, rows = range(len(table.trees)), range(table.rows)
    known = {}

    def lost(members):
        if members not in known:
            known[members] = sum(
                min(
                    sum(meter.record(i, j, node) for i in members)
                    for node in range(tree.size)
                    if all(tree.covers(node, meter.rows[i][j]) for i in members)
                )
                for j, tree in enumerate(table.trees)
            )
        return known[members]

    alone = [sum(meter.record(i, j, 0) for j in columns) for i in rows]
    best = sum(alone)  # all suppressed
    for many in range(1, table.rows + 1):
        for shown in combinations(rows, many):
            gone = sum(alone[i] for i in rows if i not in shown)
            fine = {}
            for parting in partitions(list(shown)):
                for members in parting:
                    if members not in fine:
                        enough = len(members) >= k
                        fine[members] = enough and all(
                            satisfies(model, members, shown, values) for model in models
                        )
                if all(fine[members] for members in parting):
                    best = min(best, gone + sum(map(lost, parting)))
    return best


def bound_holds(seed, most_rows=6):
    """Compare with all releases; returns whether the model raises the bound of its class size."""
    table, model, k, loss, meter = random_case(seed, most_rows)
    k = max(k, model.min_people)
    found = lower_bound(table, k, loss, models=[model])
    if found.percent is None:
        assert table.person_count < k
        return False
    assert found.percent <= least_loss(table, [model], k, meter) + 1e-9, (seed, model)
    return found.percent > lower_bound(table, k, loss).percent + 1e-6


def test_no_release_that_satisfies_a_model_loses_less():
    assert sum(map(bound_holds, range(80))) >= 20


@pytest.mark.parametrize(
    "model",
    [
        {"name": "frequency-l-diversity", "column": "s", "l": 2},
        {"name": "alpha-k-anonymity", "column": "s", "alpha": 0.5, "k": 2},
        {"name": "t-closeness", "column": "s", "t": 0.4},
    ],
)
def test_costs_that_are_no_fractions_do_not_overflow(model):
    people = pd.DataFrame({"town": list("baabbabbaaaa"), "s": list("wvuxvwvuwvvw")})
    columns = {"town": "quasi", "s": "sensitive"}
    plan = Plan(columns=columns, models=[{"name": "k-anonymity", "k": 3}, model], loss="entropy")
    release = shoal.anonymize(people, plan)
    assert release.losses["entropy"] == 0  # both towns satisfy the model
    assert release.bound.percent == 0
    assert release.bound.beyond_size


@pytest.mark.slow
def test_no_release_of_thousands_of_tables_loses_less():
    assert sum(bound_holds(seed, 7) for seed in range(1000, 4000)) >= 800


def test_several_models_at_once_with_columns_of_different_importance():
    """With normal and with high effort; the models make it higher than the class size alone."""
    raised = 0
    for seed in range(5000, 5030):
        rng = np.random.default_rng(seed)
        table, one, k, _, _ = random_case(seed, 6)
        other = random_case(seed + 500, 6)[1]
        table, k = weighted(table, rng), max(k, one.min_people, other.min_people)
        if table.rows < k:
            continue
        loss, weights = random_loss(str(rng.choice(NAMES)), table, rng)
        least = least_loss(table, [one, other], k, Meter(table, loss.name, weights))
        for effort in ("normal", "high"):
            found = lower_bound(table, k, loss, effort=effort, models=[one, other]).percent
            assert found <= least + 1e-9, (seed, effort, one, other)
        raised += found > lower_bound(table, k, loss, effort="high").percent + 1e-6
    assert raised >= 8


def test_equal_records_that_are_counted_together():
    """The same bound as for the records one by one."""
    together = 0
    for seed in range(7000, 7030):
        table, model, k, loss, _ = random_case(seed, 12)
        column, k = table.sensitive[0], max(k, model.min_people)
        both = np.column_stack([table.codes, column.codes])
        first, many = np.unique(both, axis=0, return_index=True, return_counts=True)[1:]
        counted = replace(
            table,
            codes=table.codes[first],
            sensitive=(replace(column, codes=column.codes[first]),),
            weight=many.astype(np.int64),
        )
        one, other = (lower_bound(t, k, loss, models=[model]) for t in (table, counted))
        assert one == other
        together += int(many.max() > 1)
    assert together >= 10


def by_all_cells(table, model, k, costs):
    """What each record keeps at most, alone: every cell, every group of records in it."""
    rows = [tuple(int(v) for v in row) for row in table.codes]
    values = table.sensitive[0].codes.tolist()
    kept = [0] * len(rows)
    for cell in {cell for row in rows for cell in cells(row, table.trees)}:
        inside = [i for i, row in enumerate(rows) if covers(table.trees, cell, row)]
        groups = (g for n in range(k, len(inside) + 1) for g in combinations(inside, n))
        if any(satisfies(model, group, range(len(rows)), values) for group in groups):
            keeps = sum(int(c[v]) for c, v in zip(costs, cell, strict=True))
            for i in inside:
                kept[i] = max(kept[i], keeps)
    return sum(sum(int(c[v]) for c, v in zip(costs, row, strict=True)) for row in rows) - sum(kept)


def test_each_record_alone_equals_all_groups_of_all_cells():
    """Exactly for distinct values; fractions of records may find less."""
    equal = {True: 0, False: 0}
    for seed in range(9000, 9200):
        table, model, k, loss, _ = random_case(seed, 7)
        costs = exact_costs(loss, table.domains, table.rows)
        k = max(k, model.min_people)
        needs = model.class_needs(np.bincount(table.sensitive[0].codes) / table.rows)
        least = max(k, needs.least_records)
        units = _Units.of(table, costs, table.sensitive[0].codes)
        search = units.search(needs, k, silent)
        known, _ = search.alone(10**9)
        found, slow = int((known * units.size).sum()), by_all_cells(table, model, least, costs)
        assert found <= slow
        if needs.distinct:
            assert found == slow
        equal[bool(needs.distinct)] += found == slow
    assert equal[False] >= 80


def test_the_cheapest_group_equals_all_groups():
    """Caps that are too high fall just as far as the cheapest group with enough values allows."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        n, k, l = int(rng.integers(3, 9)), int(rng.integers(1, 5)), int(rng.integers(2, 4))  # noqa: E741
        cap, size = rng.integers(0, 12, n), rng.integers(1, 3, n)
        value = rng.integers(0, 4, n)
        rows = [(int(cap[x]), int(value[x])) for x in range(n) for _ in range(size[x])]
        groups = [
            group
            for many in range(k, len(rows) + 1)
            for group in combinations(rows, many)
            if len({v for _, v in group}) >= l
        ]
        if not groups:
            continue
        best = min(Fraction(sum(c for c, _ in group), len(group)) for group in groups)
        needs = Needs(value, l, 1, np.full(4, k), 0)
        scratch = Scratch(
            np.empty(n, np.int64), np.zeros(4, np.int64), np.empty((k + 1, 2), np.int64),
            np.zeros(3, np.int64),
        )  # fmt: skip
        total, many = lowest_with_values(np.arange(n), 0, n, cap, size, k, needs, scratch)
        assert Fraction(int(total), int(many)) == best
        assert not scratch.used.any()


def test_a_model_that_raises_the_bound_is_named_if_the_search_was_stopped():
    """Otherwise it would pass for a bound on releases that need not satisfy the model."""
    stopped = 0
    for seed in range(16):
        table, model, k, loss, _ = random_case(seed, 6)
        k = max(k, model.min_people)
        size_alone = lower_bound(table, k, loss)
        for most in (80, 160, 320):
            found = lower_bound(table, k, loss, most, models=[model])
            if found.percent is None or found.percent <= size_alone.percent + 1e-9:
                continue
            assert found.beyond_size == (model.key,), (seed, most)
            stopped += bool(found.reason)
    assert stopped >= 5


def test_it_says_what_it_accounts_for():
    people = pd.DataFrame({"age": [*range(20, 50)], "ill": list("aaabbcabcb") * 3})
    columns = {"age": {"role": "quasi", "hierarchy": {"ranges": [5, 20]}}, "ill": "sensitive"}
    models = [
        {"name": "k-anonymity", "k": 2},
        {"name": "distinct-l-diversity", "column": "ill", "l": 3},
        {"name": "t-closeness", "column": "ill", "t": 0.2},
    ]
    plan = Plan(columns=columns, models=models, algorithm="peel", seed=1)
    release = shoal.anonymize(people, plan)
    bound = release.bound
    assert bound.covers == ("k-anonymity", "distinct-l-diversity[ill]")
    assert bound.covers_partly == ("t-closeness[ill]",)
    assert not bound.does_not_cover
    assert bound.scope == (
        "for k-anonymity, distinct-l-diversity[ill] (classes of at least 2 people) and "
        "t-closeness[ill] (in part)"
    )
    alone = shoal.anonymize(people, plan.changed(models=models[:1])).bound
    assert alone.percent < bound.percent <= release.losses["nllm"] + 1e-9
    assert release.as_dict()["bound"]["beyond_size"] == [*bound.beyond_size]
    compared = shoal.compare(people, plan, k=[2, 4], algorithms=["peel"], apart=False)
    assert compared.bounds[2] == bound
    assert compared.bound_label(2) == (
        "proven lower bound (k-anonymity, distinct-l-diversity[ill], t-closeness[ill] (in part))"
    )


def test_without_a_class_size():
    """A model about values needs no k-anonymity for a bound."""
    people = pd.DataFrame({"age": [*range(20, 50)], "ill": list("aaabbcabcb") * 3})
    columns = {"age": {"role": "quasi", "hierarchy": {"ranges": [5, 20]}}, "ill": "sensitive"}
    models = [{"name": "distinct-l-diversity", "column": "ill", "l": 2}]
    plan = Plan(columns=columns, models=models, algorithm="peel", seed=1)
    release = shoal.anonymize(people, plan)
    assert 0 < release.bound.percent <= release.losses["nllm"] + 1e-9
    assert release.bound.scope == "for distinct-l-diversity[ill]"
    assert release.bound.releases == "with distinct-l-diversity[ill]"


def test_what_it_does_not_account_for():
    """A person column, at_most, other distances and models: the bound is for the class size."""
    table, *_ = random_case(1)
    close = TCloseness(column="s", t=0.1, distance="ordered")
    distinct = DistinctLDiversity(column="s", l=2)
    assert covered_by_bound(table, distinct)
    assert not covered_by_bound(replace(table, people=np.arange(table.rows)), distinct)
    models = [KAnonymity(k=2), close, EntropyLDiversity(column="s", l=1.2)]
    assert not any(covered_by_bound(table, model) for model in models)
    found = scoped(lower_bound(table, 2, NLLM(), models=models), models)
    assert found.does_not_cover == ("t-closeness[s]", "entropy-l-diversity[s]")
    assert found.percent == lower_bound(table, 2, NLLM()).percent
