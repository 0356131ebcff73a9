"""Releases that protect sensitive values: any set of models in one run."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import BadPlan, CannotReach, Hierarchy, Plan
from shoal.algorithms.gaa import GAA
from shoal.datasets import adult
from shoal.datasets.adult import hierarchies
from shoal.losses._integer_costs import exact_costs
from shoal.losses.ncp import NCP
from shoal.models.distinct_l_diversity import DistinctLDiversity
from shoal.models.k_anonymity import KAnonymity
from tests.algorithms.test_gaa import with_secret
from tests.naive.gaa import gaa
from tests.strategies import examples, tables

RNG = np.random.default_rng(0)


@settings(max_examples=examples(80))
@given(table=tables(persons=True), data=st.data(), k=st.integers(2, 4), least=st.integers(2, 3))
@pytest.mark.parametrize("candidates", ["all", "small"])
def test_the_merge_stops_where_the_models_hold(candidates, table, data, k, least):
    """The smallest failing class first, whatever it fails: as the plain scan does it."""
    secret = data.draw(st.lists(st.integers(0, 2), min_size=table.rows, max_size=table.rows))
    table = with_secret(table, secret)
    models = [KAnonymity(k=k), DistinctLDiversity(column="s", l=least)]
    algorithm = GAA(candidates=candidates)
    if table.person_count < k or len(set(secret)) < least:
        with pytest.raises(CannotReach):
            algorithm.recode(table, models, NCP(), RNG)
        return
    expected = gaa(
        table.codes, table.trees, exact_costs(NCP(), table.domains, table.rows), k,
        candidates=candidates, people=table.people,
        passes=lambda members: len({secret[i] for i in members}) >= least,
    )  # fmt: skip
    got = algorithm.recode(table, models, NCP(), RNG).codes()
    assert [tuple(row) for row in got.tolist()] == expected


def adult_plan(models, **change):
    columns = {
        name: {"role": "quasi", "hierarchy": Hierarchy.from_tree(tree)}
        for name, tree in hierarchies().items()
    }
    return Plan(columns={**columns, "occupation": "sensitive"}, models=models, **change)


def test_adult_with_three_requirements(tmp_path):
    """Judged on the published file by lines that share nothing with the package."""
    table = adult().select(list(hierarchies())).to_pandas()
    models = [
        {"name": "k-anonymity", "k": 5},
        {"name": "entropy-l-diversity", "column": "occupation", "l": 3},
        {"name": "t-closeness", "column": "occupation", "t": 0.3, "distance": "equal"},
    ]
    release = shoal.anonymize(table, adult_plan(models))
    quasi = [name for name in hierarchies() if name != "occupation"]
    release.save(tmp_path / "release.csv")
    published = pd.read_csv(tmp_path / "release.csv", dtype=str, keep_default_na=False)
    counts = published.groupby(quasi)["occupation"].value_counts()
    counts = counts.unstack(fill_value=0)
    shares = counts.div(counts.sum(axis=1), axis=0)
    overall = table["occupation"].value_counts(normalize=True)[shares.columns]
    diversity = np.exp(-(shares * np.log(shares.where(shares > 0, 1))).sum(axis=1)).min()
    distance = (shares - overall).abs().sum(axis=1).max() / 2
    assert counts.sum(axis=1).min() == release.checks[0].reached >= 5
    assert diversity == pytest.approx(release.checks[1].reached)
    assert diversity >= 3
    assert distance == pytest.approx(release.checks[2].reached)
    assert distance <= 0.3


def test_diversity_without_k():
    """The opposite approach: the merge stops at the models, and the k reached is reported."""
    table = adult().select(list(hierarchies())).slice(0, 4000)
    model = {"name": "entropy-l-diversity", "column": "occupation", "l": 3}
    release = shoal.anonymize(table, adult_plan([model]))
    assert release.checks[0].holds
    assert release.smallest_class >= 3


def test_two_columns_at_once():
    rows = 60
    table = pa.table(
        {
            "q": [i // 2 for i in range(rows)],
            "a": [i % 4 for i in range(rows)],
            "b": [(i // 3) % 5 for i in range(rows)],
        }
    )
    plan = Plan(
        columns={
            "q": {"role": "quasi", "hierarchy": {"ranges": [2, 4, 8, 16]}},
            "a": "sensitive",
            "b": "sensitive",
        },
        models=[
            {"name": "distinct-l-diversity", "column": "a", "l": 3},
            {"name": "frequency-l-diversity", "column": "b", "l": 2},
        ],
    )
    release = shoal.anonymize(table, plan)
    assert [check.column for check in release.checks] == ["a", "b"]
    assert all(check.holds for check in release.checks)


def test_bad_input():
    table = pa.table({"q": ["a", "a", "b", "b"], "s": ["x", "x", "x", "x"], "o": [1, 2, 3, 4]})
    columns = {"q": "quasi", "s": "sensitive", "o": "other"}

    def run(**model):
        return shoal.anonymize(table, Plan(columns=columns, models=[model]))

    with pytest.raises(CannotReach) as error:  # one value only
        run(name="distinct-l-diversity", column="s", l=2)
    assert error.value.best == 1
    with pytest.raises(BadPlan, match="'o', which is not a sensitive column"):
        run(name="distinct-l-diversity", column="o", l=2)
    assert run(name="t-closeness", column="s", t=0.1).checks[0].reached == 0
    with pytest.raises(BadPlan, match="one sensitive column, but the table has 0"):
        shoal.anonymize(
            table,
            Plan(
                columns={"q": "quasi", "s": "other", "o": "other"},
                models=[KAnonymity(k=2)],
                algorithm={"name": "gaa", "strategy": "S2"},
            ),
        )


def test_missing_sensitive_values_are_a_value():
    table = pa.table({"q": ["a"] * 4, "s": ["x", None, "x", None]})
    plan = Plan(
        columns={"q": "quasi", "s": "sensitive"},
        models=[{"name": "distinct-l-diversity", "column": "s", "l": 2}],
    )
    assert shoal.anonymize(table, plan).checks[0].reached == 2


def test_many_rows_of_one_person_do_not_hide_what_everybody_has():
    """Five patients have HIV, and one of them ten rows more: by rows it is one value in three."""
    rows = [(who, "HIV") for who in range(5)]
    rows += [(0, f"other {i % 2}") for i in range(10)]
    table = pa.table(
        {"who": [w for w, _ in rows], "age": ["30"] * 15, "disease": [d for _, d in rows]}
    )
    columns = {"who": "person", "age": "quasi", "disease": "sensitive"}
    model = {"name": "frequency-l-diversity", "column": "disease", "l": 3}
    audit = shoal.audit(table, Plan(columns=columns, models=[model]))
    assert audit.levels == {"frequency-l-diversity[disease]": 1.0}
    assert not audit.holds
    assert audit.attacks["homogeneity"]["disease"]["records"] == 15
